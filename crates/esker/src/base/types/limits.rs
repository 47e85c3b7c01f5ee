//! Every hard limit of the engine, with its unit and its reason.

use crate::base::types::error::{Error, ErrorKind, Result};

/// Longest user key, in bytes: a key's length fits two bytes in every format.
pub const KEY_BYTES_MAX: usize = 65_535;

/// Longest user value, in bytes: 1 GiB keeps every length and every sum of a few in 32 bits.
pub const VALUE_BYTES_MAX: usize = 1 << 30;

/// Longest batch, in bytes of its encoding: one log segment must hold it, and segments address
/// their bytes with 32 bits; 2 GiB leaves room for one largest value and its company.
pub const BATCH_BYTES_MAX: usize = 1 << 31;

/// Longest id of a prepared transaction, in bytes: the ids of XA have up to 140, those of others
/// are shorter, and one byte says each length.
pub const PREPARED_ID_BYTES_MAX: usize = 256;

/// Levels of a keyspace's tree: with a growth of 8 to 10 per level, six sorted levels below
/// level 0 cover more than any single machine's disk.
pub const LEVEL_COUNT: usize = 7;

/// Longest mark of a keyspace, in bytes: indexes, terms and a clock, and the members of a group, of
/// which sixteen take 293.
pub const MARK_BYTES_MAX: usize = 512;

/// Longest name of a keyspace, in bytes: it stands in the manifest and in messages.
pub const KEYSPACE_NAME_BYTES_MAX: usize = 255;

/// Most keyspaces of one database: a manifest snapshot of that many stays under 10 MB.
pub const KEYSPACE_COUNT_MAX: usize = 65_536;

/// Most locks of keys that one owner has one by one: they take about 60 MB. Beyond that it locks
/// the keyspace, or is refused.
pub const LOCKS_PER_OWNER_MAX: usize = 1_000_000;

/// Most locks of one transaction that are listed one by one for whoever asks who holds what: more
/// than a person reads, and 40 KiB of memory with [`NOTED_KEY_BYTES_MAX`] for their keys.
pub const NOTED_LOCKS_MAX: usize = 1024;

/// Most bytes of keys that are kept for that: 64 for each lock.
pub const NOTED_KEY_BYTES_MAX: usize = 64 << 10;

/// Largest sequence number: 56 bits, so that it shares eight bytes with the entry's kind.
pub const SEQNO_MAX: u64 = (1 << 56) - 1;

/// Most events that wait for listeners: minutes of a busy database, and 4 MiB of memory.
pub const EVENTS_WAITING_MAX: usize = 16_384;

const _: () = assert!(KEY_BYTES_MAX + VALUE_BYTES_MAX < BATCH_BYTES_MAX);
const _: () = assert!(BATCH_BYTES_MAX <= u32::MAX as usize);

/// Whether that many bytes of `what` are no more than `max`. Errors: `TooLarge`.
#[inline]
pub fn check_len(what: &str, len: usize, max: usize) -> Result<()> {
    if len <= max {
        return Ok(());
    }
    let message = format!("a {what} of {len} bytes; the limit is {max}");
    Err(Error::new(ErrorKind::TooLarge, message))
}
