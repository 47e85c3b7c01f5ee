//! What two nodes say to one another of an image that one of them has and the other fetches.
//!
//! A request:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | kind: 1 the next page, 2 it has arrived, 3 it could not be fetched |
//! | 1 | 8 | u64 | group |
//! | 9 | 8 | u64 | replica that offers the image |
//! | 17 | 8 | u64 | replica that fetches it |
//! | 25 | 8 | u64 | index of the image |
//! | 33 | … | bytes | of kind 1: the key behind which the page begins; none for the first |
//!
//! An answer:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | 0 there is no such image, 1 rows and more behind them, 2 the last rows, 3 heard |
//! | 1 | … | rows | of kinds 1 and 2: count (u32), key and value of each behind a length (u32) |
//! | … | … | the whole | of kind 2: count of all rows (u64), their CRC32C (u32), the mark |
//!
//! Integers are little-endian. Valid if and only if the kind is known, the rows' keys rise, and
//! nothing but the mark follows.

use esker::internals::base::codec::checksum::crc32c_more;
use esker::internals::base::codec::reader::ByteReader;
use esker::internals::base::types::limits::MARK_BYTES_MAX;
use esker_raft::{GroupId, Member, ReplicaId};

/// What a follower asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The replica that offers the image.
    pub from: Member,
    /// The replica that fetches it.
    pub to: ReplicaId,
    /// Index of the image.
    pub index: u64,
    /// What of it.
    pub wish: Wish,
}

/// What of an image is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The rows behind that key; the first ones, if there is none.
    Behind(Option<Vec<u8>>),
    /// Nothing more: it has arrived.
    Arrived,
    /// Nothing more: it could not be fetched.
    Lost,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageAnswer {
    /// There is no such image any more.
    Gone,
    /// Rows, and what follows if they are the last.
    Rows(Vec<(Vec<u8>, Vec<u8>)>, Option<Whole>),
    /// Nothing is to be said.
    Heard,
}

/// What all rows of an image are together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// How many.
    pub tally: Tally,
    /// The mark of the state that they are.
    pub mark: Vec<u8>,
}

/// A count of rows with their checksum: a stream that ended early is none of its image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many rows.
    pub count: u64,
    /// CRC32C of all of them, each behind its lengths.
    pub crc: u32,
}

impl Tally {
    /// One more row.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        let lens = [key.len() as u64, value.len() as u64];
        self.count += 1;
        for len in lens {
            self.crc = crc32c_more(self.crc, &len.to_le_bytes());
        }
        self.crc = crc32c_more(crc32c_more(self.crc, key), value);
    }
}

impl PageRequest {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, behind) = match &self.wish {
            Wish::Behind(key) => (1, key.as_deref()),
            Wish::Arrived => (2, None),
            Wish::Lost => (3, None),
        };
        let mut out = vec![kind];
        let words = [
            self.from.group.0,
            self.from.replica.0,
            self.to.0,
            self.index,
        ];
        words
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(behind.unwrap_or_default());
        out
    }

    /// The request that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Option<PageRequest> {
        let mut reader = ByteReader::new(bytes);
        let kind = reader.byte()?;
        let group = GroupId(reader.u64()?);
        let replica = ReplicaId(reader.u64()?);
        let to = ReplicaId(reader.u64()?);
        let index = reader.u64()?;
        let rest = reader.rest();
        let wish = match kind {
            1 => Wish::Behind((!rest.is_empty()).then(|| rest.to_vec())),
            2 if rest.is_empty() => Wish::Arrived,
            3 if rest.is_empty() => Wish::Lost,
            _ => return None,
        };
        let from = Member { group, replica };
        Some(PageRequest {
            from,
            to,
            index,
            wish,
        })
    }
}

impl PageAnswer {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (rows, whole) = match self {
            PageAnswer::Gone => return vec![0],
            PageAnswer::Heard => return vec![3],
            PageAnswer::Rows(rows, whole) => (rows, whole),
        };
        let mut out = vec![if whole.is_some() { 2 } else { 1 }];
        put_len(&mut out, rows.len());
        for (key, value) in rows {
            for part in [key, value] {
                put_len(&mut out, part.len());
                out.extend_from_slice(part);
            }
        }
        if let Some(whole) = whole {
            out.extend_from_slice(&whole.tally.count.to_le_bytes());
            out.extend_from_slice(&whole.tally.crc.to_le_bytes());
            out.extend_from_slice(&whole.mark);
        }
        out
    }

    /// The answer that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Option<PageAnswer> {
        let mut reader = ByteReader::new(bytes);
        let kind = reader.byte()?;
        let is_last = match kind {
            0 | 3 if bytes.len() > 1 => return None,
            0 => return Some(PageAnswer::Gone),
            3 => return Some(PageAnswer::Heard),
            1 => false,
            2 => true,
            _ => return None,
        };
        let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for _ in 0..reader.u32()? {
            let key = take_part(&mut reader)?;
            let value = take_part(&mut reader)?;
            if rows.last().is_some_and(|last| last.0 >= key) {
                return None;
            }
            rows.push((key, value));
        }
        if !is_last {
            let is_whole = reader.is_empty() && !rows.is_empty();
            return is_whole.then_some(PageAnswer::Rows(rows, None));
        }
        let count = reader.u64()?;
        let crc = reader.u32()?;
        let mark = reader.rest().to_vec();
        let tally = Tally { count, crc };
        let whole = Some(Whole { tally, mark }).filter(|it| it.mark.len() <= MARK_BYTES_MAX)?;
        Some(PageAnswer::Rows(rows, Some(whole)))
    }
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    let len = u32::try_from(len).expect("keys and values are below 4 GiB, pages far below");
    out.extend_from_slice(&len.to_le_bytes());
}

fn take_part(reader: &mut ByteReader<'_>) -> Option<Vec<u8>> {
    let len = usize::try_from(reader.u32()?).ok()?;
    Some(reader.bytes(len)?.to_vec())
}

#[cfg(test)]
mod tests;
