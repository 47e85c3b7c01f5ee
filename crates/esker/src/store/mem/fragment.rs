//! Eight bytes that stand for a key in comparisons.
//!
//! A search costs what its cache misses cost, and most of them would come from fetching keys only
//! to learn on which side of the target they lie. So each link of the list, and each way of its
//! index, carries, beside an address, eight bytes that decide nearly all comparisons.
//!
//! The first eight bytes of the key would not do: real keys share long beginnings (sixteen
//! decimal digits with leading zeros, `user…`, a tenant's name). So a fragment is taken relative
//! to a *reference*, the first key that was ever inserted: it tells how many bytes the key
//! shares with the reference, on which side of it the key lies, and the seven bytes from the
//! place where the two part.
//!
//! | bits | meaning |
//! |---|---|
//! | 56 to 63 | side and shared length, see below |
//! | 0 to 55 | the key's next seven bytes, big-endian, zeros behind its end |
//!
//! Of two keys below the reference the one that shares less is the smaller; above the reference
//! it is the larger. So the top byte is the shared length `d` for keys below, 127 for the
//! reference itself and 255 − `d` for keys above, and
//!
//! > a < b implies fragment(a) ≤ fragment(b),
//!
//! which is all that a search relies on: different fragments decide, equal ones send it to the
//! keys themselves. It holds for whatever reference; the choice only decides how often fragments
//! tie. With 1 M decimal keys of 16 digits they practically never do.

use crate::base::types::prefix::{common_len, prefix_number};

/// The shared length is counted up to here, so that it and the side fit one byte. Keys that
/// share more are told apart by what follows byte 126 only.
const SHARED_BYTES_MAX: usize = 126;

/// The top byte of the reference itself: above every key below, below every key above.
const REFERENCE_CODE: u8 = 127;

const _: () = assert!(SHARED_BYTES_MAX < REFERENCE_CODE as usize);
const _: () = assert!(255 - SHARED_BYTES_MAX > REFERENCE_CODE as usize);

/// The fragment of `key` relative to `reference`, for the bytewise order.
#[inline]
pub fn fragment(reference: &[u8], key: &[u8]) -> u64 {
    let alike = common_len(reference, key);
    let shared = alike.min(SHARED_BYTES_MAX);
    let code = u8::try_from(shared).expect("at most 126");
    // Where one of them ends no byte is left, and nothing lies below any byte.
    let code = match (key.get(alike), reference.get(alike)) {
        (None, None) => REFERENCE_CODE,
        (own, other) if own < other => code,
        _ => u8::MAX - code,
    };
    u64::from(code) << 56 | prefix_number(&key[shared..]) >> 8
}

#[cfg(test)]
mod tests;
