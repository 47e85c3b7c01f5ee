//! The outer bytes of a sorted file: block handles, block trailers, footer.
//!
//! A file is a row of blocks without gaps, and a footer at its very end:
//!
//! `data block* | filter? | range deletes? | index partition* | index | props | footer`
//!
//! That is a block-based file, format version 1. A searchable file, format version 3, has other
//! parts (`store/sst/searchable/format`) and another footer of the same length; block trailers,
//! the handles of properties and range deletes, and all from offset 80 of the footer on, are the
//! same in both. Version 2 was a searchable file that no release wrote, and is refused.
//!
//! | part | its plain bytes | compressed |
//! |---|---|---|
//! | data block | `store/sst/block/format` | as the settings say |
//! | filter | `store/sst/filter/block` | never |
//! | range deletes | `store/sst/range_deletes` | as the settings say |
//! | index, and its partitions | `store/sst/index/block` | as the settings say |
//! | props | `store/sst/props` | never |
//!
//! With an index of two levels each partition leads to a part of the data blocks, and the top one
//! to the partitions, with the last separator of each.
//!
//! Every block is followed by a trailer:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | n | bytes | the block, compressed |
//! | n | 1 | u8 | how it is compressed: 0 not at all, 1 LZ4 block, 2 Zstd frame, 3 raw Snappy |
//! | n + 1 | 4 | u32 | masked CRC32C of compressed bytes, compression byte, file number, offset |
//!
//! File number and offset of the block in its file (both u64) are not stored with the block:
//! mixing them in means that a whole block which lies in the wrong place, or in the wrong file,
//! does not pass for the right one. An adopted file (`store/sst/adoption`) was written under
//! another number than that of its name: "number of the file" is that one, which the manifest
//! knows.
//!
//! The footer:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 16 | handle | index: the only one, or the top one |
//! | 16 | 16 | handle | filter; all zero when there is none |
//! | 32 | 16 | handle | properties |
//! | 48 | 16 | handle | range deletes; all zero when there are none |
//! | 64 | 8 | u64 | number of the file |
//! | 72 | 4 | u32 | levels of the index, 1 or 2 |
//! | 76 | 4 | u32 | zero |
//! | 80 | 4 | u32 | format version, 1 |
//! | 84 | 4 | u32 | masked CRC32C of bytes 0 to 83 and of the footer's offset (u64) |
//! | 88 | 8 | u64 | magic |
//!
//! A handle in the footer is offset (u64), compressed length without trailer (u32), plain length
//! (u32). All integers are little-endian. Version and magic stay where they are, counted from
//! the end, in every future version.
//!
//! Valid if and only if the magic is right, the version is known, the checksum is right, the
//! number is the one under which the file was opened, the levels of the index are 1 or 2, what is
//! to be zero is, every handle lies before the footer, and every block that is read has the right
//! checksum and uncompresses to the length in its handle.

use crate::base::codec::checksum::{crc32c, crc32c_more, mask};
use crate::base::codec::fixed::{put_u32, put_u64, u32_at, u64_at};
use crate::base::codec::reader::ByteReader;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;

/// Bytes behind every block: compression byte and checksum.
pub const TRAILER_BYTES: usize = 5;

/// Bytes of the footer.
pub const FOOTER_BYTES: usize = 96;

/// The format version of a block-based file.
pub const BLOCK_BASED_VERSION: u32 = 1;

/// The format version of a searchable file, and the newest that this program reads.
pub const SEARCHABLE_VERSION: u32 = 3;

/// Last eight bytes of every sorted file; reads "eskersst" in a dump.
pub const MAGIC: u64 = u64::from_le_bytes(*b"eskersst");

/// Bytes of version, checksum and magic: the part that no version moves.
pub const FIXED_TAIL_BYTES: usize = 16;

/// Bytes of a handle in the footer.
const HANDLE_BYTES: usize = 16;

const _: () = assert!(4 * HANDLE_BYTES + 8 + 4 + 4 + FIXED_TAIL_BYTES == FOOTER_BYTES);

/// Where a block lies, and how long it is before and after uncompressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BlockHandle {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Bytes as compressed, without the trailer.
    pub compressed_len: u32,
    /// Bytes when uncompressed.
    pub plain_len: u32,
}

impl BlockHandle {
    /// Offset of the first byte behind the block and its trailer; `None` beyond 64 bits.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.stored_len())
    }

    /// Bytes that the block and its trailer take in the file.
    pub fn stored_len(&self) -> u64 {
        u64::from(self.compressed_len) + TRAILER_BYTES as u64
    }

    /// Appends the handle as it stands in a footer.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        put_u64(out, self.offset);
        put_u32(out, self.compressed_len);
        put_u32(out, self.plain_len);
    }

    /// Takes a handle of a footer off the front of `reader`.
    pub fn decode(reader: &mut ByteReader<'_>) -> Option<BlockHandle> {
        Some(BlockHandle {
            offset: reader.u64()?,
            compressed_len: reader.u32()?,
            plain_len: reader.u32()?,
        })
    }
}

/// The checksum in the trailer of the block at `offset` of file `number`. `compressed` is the
/// compressed block and the compression byte.
pub fn block_checksum(compressed: &[u8], number: FileNumber, offset: u64) -> u32 {
    let crc = crc32c_more(crc32c(compressed), &number.0.to_le_bytes());
    mask(crc32c_more(crc, &offset.to_le_bytes()))
}

/// What the end of a file says about the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The index: the only one, or the top one.
    pub index: BlockHandle,
    /// The filter, if there is one.
    pub filter: Option<BlockHandle>,
    /// The properties.
    pub props: BlockHandle,
    /// The range deletes, if there are any.
    pub range_deletes: Option<BlockHandle>,
    /// Number of the file.
    pub number: FileNumber,
    /// Whether the index points to partitions of the index instead of data blocks.
    pub is_index_partitioned: bool,
}

impl Footer {
    /// The bytes of the footer that begins at `offset` of its file.
    pub fn encode(&self, offset: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER_BYTES);
        self.index.encode_into(&mut out);
        self.filter.unwrap_or_default().encode_into(&mut out);
        self.props.encode_into(&mut out);
        self.range_deletes.unwrap_or_default().encode_into(&mut out);
        put_u64(&mut out, self.number.0);
        put_u32(&mut out, if self.is_index_partitioned { 2 } else { 1 });
        put_u32(&mut out, 0);
        put_u32(&mut out, BLOCK_BASED_VERSION);
        let checksum = footer_checksum(&out, offset);
        put_u32(&mut out, checksum);
        put_u64(&mut out, MAGIC);
        assert_eq!(out.len(), FOOTER_BYTES);
        out
    }

    /// Reads and checks the footer of the file `number`; it begins at `offset`.
    ///
    /// Errors: `Unsupported` for another version, else `Corruption`.
    pub fn decode(bytes: &[u8; FOOTER_BYTES], number: FileNumber, offset: u64) -> Result<Footer> {
        check_tail(bytes, BLOCK_BASED_VERSION, offset)?;
        let footer = Footer::fields(&mut ByteReader::new(bytes)).ok_or_else(not_a_footer)?;
        check_number(footer.number, number)?;
        let required = [footer.index, footer.props];
        check_handles(required, [footer.filter, footer.range_deletes], offset)?;
        Ok(footer)
    }

    fn fields(reader: &mut ByteReader<'_>) -> Option<Footer> {
        let index = BlockHandle::decode(reader)?;
        let filter = BlockHandle::decode(reader)?;
        let props = BlockHandle::decode(reader)?;
        let range_deletes = BlockHandle::decode(reader)?;
        let number = FileNumber(reader.u64()?);
        let levels = reader.u32()?;
        let zero = reader.u32()?;
        Some(Footer {
            index,
            filter: present(filter),
            props,
            range_deletes: present(range_deletes),
            number,
            is_index_partitioned: match (levels, zero) {
                (1, 0) => false,
                (2, 0) => true,
                _ => return None,
            },
        })
    }
}

/// Checks that a footer is that of the file in whose name it was found.
pub fn check_number(found: FileNumber, number: FileNumber) -> Result<()> {
    if found == number {
        return Ok(());
    }
    let message = format!("is file {found} under the name of {number}");
    Err(Error::corruption(message))
}

/// Checks that all that a footer points to lies in front of it.
pub fn check_handles(
    required: [BlockHandle; 2],
    optional: [Option<BlockHandle>; 2],
    footer_offset: u64,
) -> Result<()> {
    let mut handles = required.into_iter().chain(optional.into_iter().flatten());
    let is_inside = |handle: BlockHandle| handle.end().is_some_and(|end| end <= footer_offset);
    match handles.all(is_inside) {
        true => Ok(()),
        false => Err(Error::corruption("footer points behind the blocks")),
    }
}

/// The handle, unless it stands for a part that is not there.
pub fn present(handle: BlockHandle) -> Option<BlockHandle> {
    (handle != BlockHandle::default()).then_some(handle)
}

/// The format version in a footer; 0, which no file has, when it is not the footer of one.
pub fn version_of(footer: &[u8; FOOTER_BYTES]) -> u32 {
    u32_at(footer, FOOTER_BYTES - FIXED_TAIL_BYTES).unwrap_or(0)
}

/// The number of the file in a footer of any version that this program reads; it was not checked.
pub fn number_of(footer: &[u8; FOOTER_BYTES]) -> FileNumber {
    FileNumber(u64_at(footer, 4 * HANDLE_BYTES).unwrap_or(0))
}

/// Checks what the footers of all versions end with; the footer begins at `offset` of its file.
///
/// Errors: `Unsupported` for another version than `wanted`, else `Corruption`.
pub fn check_tail(footer: &[u8; FOOTER_BYTES], wanted: u32, offset: u64) -> Result<()> {
    let (covered, tail) = footer.split_at(FOOTER_BYTES - FIXED_TAIL_BYTES + 4);
    let mut tail = ByteReader::new(tail);
    let checksum = tail.u32();
    if tail.u64() != Some(MAGIC) {
        return Err(Error::corruption(
            "does not end like a sorted file: it is cut short, or is something else",
        ));
    }
    let version = version_of(footer);
    if version > SEARCHABLE_VERSION {
        return Err(unsupported(format!(
            "sorted file of format {version}, this program reads up to {SEARCHABLE_VERSION}: \
             open it with a newer release"
        )));
    }
    if version == 0 || checksum != Some(footer_checksum(covered, offset)) {
        return Err(Error::corruption("footer checksum differs"));
    }
    if version != wanted {
        return Err(unsupported(format!(
            "sorted file of format {version}, where only format {wanted} can be looked at"
        )));
    }
    Ok(())
}

fn unsupported(message: String) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// The error for a footer whose fields cannot be.
pub fn not_a_footer() -> Error {
    Error::corruption("footer does not make sense")
}

/// The checksum of a footer at `offset`, whose bytes before the checksum are `covered`.
pub fn footer_checksum(covered: &[u8], offset: u64) -> u32 {
    mask(crc32c_more(crc32c(covered), &offset.to_le_bytes()))
}

#[cfg(test)]
mod tests;
