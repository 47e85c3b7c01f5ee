//! Byte layout of the records of two phases: prepare, commit, rollback.
//!
//! Each begins as every record does (`store/batch/record`): a number u56, the kind u8, and then the
//! count of its entries u32.
//!
//! Prepare, kind 1; its number is 0:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 12 | 8 | u64 | of a copy, the segment in which the record was first written; else 0 |
//! | 20 | 8 | u64 | of a copy, its offset there; else 0 |
//! | 28 | 8 | u64 | when it was prepared, unix seconds |
//! | 36 | 1 | u8 | length of the id less 1 |
//! | 37 | 1–256 | bytes | id |
//! | – | 1–5 | varint | count of claims |
//! | – | … | | the claims |
//! | – | … | | the entries, as those of a batch |
//!
//! A claim says what besides its entries nobody else may write to until it has ended:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1–5 | varint u32 | keyspace |
//! | … | bound | where it begins |
//! | … | bound | where it ends |
//!
//! A bound is a u8, 0 for none, and 1 (the key included) or 2 (not included) and the key with its
//! length in front as a varint.
//!
//! Commit here, kind 2: it is committed, and its prepare lies in the same segment. The number is
//! that of its first entry; the others count on from there. The count is that of the prepare.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 12 | 8 | u64 | offset of the prepare, or of its last copy, in this segment |
//! | 20 | 4 | u32 | CRC32C of the entries of the prepare |
//! | 24 | 1 | u8 | length of the id less 1 |
//! | 25 | 1–256 | bytes | id |
//!
//! Commit full, kind 3: the same, wherever its prepare lies; number and count as above.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 12 | 1 | u8 | length of the id less 1 |
//! | 13 | 1–256 | bytes | id |
//! | – | … | | the entries, as those of a batch |
//!
//! Rollback, kind 4: it is rolled back. Number and count are 0.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 12 | 1 | u8 | length of the id less 1 |
//! | 13 | 1–256 | bytes | id |
//!
//! Integers are little-endian. The large values of a prepare are durable before it is written.
//!
//! Valid if and only if the fields fill the bytes exactly, entries are valid as those of a batch
//! with that first number, lengths are within `base/types/limits`, and what is 0 above is 0. What a
//! record may follow on is told in `store/batch/prepared_log`.

use std::ops::Bound;

use crate::base::codec::checksum::crc32c;
use crate::base::codec::reader::{ByteReader, put_prefixed};
use crate::base::codec::varint::put_varint;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::limits::{KEY_BYTES_MAX, PREPARED_ID_BYTES_MAX};
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::store::batch::reader::BatchReader;

/// The kind of a prepare.
pub const PREPARE: u8 = 1;
/// The kind of a commit whose prepare lies in the same segment.
pub const COMMIT_HERE: u8 = 2;
/// The kind of a commit with all entries.
pub const COMMIT_FULL: u8 = 3;
/// The kind of a rollback.
pub const ROLLBACK: u8 = 4;

/// Where the origin of a copy stands.
const ORIGIN_OFFSET: usize = 12;

/// Keys that a prepared transaction claims besides those that it writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Their keyspace.
    pub keyspace: KeyspaceId,
    /// Which ones.
    pub keys: KeyRange,
}

impl Claim {
    /// The key, if it is but one.
    pub fn as_key(&self) -> Option<&[u8]> {
        match (&self.keys.lower, &self.keys.upper) {
            (Bound::Included(lower), Bound::Included(upper)) if lower == upper => Some(lower),
            _ => None,
        }
    }
}

/// A prepare that was read. The entries have numbers from 0 on, until a commit gives them others.
#[derive(Clone, Debug)]
pub struct Prepare<'a> {
    /// Of a copy, the segment and the offset where it was first written.
    pub origin: Option<(FileNumber, u64)>,
    /// When it was prepared, in unix seconds.
    pub prepared_unix_s: u64,
    /// By what it is known.
    pub id: &'a [u8],
    /// What it claims besides what it writes to.
    pub claims: Vec<Claim>,
    /// What it writes.
    pub entries: BatchReader<'a>,
}

/// A commit whose prepare lies in the same segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitHere<'a> {
    /// The number of its first entry.
    pub first_seqno: SeqNo,
    /// How many entries it has.
    pub count: u32,
    /// Where its prepare lies.
    pub prepare_offset: u64,
    /// The checksum of the entries.
    pub crc: u32,
    /// By what it is known.
    pub id: &'a [u8],
}

/// A commit with all entries.
#[derive(Clone, Copy, Debug)]
pub struct CommitFull<'a> {
    /// By what it is known.
    pub id: &'a [u8],
    /// What it writes.
    pub entries: BatchReader<'a>,
}

/// What is said of a transaction that is to be prepared, besides its entries.
#[derive(Clone, Copy, Debug)]
pub struct NewPrepare<'a> {
    /// By what it is known: 1 to 256 bytes.
    pub id: &'a [u8],
    /// When it is prepared, in unix seconds.
    pub prepared_unix_s: u64,
    /// What it claims besides what it writes to.
    pub claims: &'a [Claim],
    /// How many entries it has.
    pub count: u32,
}

impl NewPrepare<'_> {
    /// Everything in front of the entries.
    ///
    /// # Panics
    /// When the id is not as long as it may be.
    pub fn encode_front(&self) -> Vec<u8> {
        let mut out = begin(SeqNo::ZERO, PREPARE, self.count);
        out.extend_from_slice(&[0; 16]);
        out.extend_from_slice(&self.prepared_unix_s.to_le_bytes());
        put_id(&mut out, self.id);
        put_varint(&mut out, self.claims.len() as u64);
        for claim in self.claims {
            put_varint(&mut out, u64::from(claim.keyspace.0));
            put_bound(&mut out, &claim.keys.lower);
            put_bound(&mut out, &claim.keys.upper);
        }
        out
    }
}

impl<'a> Prepare<'a> {
    /// Reads a record of that kind; its entries are still to be checked. Errors: `Corruption`.
    pub fn read(bytes: &'a [u8]) -> Result<Prepare<'a>> {
        let (number, count, mut reader) = open(bytes)?;
        let front = take_front(&mut reader).filter(|_| number == 0);
        let front = front.ok_or_else(|| broken("prepare"))?;
        Ok(Prepare {
            origin: front.origin,
            prepared_unix_s: front.prepared_unix_s,
            id: front.id,
            claims: front.claims,
            entries: BatchReader::of_entries(0, count, reader.rest())?,
        })
    }

    /// The record of a commit, for the segment in which the prepare lies at that offset.
    pub fn encode_commit_here(&self, first_seqno: SeqNo, prepare_offset: u64) -> Vec<u8> {
        let mut out = begin(first_seqno, COMMIT_HERE, self.entries.count());
        out.extend_from_slice(&prepare_offset.to_le_bytes());
        out.extend_from_slice(&crc32c(self.entries.body()).to_le_bytes());
        put_id(&mut out, self.id);
        out
    }

    /// The record of a commit, for any segment. Not longer than the prepare.
    pub fn encode_commit_full(&self, first_seqno: SeqNo) -> Vec<u8> {
        let mut out = begin(first_seqno, COMMIT_FULL, self.entries.count());
        put_id(&mut out, self.id);
        out.extend_from_slice(self.entries.body());
        out
    }
}

impl<'a> CommitHere<'a> {
    /// Reads a record of that kind. Errors: `Corruption`.
    pub fn read(bytes: &'a [u8]) -> Result<CommitHere<'a>> {
        let (number, count, mut reader) = open(bytes)?;
        let place = reader.u64().zip(reader.u32());
        let id = take_id(&mut reader).filter(|_| reader.is_empty());
        let ((prepare_offset, crc), id) = place.zip(id).ok_or_else(|| broken("commit"))?;
        Ok(CommitHere {
            // Below 2^56, since the byte above is the kind.
            first_seqno: SeqNo::new(number),
            count,
            prepare_offset,
            crc,
            id,
        })
    }
}

impl<'a> CommitFull<'a> {
    /// Reads a record of that kind; its entries are still to be checked. Errors: `Corruption`.
    pub fn read(bytes: &'a [u8]) -> Result<CommitFull<'a>> {
        let (number, count, mut reader) = open(bytes)?;
        let id = take_id(&mut reader).ok_or_else(|| broken("commit"))?;
        let entries = BatchReader::of_entries(number, count, reader.rest())?;
        Ok(CommitFull { id, entries })
    }
}

/// The record of a rollback.
pub fn encode_rollback(id: &[u8]) -> Vec<u8> {
    let mut out = begin(SeqNo::ZERO, ROLLBACK, 0);
    put_id(&mut out, id);
    out
}

/// The id that a rollback names. Errors: `Corruption`.
pub fn read_rollback(bytes: &[u8]) -> Result<&[u8]> {
    let (number, count, mut reader) = open(bytes)?;
    let id = take_id(&mut reader).filter(|_| reader.is_empty() && number == 0 && count == 0);
    id.ok_or_else(|| broken("rollback"))
}

/// A copy of a prepare that lies at `place`, for another one. A copy of a copy says where the first
/// one was.
pub fn copy_of(prepare: &[u8], (segment, offset): (FileNumber, u64)) -> Vec<u8> {
    let mut copy = prepare.to_vec();
    let (number, behind) = copy[ORIGIN_OFFSET..].split_at_mut(8);
    if number.iter().all(|byte| *byte == 0) {
        number.copy_from_slice(&segment.0.to_le_bytes());
        behind[..8].copy_from_slice(&offset.to_le_bytes());
    }
    copy
}

fn begin(number: SeqNo, kind: u8, count: u32) -> Vec<u8> {
    let number = number.get() | u64::from(kind) << 56;
    let mut out = number.to_le_bytes().to_vec();
    out.extend_from_slice(&count.to_le_bytes());
    out
}

// The number, the count, and what is behind.
fn open(bytes: &[u8]) -> Result<(u64, u32, ByteReader<'_>)> {
    let mut reader = ByteReader::new(bytes);
    let front = reader.u64().zip(reader.u32());
    let (number, count) = front.ok_or_else(|| broken("record"))?;
    Ok((number & (u64::MAX >> 8), count, reader))
}

fn put_id(out: &mut Vec<u8>, id: &[u8]) {
    assert!(!id.is_empty() && id.len() <= PREPARED_ID_BYTES_MAX);
    out.push(u8::try_from(id.len() - 1).expect("an id has up to 256 bytes"));
    out.extend_from_slice(id);
}

/// What stands in front of the entries of a prepare.
struct Front<'a> {
    origin: Option<(FileNumber, u64)>,
    prepared_unix_s: u64,
    id: &'a [u8],
    claims: Vec<Claim>,
}

fn take_front<'a>(reader: &mut ByteReader<'a>) -> Option<Front<'a>> {
    let (segment, offset) = (reader.u64()?, reader.u64()?);
    if segment == 0 && offset != 0 {
        return None;
    }
    Some(Front {
        origin: (segment != 0).then_some((FileNumber(segment), offset)),
        prepared_unix_s: reader.u64()?,
        id: take_id(reader)?,
        claims: take_claims(reader)?,
    })
}

fn take_id<'a>(reader: &mut ByteReader<'a>) -> Option<&'a [u8]> {
    let len = reader.byte()?;
    reader.bytes(usize::from(len) + 1)
}

fn put_bound(out: &mut Vec<u8>, bound: &Bound<Vec<u8>>) {
    match bound {
        Bound::Unbounded => out.push(0),
        Bound::Included(key) => {
            out.push(1);
            put_prefixed(out, key);
        }
        Bound::Excluded(key) => {
            out.push(2);
            put_prefixed(out, key);
        }
    }
}

fn take_bound(reader: &mut ByteReader<'_>) -> Option<Bound<Vec<u8>>> {
    let bound: fn(Vec<u8>) -> Bound<Vec<u8>> = match reader.byte()? {
        0 => return Some(Bound::Unbounded),
        1 => Bound::Included,
        2 => Bound::Excluded,
        _ => return None,
    };
    let key = reader.prefixed()?;
    (key.len() <= KEY_BYTES_MAX).then(|| bound(key.to_vec()))
}

fn take_claims(reader: &mut ByteReader<'_>) -> Option<Vec<Claim>> {
    let mut claims = Vec::new();
    for _ in 0..reader.varint_u32()? {
        claims.push(Claim {
            keyspace: KeyspaceId(reader.varint_u32()?),
            keys: KeyRange {
                lower: take_bound(reader)?,
                upper: take_bound(reader)?,
            },
        });
    }
    Some(claims)
}

fn broken(what: &str) -> Error {
    Error::corruption(format!("a {what} of two phases that is not one"))
}

#[cfg(test)]
mod tests;
