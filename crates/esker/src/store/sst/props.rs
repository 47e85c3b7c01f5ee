//! What a finished file says about itself.
//!
//! The plain bytes of the props block are pairs of a tag and a value, one behind the other:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 10 | varint | tag |
//! | 1 to 10 | varint | bytes of the value, n |
//! | n | bytes | the value: a varint for numbers, else the bytes themselves |
//!
//! | tag | value | meaning |
//! |---|---|---|
//! | 1 | number, 32 bits | keyspace |
//! | 2 | number | point entries |
//! | 3 | number | those of them that are deletes |
//! | 4 | number | those that are merge operands |
//! | 5 | number | range deletes |
//! | 6 | number | user keys among the point entries, each counted once |
//! | 7 | number | bytes of all user keys, and 8 for each entry |
//! | 8 | number | bytes of all values as entries have them: with expiries, and 20 for a pointer |
//! | 9, 10 | key | smallest and largest user key of the point entries; empty without any |
//! | 11, 12 | number, 56 bits | smallest and largest sequence number, range deletes included |
//! | 13 | number, 32 bits | latest expiry, rounded up; only where all expire, no range delete is |
//! | 14 | number | data blocks, or key pages |
//! | 15 | number | bytes in the file of index and partitions, or of key pages and key index |
//! | 16 | number | bytes in the file of the filter; 0 without one |
//! | 17 | name | order of the keys |
//! | 18 | number | how data blocks were compressed where that paid; 2 or 0 in a searchable file |
//! | 19 | number | when the file was begun, in unix seconds |
//! | 20 | live bytes | what entries point to, as in `store/vlog/live_bytes`; only where some do |
//! | 21 | name | name of the keyspace; only where somebody told it |
//! | 22 | lineage | the files it was made of, as in `store/sst/origin`; only if there were any |
//! | 23 | 16 bytes | id of the database that made it; only where somebody told it |
//! | 24 | passing | what passes by itself, as in `store/sst/passing`; unknown where it is missing |
//! | 25 | number | 1; only where an expiry has milliseconds, and then kinds 8 and 9 are there |
//!
//! Valid if and only if the tags ascend, no required tag (1 to 19, but not 13) is missing, and
//! every value of a known tag is whole and within its bits. Unknown tags are passed over, so that
//! a later version may say more without becoming unreadable to this one.

use crate::base::codec::compress::CompressionType;
use crate::base::codec::reader::{ByteReader, put_prefixed};
use crate::base::codec::varint::put_varint;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::origin::{Lineage, Origin};
use crate::store::sst::passing::Passing;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// What a finished file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Props {
    /// Whose entries these are.
    pub keyspace: KeyspaceId,
    /// Point entries.
    pub entry_count: u64,
    /// Point entries that are deletes.
    pub delete_count: u64,
    /// Point entries that are merge operands.
    pub merge_count: u64,
    /// Range deletes.
    pub range_delete_count: u64,
    /// User keys among the point entries, each counted once.
    pub key_count: u64,
    /// Bytes of all internal keys before compression.
    pub raw_key_bytes: u64,
    /// Bytes of all values before compression.
    pub raw_value_bytes: u64,
    /// Smallest user key of the point entries; empty when there are none.
    pub smallest: Bytes,
    /// Largest user key of the point entries; empty when there are none.
    pub largest: Bytes,
    /// Smallest sequence number, range deletes included.
    pub smallest_seqno: SeqNo,
    /// Largest sequence number, range deletes included.
    pub largest_seqno: SeqNo,
    /// Latest expiry, in unix seconds; only if every entry expires and nothing deletes a range.
    pub newest_expiry_s: Option<u32>,
    /// Data blocks.
    pub data_block_count: u64,
    /// Bytes of all index blocks in the file.
    pub index_bytes: u64,
    /// Bytes of the filter in the file; 0 when there is none.
    pub filter_bytes: u64,
    /// Name of the order of keys.
    pub comparator_name: Bytes,
    /// How blocks were compressed where that paid.
    pub compression: CompressionType,
    /// Wall time at which the file was begun; unix seconds.
    pub created_unix_s: u64,
    /// What the entries point to in the value log.
    pub values: ValueLiveBytes,
    /// Where it comes from.
    pub origin: Origin,
    /// What of it passes by itself; `None` where nobody counted.
    pub passing: Option<Passing>,
    /// Whether an expiry in it has milliseconds.
    pub has_millis: bool,
}

// Numbers of the tags; part of the format, never used again for something else.
const KEYSPACE: u64 = 1;
const ENTRY_COUNT: u64 = 2;
const DELETE_COUNT: u64 = 3;
const MERGE_COUNT: u64 = 4;
const RANGE_DELETE_COUNT: u64 = 5;
const KEY_COUNT: u64 = 6;
const RAW_KEY_BYTES: u64 = 7;
const RAW_VALUE_BYTES: u64 = 8;
const SMALLEST: u64 = 9;
const LARGEST: u64 = 10;
const SMALLEST_SEQNO: u64 = 11;
const LARGEST_SEQNO: u64 = 12;
const NEWEST_EXPIRY_S: u64 = 13;
const DATA_BLOCK_COUNT: u64 = 14;
const INDEX_BYTES: u64 = 15;
const FILTER_BYTES: u64 = 16;
const ORDER_NAME: u64 = 17;
const COMPRESSION: u64 = 18;
const CREATED_UNIX_S: u64 = 19;
const VALUES: u64 = 20;
const KEYSPACE_NAME: u64 = 21;
const LINEAGE: u64 = 22;
const DATABASE_ID: u64 = 23;
const PASSING: u64 = 24;
const HAS_MILLIS: u64 = 25;

impl Props {
    /// The plain bytes of the props block.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(&mut out, KEYSPACE, u64::from(self.keyspace.0));
        put_number(&mut out, ENTRY_COUNT, self.entry_count);
        put_number(&mut out, DELETE_COUNT, self.delete_count);
        put_number(&mut out, MERGE_COUNT, self.merge_count);
        put_number(&mut out, RANGE_DELETE_COUNT, self.range_delete_count);
        put_number(&mut out, KEY_COUNT, self.key_count);
        put_number(&mut out, RAW_KEY_BYTES, self.raw_key_bytes);
        put_number(&mut out, RAW_VALUE_BYTES, self.raw_value_bytes);
        put_text(&mut out, SMALLEST, &self.smallest);
        put_text(&mut out, LARGEST, &self.largest);
        put_number(&mut out, SMALLEST_SEQNO, self.smallest_seqno.get());
        put_number(&mut out, LARGEST_SEQNO, self.largest_seqno.get());
        if let Some(expiry) = self.newest_expiry_s {
            put_number(&mut out, NEWEST_EXPIRY_S, u64::from(expiry));
        }
        put_number(&mut out, DATA_BLOCK_COUNT, self.data_block_count);
        put_number(&mut out, INDEX_BYTES, self.index_bytes);
        put_number(&mut out, FILTER_BYTES, self.filter_bytes);
        put_text(&mut out, ORDER_NAME, &self.comparator_name);
        put_number(&mut out, COMPRESSION, u64::from(self.compression as u8));
        put_number(&mut out, CREATED_UNIX_S, self.created_unix_s);
        if !self.values.is_empty() {
            let mut live = Vec::new();
            self.values.put(&mut live);
            put_text(&mut out, VALUES, &live);
        }
        if !self.origin.keyspace_name.is_empty() {
            put_text(&mut out, KEYSPACE_NAME, &self.origin.keyspace_name);
        }
        if let Some(lineage) = &self.origin.lineage {
            let mut bytes = Vec::new();
            lineage.put(&mut bytes);
            put_text(&mut out, LINEAGE, &bytes);
        }
        if let Some(id) = &self.origin.database_id {
            put_text(&mut out, DATABASE_ID, id);
        }
        if let Some(passing) = &self.passing {
            let mut bytes = Vec::new();
            passing.put(&mut bytes);
            put_text(&mut out, PASSING, &bytes);
        }
        if self.has_millis {
            put_number(&mut out, HAS_MILLIS, 1);
        }
        out
    }

    /// Bytes of all user keys and values before compression. A file may count wrong: whatever it
    /// says, this is a number.
    pub fn raw_bytes(&self) -> u64 {
        let trailer_bytes = self.entry_count.saturating_mul(TRAILER_BYTES as u64);
        let bytes = self.raw_key_bytes.saturating_add(self.raw_value_bytes);
        bytes.saturating_sub(trailer_bytes)
    }

    /// Reads the plain bytes of a props block. `Corruption` when they are not valid.
    pub fn decode(bytes: &[u8]) -> Result<Props> {
        let pairs = Pairs::read(bytes).ok_or_else(|| bad("its pairs are damaged"))?;
        let compression = u8::try_from(pairs.number(COMPRESSION)?).ok();
        Ok(Props {
            keyspace: KeyspaceId(pairs.number_u32(KEYSPACE)?),
            entry_count: pairs.number(ENTRY_COUNT)?,
            delete_count: pairs.number(DELETE_COUNT)?,
            merge_count: pairs.number(MERGE_COUNT)?,
            range_delete_count: pairs.number(RANGE_DELETE_COUNT)?,
            key_count: pairs.number(KEY_COUNT)?,
            raw_key_bytes: pairs.number(RAW_KEY_BYTES)?,
            raw_value_bytes: pairs.number(RAW_VALUE_BYTES)?,
            smallest: Bytes::copy_of(pairs.text(SMALLEST)?),
            largest: Bytes::copy_of(pairs.text(LARGEST)?),
            smallest_seqno: pairs.seqno(SMALLEST_SEQNO)?,
            largest_seqno: pairs.seqno(LARGEST_SEQNO)?,
            newest_expiry_s: match pairs.find(NEWEST_EXPIRY_S) {
                Some(_) => Some(pairs.number_u32(NEWEST_EXPIRY_S)?),
                None => None,
            },
            data_block_count: pairs.number(DATA_BLOCK_COUNT)?,
            index_bytes: pairs.number(INDEX_BYTES)?,
            filter_bytes: pairs.number(FILTER_BYTES)?,
            comparator_name: Bytes::copy_of(pairs.text(ORDER_NAME)?),
            compression: compression
                .and_then(CompressionType::from_byte)
                .ok_or_else(|| bad("its compression is unknown"))?,
            created_unix_s: pairs.number(CREATED_UNIX_S)?,
            values: pairs.values()?,
            origin: pairs.origin()?,
            passing: pairs.passing()?,
            has_millis: match pairs.find(HAS_MILLIS) {
                None => false,
                Some([1]) => true,
                Some(_) => return Err(bad("what it says of milliseconds is damaged")),
            },
        })
    }
}

fn put_number(out: &mut Vec<u8>, tag: u64, number: u64) {
    let mut value = Vec::new();
    put_varint(&mut value, number);
    put_text(out, tag, &value);
}

fn put_text(out: &mut Vec<u8>, tag: u64, value: &[u8]) {
    put_varint(out, tag);
    put_prefixed(out, value);
}

fn bad(why: &str) -> Error {
    Error::corruption(format!("properties cannot be read: {why}"))
}

// The pairs of a block, in the order of their tags.
struct Pairs<'a>(Vec<(u64, &'a [u8])>);

impl<'a> Pairs<'a> {
    fn read(bytes: &'a [u8]) -> Option<Pairs<'a>> {
        let mut reader = ByteReader::new(bytes);
        let mut pairs: Vec<(u64, &[u8])> = Vec::new();
        while !reader.is_empty() {
            let tag = reader.varint()?;
            if pairs.last().is_some_and(|(last, _)| *last >= tag) {
                return None;
            }
            pairs.push((tag, reader.prefixed()?));
        }
        Some(Pairs(pairs))
    }

    fn find(&self, tag: u64) -> Option<&'a [u8]> {
        let index = self.0.binary_search_by_key(&tag, |(tag, _)| *tag).ok()?;
        self.0.get(index).map(|(_, value)| *value)
    }

    fn text(&self, tag: u64) -> Result<&'a [u8]> {
        self.find(tag)
            .ok_or_else(|| bad(&format!("tag {tag} is missing")))
    }

    fn number(&self, tag: u64) -> Result<u64> {
        let mut reader = ByteReader::new(self.text(tag)?);
        match reader.varint() {
            Some(number) if reader.is_empty() => Ok(number),
            _ => Err(bad(&format!("tag {tag} is not a number"))),
        }
    }

    fn number_u32(&self, tag: u64) -> Result<u32> {
        u32::try_from(self.number(tag)?).map_err(|_| bad(&format!("tag {tag} is too large")))
    }

    fn values(&self) -> Result<ValueLiveBytes> {
        let Some(bytes) = self.find(VALUES) else {
            return Ok(ValueLiveBytes::default());
        };
        let mut reader = ByteReader::new(bytes);
        let live = ValueLiveBytes::take(&mut reader).filter(|_| reader.is_empty());
        live.ok_or_else(|| bad("its live bytes of the value log are damaged"))
    }

    fn origin(&self) -> Result<Origin> {
        let name = self.find(KEYSPACE_NAME).unwrap_or_default();
        let lineage = match self.find(LINEAGE) {
            None => None,
            Some(bytes) => {
                let mut reader = ByteReader::new(bytes);
                let lineage = Lineage::take(&mut reader).filter(|_| reader.is_empty());
                Some(lineage.ok_or_else(|| bad("its lineage is damaged"))?)
            }
        };
        let id = self.find(DATABASE_ID).map(<[u8; 16]>::try_from);
        let id = id.transpose();
        Ok(Origin {
            keyspace_name: Bytes::copy_of(name),
            lineage,
            database_id: id.map_err(|_| bad("the id of its database is not 16 bytes long"))?,
        })
    }

    fn passing(&self) -> Result<Option<Passing>> {
        let Some(bytes) = self.find(PASSING) else {
            return Ok(None);
        };
        let mut reader = ByteReader::new(bytes);
        let passing = Passing::take(&mut reader).filter(|_| reader.is_empty());
        match passing {
            Some(passing) => Ok(Some(passing)),
            None => Err(bad("what it says of what passes is damaged")),
        }
    }

    fn seqno(&self, tag: u64) -> Result<SeqNo> {
        SeqNo::checked(self.number(tag)?).ok_or_else(|| bad(&format!("tag {tag} is too large")))
    }
}

#[cfg(test)]
mod tests;
