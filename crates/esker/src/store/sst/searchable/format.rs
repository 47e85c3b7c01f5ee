//! Byte layout of a searchable sorted file.
//!
//! `record* | key page* | key index | dictionary? | range deletes? | props | footer`
//!
//! Records lie one behind the other from offset 0 on, in the order of internal keys, one for each
//! entry. All behind them, but the footer, are blocks as in `store/sst/format`, each with its
//! compression byte and checksum; key index and range deletes may be compressed, the others never
//! are. All integers are little-endian.
//!
//! A *record*:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 3 | varint | 4 × bytes of the tail, t, + alphabet |
//! | see below | bytes | the tail: what of the user key is not in its key page |
//! | 0, 4 or 6 | u32, 48 bits | the expiry, if the entry's kind has one |
//! | 1 to 5 | varint | 4 × bytes of the value (without expiry) + method |
//! | … | bytes | the value, compressed by that method |
//! | 4 | u32 | masked CRC32C, see below |
//!
//! Methods: 0 the value itself; 1 phrases of the file's dictionary; 2 one Zstd frame. With methods
//! 0 and 1 the last two parts before the checksum are a record as
//! `crates/esker-phrase/src/format.rs` tells it, and the plain bytes of the dictionary's block are
//! a dictionary as it is told there.
//!
//! A *tail* is stored by its alphabet, in which the characters count from 0 on:
//!
//! | alphabet | characters | size | stored |
//! |---|---|---|---|
//! | 0 | all bytes | t | as they are |
//! | 1 | `0`–`9` `a`–`f` | t / 2, rounded up | two in a byte, the first in the low half |
//! | 2 | `0`–`9` `A`–`Z` `-` `/` `:` `_` | 2 × (t / 3) + (t modulo 3) | see below |
//! | 3 | `0`–`9` `a`–`z` `-` `.` `/` `_` | the same | the same |
//!
//! With alphabets of 40 every three characters c₀ c₁ c₂ are a u16, c₀ + 40 c₁ + 1600 c₂. One
//! that is left is a byte, two that are left are a u16 without c₂. What is left over of a byte in
//! which one character of 16 stands is zero.
//!
//! The checksum covers the number of the file (u64), the part of the user key that is in the key
//! page, the entry's trailer (u64), and the record's bytes before the checksum. So a record in the
//! wrong place, in the wrong file or under the wrong key does not pass for the right one. Its
//! length is in the key page.
//!
//! A *key page* (the plain bytes of its block):
//!
//! | size | type | meaning |
//! |---|---|---|
//! | … | groups | one behind the other |
//! | 4 × g | u32 | offsets of the groups |
//! | 8 | u64 | ordinal of the page's first entry in the file |
//! | 4 | u32 | groups, g; at least 1 |
//!
//! and a *group*:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 | u8 | entries, n; at least 1 |
//! | 1 to 5 | varint | bytes of the prefixes, p |
//! | p | prefixes | for each entry the front of its user key, see below |
//! | n | u8 | fingerprints: for each entry the highest byte of its user key's `hash64` |
//! | 1 to 10 | varint | offset of the first entry's record in the file |
//! | 1 to 5 | varint | length of the shortest record |
//! | 1 + … | compressed | by how much each record is longer |
//! | 1 | u8 | kind of all entries, or 255 |
//! | n | u8 | for each entry its kind; only behind 255 |
//! | 1 to 8 | varint | the smallest sequence number |
//! | 1 + … | compressed | by how much each sequence number is larger |
//!
//! *Compressed* numbers are a byte w, at most 56, and then n numbers of w bits each, the first in
//! the lowest bits, filled up to whole bytes with zeros (`searchable/compressed`).
//!
//! A *prefix* is one byte, (shared × 16 + new), and the new bytes; where one of the two is 15 or
//! more its half of the byte is 15, and the rest of it (number − 15) follows as a varint, that of
//! shared first. "Shared" bytes are taken from the prefix of the entry before; the first entry of
//! a group shares none, every other all that the two prefixes begin with alike.
//!
//! How long a prefix is: for keys in the bytewise order at least one byte longer than what the
//! key begins with like the key before it or the one behind it, or the whole key. It is the whole
//! key if the file has several entries of it, and in every other order of keys.
//!
//! The *key index* is an index block (`store/sst/index`) over the key pages.
//!
//! The *footer*:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 16 | handle | key index |
//! | 16 | 16 | handle | dictionary; all zero when no record needs one |
//! | 32 | 16 | handle | properties |
//! | 48 | 16 | handle | range deletes; all zero when there are none |
//! | 64 | 8 | u64 | number of the file |
//! | 72 | 4 | u32 | bytes of the longest value in a record, uncompressed, without expiry |
//! | 76 | 4 | u32 | zero |
//! | 80 | 4 | u32 | format version, 3 |
//! | 84 | 4 | u32 | masked CRC32C of bytes 0 to 83 and of the footer's offset (u64) |
//! | 88 | 8 | u64 | magic, that of every sorted file |
//!
//! Valid if and only if the footer is (as in `store/sst/format`), every block's checksum is right,
//! records and pages lie without gaps and agree on where each record lies, prefixes are as long
//! as told above and ascend, fingerprints are their keys', ordinals count on from page to page,
//! kinds are those of point entries, tails have no characters beyond their alphabets, and every
//! record's checksum is right and its value uncompresses to the length told, which is at most that
//! in the footer.

use crate::base::codec::fixed::{put_u32, put_u64};
use crate::base::codec::reader::ByteReader;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::store::sst::format::{
    BlockHandle, FOOTER_BYTES, MAGIC, SEARCHABLE_VERSION, check_handles, check_number, check_tail,
    footer_checksum, not_a_footer, present,
};

/// Entries of a group: a search looks at half of them at 3 to 4 ns each, and what a group says
/// once, some fourteen bytes, is half a byte for each. Groups of 64 save a fifth of a byte.
pub const GROUP_ENTRIES: usize = 32;

/// In place of a kind: every entry of the group has its own.
pub const KINDS_DIFFER: u8 = 255;

/// Bytes of the checksum that ends a record.
pub const CHECK_BYTES: usize = 4;

/// Bits of a record's number that say the method.
pub const METHOD_BITS: u32 = 2;

/// How the value of a record is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Method {
    /// As it is.
    Raw = 0,
    /// Phrases of the file's dictionary.
    Phrases = 1,
    /// One Zstd frame.
    Zstd = 2,
}

impl Method {
    /// The method with that number, or `None`. For bytes from disk.
    pub fn from_number(number: u64) -> Option<Method> {
        match number {
            0 => Some(Method::Raw),
            1 => Some(Method::Phrases),
            2 => Some(Method::Zstd),
            _ => None,
        }
    }
}

/// The fingerprint of the user key with that `hash64`.
#[inline]
pub fn fingerprint_of(hash: u64) -> u8 {
    hash.to_be_bytes()[0]
}

/// What the end of a searchable file says about the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The index over the key pages.
    pub index: BlockHandle,
    /// The dictionary, if a record needs one.
    pub dictionary: Option<BlockHandle>,
    /// The properties.
    pub props: BlockHandle,
    /// The range deletes, if there are any.
    pub range_deletes: Option<BlockHandle>,
    /// Number of the file.
    pub number: FileNumber,
    /// Bytes of the longest value in a record, uncompressed, without expiry.
    pub value_bytes_max: u32,
}

impl Footer {
    /// The bytes of the footer that begins at `offset` of its file.
    pub fn encode(&self, offset: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER_BYTES);
        self.index.encode_into(&mut out);
        self.dictionary.unwrap_or_default().encode_into(&mut out);
        self.props.encode_into(&mut out);
        self.range_deletes.unwrap_or_default().encode_into(&mut out);
        put_u64(&mut out, self.number.0);
        put_u32(&mut out, self.value_bytes_max);
        put_u32(&mut out, 0);
        put_u32(&mut out, SEARCHABLE_VERSION);
        let checksum = footer_checksum(&out, offset);
        put_u32(&mut out, checksum);
        put_u64(&mut out, MAGIC);
        assert_eq!(out.len(), FOOTER_BYTES);
        out
    }

    /// Reads and checks the footer of the file `number`; it begins at `offset`.
    ///
    /// Errors: `Corruption`.
    pub fn decode(bytes: &[u8; FOOTER_BYTES], number: FileNumber, offset: u64) -> Result<Footer> {
        check_tail(bytes, SEARCHABLE_VERSION, offset)?;
        let footer = Footer::fields(&mut ByteReader::new(bytes)).ok_or_else(not_a_footer)?;
        check_number(footer.number, number)?;
        let required = [footer.index, footer.props];
        check_handles(required, [footer.dictionary, footer.range_deletes], offset)?;
        Ok(footer)
    }

    fn fields(reader: &mut ByteReader<'_>) -> Option<Footer> {
        let footer = Footer {
            index: BlockHandle::decode(reader)?,
            dictionary: present(BlockHandle::decode(reader)?),
            props: BlockHandle::decode(reader)?,
            range_deletes: present(BlockHandle::decode(reader)?),
            number: FileNumber(reader.u64()?),
            value_bytes_max: reader.u32()?,
        };
        (reader.u32()? == 0).then_some(footer)
    }
}

#[cfg(test)]
mod tests;
