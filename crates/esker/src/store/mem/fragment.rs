//! Eight bytes that stand for a key in comparisons.
//!
//! A descent through a skip list costs what its cache misses cost, and most of them come from
//! fetching keys only to learn that they lie behind the target. So each link of the list carries,
//! beside the address of the next node, eight bytes that decide nearly all comparisons.
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

use std::cmp::Ordering;

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
    let shared = shared_len(reference, key).min(SHARED_BYTES_MAX);
    let rest = &key[shared..];
    let code = u8::try_from(shared).expect("at most 126");
    let code = match rest.cmp(&reference[shared..]) {
        Ordering::Less => code,
        Ordering::Equal => REFERENCE_CODE,
        Ordering::Greater => u8::MAX - code,
    };
    u64::from(code) << 56 | first_bytes(rest) >> 8
}

/// How many bytes at their fronts are equal.
#[inline]
fn shared_len(left: &[u8], right: &[u8]) -> usize {
    let mut shared = 0;
    let (left_words, _) = left.as_chunks::<8>();
    let (right_words, _) = right.as_chunks::<8>();
    for (left_word, right_word) in left_words.iter().zip(right_words) {
        let difference = u64::from_le_bytes(*left_word) ^ u64::from_le_bytes(*right_word);
        if difference != 0 {
            return shared + difference.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    let tails = left[shared..].iter().zip(&right[shared..]);
    shared + tails.take_while(|(left, right)| left == right).count()
}

/// The first eight bytes as a big-endian number, zeros behind the end.
#[inline]
fn first_bytes(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(word) => u64::from_be_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(word)
        }
    }
}

#[cfg(test)]
mod tests;
