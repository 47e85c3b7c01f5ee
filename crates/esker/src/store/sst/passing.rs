//! What of a sorted file passes by itself: entries that only snapshots hold, and those that expire.
//!
//! For whoever decides which files to rewrite. Encoded, for the manifest and for a sorted file's
//! properties:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1–10 | varint | count of snapshots that hold something, at most 16 |
//! | 1–10 | varint | seqno of the snapshot; from the second on less the one before |
//! | 1–10 | varint | bytes that it holds |
//! | 1–10 | varint | how many of the held are deletes, those of ranges among them |
//! | 1–10 | varint | bytes of the entries that expire |
//! | 4, 4 | u32 | first and last of their expiries, rounded up; only where those bytes are not 0 |
//!
//! The second and the third are there for each snapshot. Valid if and only if the seqnos ascend, no
//! snapshot holds 0 bytes, the first expiry is not after the last, and nothing overflows 64 bits.
//!
//! An entry is *held* if a newer one of its key stands in the same file and the file's writer knew
//! a snapshot that sees the older one of the two alone; a delete, and one of a range, also if there
//! was a snapshot too old to see it. Of several snapshots the newest is named, and where there are
//! more than 16 some are counted under another. Right below a put or a delete of its key an entry
//! is held even if there was no such snapshot, and 0 is named: only a repair writes such files.
//!
//! The bytes of an entry are those of its user key, 8, those of its value as the entry has it, and
//! those of the record in the value log that it points to; of a range delete, those of both ends
//! and 8.

use crate::base::codec::fixed::put_u32;
use crate::base::codec::reader::ByteReader;
use crate::base::codec::varint::put_varint;
use crate::base::types::seqno::SeqNo;

/// Snapshots that are told apart. More of them in one file are rare, and the record of a file lies
/// in memory as long as the file is there.
pub const HOLDERS_MAX: usize = 16;

/// What of a sorted file passes by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// Snapshots, ascending, with the bytes that each holds; none with 0 bytes.
    held: Vec<(SeqNo, u64)>,
    held_delete_count: u64,
    expiring: Option<Expiring>,
}

/// The entries of a file that expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiring {
    /// Their bytes, at least 1.
    pub bytes: u64,
    /// The first of their expiries, in unix seconds, rounded up.
    pub first_s: u32,
    /// The last.
    pub last_s: u32,
}

impl Passing {
    /// Counts an entry, or a range delete, that `holder` holds.
    pub fn hold(&mut self, holder: SeqNo, bytes: u64, is_delete: bool) {
        self.held_delete_count += u64::from(is_delete);
        match self.held.binary_search_by_key(&holder, |(seqno, _)| *seqno) {
            Ok(index) => self.held[index].1 += bytes,
            Err(index) if self.held.len() < HOLDERS_MAX => self.held.insert(index, (holder, bytes)),
            // Under the next newer one, which is the likelier to live on.
            Err(index) => self.held[index.min(HOLDERS_MAX - 1)].1 += bytes,
        }
    }

    /// Counts an entry that expires.
    pub fn expire(&mut self, expiry_s: u32, bytes: u64) {
        let before = self.expiring.unwrap_or(Expiring {
            bytes: 0,
            first_s: expiry_s,
            last_s: expiry_s,
        });
        self.expiring = Some(Expiring {
            bytes: before.bytes + bytes,
            first_s: before.first_s.min(expiry_s),
            last_s: before.last_s.max(expiry_s),
        });
    }

    /// The snapshots that hold something, ascending, with the bytes that each holds.
    pub fn held(&self) -> impl Iterator<Item = (SeqNo, u64)> + '_ {
        self.held.iter().copied()
    }

    /// How many of the held are deletes, those of ranges among them.
    pub fn held_delete_count(&self) -> u64 {
        self.held_delete_count
    }

    /// The entries that expire, if any does.
    pub fn expiring(&self) -> Option<Expiring> {
        self.expiring
    }

    /// Bytes that none of `snapshots`, which are in ascending order, holds any more.
    pub fn released_bytes(&self, snapshots: &[SeqNo]) -> u64 {
        let is_gone = |holder: &SeqNo| snapshots.binary_search(holder).is_err();
        let gone = self.held().filter(|(holder, _)| is_gone(holder));
        gone.map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that have expired at `now_unix_s`: 0 if none have, else a guess, as if as many expired
    /// in each second.
    pub fn expired_bytes(&self, now_unix_s: u64) -> u64 {
        let Some(expiring) = self.expiring else {
            return 0;
        };
        let (first_s, last_s) = (u64::from(expiring.first_s), u64::from(expiring.last_s));
        if now_unix_s < first_s {
            return 0;
        }
        let passed_s = now_unix_s.min(last_s) - first_s + 1;
        let share = passed_s as f64 / (last_s - first_s + 1) as f64;
        ((expiring.bytes as f64 * share) as u64).max(1)
    }

    /// Appends the encoding.
    pub fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.held.len() as u64);
        let mut before = 0;
        for (holder, bytes) in self.held() {
            put_varint(out, holder.get() - before);
            put_varint(out, bytes);
            before = holder.get();
        }
        put_varint(out, self.held_delete_count);
        put_varint(out, self.expiring.map_or(0, |expiring| expiring.bytes));
        if let Some(expiring) = self.expiring {
            put_u32(out, expiring.first_s);
            put_u32(out, expiring.last_s);
        }
    }

    /// Takes an encoding off the front; `None` when it is not valid.
    pub fn take(reader: &mut ByteReader<'_>) -> Option<Passing> {
        let count = reader.varint_usize()?;
        if count > HOLDERS_MAX {
            return None;
        }
        let mut held = Vec::with_capacity(count);
        let mut before = 0_u64;
        let mut total = 0_u64;
        for index in 0..count {
            let step = reader.varint()?;
            let bytes = reader.varint()?;
            before = before.checked_add(step)?;
            total = total.checked_add(bytes)?;
            if (index > 0 && step == 0) || bytes == 0 {
                return None;
            }
            held.push((SeqNo::checked(before)?, bytes));
        }
        let held_delete_count = reader.varint()?;
        let bytes = reader.varint()?;
        total.checked_add(bytes)?;
        let expiring = match bytes {
            0 => None,
            _ => Some(Expiring {
                bytes,
                first_s: reader.u32()?,
                last_s: reader.u32()?,
            }),
        };
        let is_ordered = expiring.is_none_or(|expiring| expiring.first_s <= expiring.last_s);
        is_ordered.then_some(Passing {
            held,
            held_delete_count,
            expiring,
        })
    }
}

#[cfg(test)]
mod tests;
