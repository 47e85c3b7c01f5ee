//! Blocks that no index leads to, found by their checksums.
//!
//! A checksum covers the file's number and the block's offset, so bytes that pass for a block at
//! some place are one, but for one chance in 2^32 a try; whoever looks understands the block too
//! before it is believed.

use crate::base::codec::checksum::{crc32c_more, mask};
use crate::base::codec::compress::CompressionType;
use crate::base::codec::fixed::u32_at;
use crate::base::types::error::Result;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::format::{BlockHandle, TRAILER_BYTES, block_checksum};

/// Longest stored block that is looked for, in bytes: far beyond usual sizes, and looking for one
/// takes time linear in it from its front, and quadratic from its end.
const STORED_BYTES_MAX: u64 = 1 << 20;

/// How much a block may be when uncompressed: most fit the first, and clearing more takes time.
const PLAIN_BYTES_MAX: [usize; 2] = [256 << 10, 64 << 20];

/// The block that begins at `start`, as `read` understands it, and where it ends: before `end`.
/// `None` when there is none.
///
/// Errors: those of reading; `NotBuilt` when it is compressed in a way that this build does not
/// have.
pub fn block_at<T>(
    source: &BlockSource,
    start: u64,
    end: u64,
    bytes_max: u64,
    mut read: impl FnMut(Vec<u8>) -> Option<T>,
) -> Result<Option<(T, u64)>> {
    let len = end
        .saturating_sub(start)
        .min(bytes_max)
        .min(STORED_BYTES_MAX);
    let mut bytes = Vec::new();
    source.read_bare(start, len, &mut bytes)?;
    let number = source.bound().0.to_le_bytes();
    let offset = start.to_le_bytes();
    let (mut crc, mut summed) = (0, 0);
    for compressed_len in 0..bytes.len().saturating_sub(TRAILER_BYTES - 1) {
        let Some(compression) = CompressionType::from_byte(bytes[compressed_len]) else {
            continue;
        };
        let covered = compressed_len + 1;
        crc = crc32c_more(crc, &bytes[summed..covered]);
        summed = covered;
        let whole = mask(crc32c_more(crc32c_more(crc, &number), &offset));
        if u32_at(&bytes, covered) == Some(whole)
            && let Some(found) =
                uncompress(compression, &bytes[..compressed_len])?.and_then(&mut read)
        {
            return Ok(Some((
                found,
                start + (compressed_len + TRAILER_BYTES) as u64,
            )));
        }
    }
    Ok(None)
}

/// The block that ends at `end`, as `read` understands it, and its handle: it begins not before
/// `start`. `None` when there is none.
///
/// Errors: as [`block_at`].
pub fn block_before<T>(
    source: &BlockSource,
    start: u64,
    end: u64,
    mut read: impl FnMut(Vec<u8>) -> Option<T>,
) -> Result<Option<(T, BlockHandle)>> {
    let len = end.saturating_sub(start).min(STORED_BYTES_MAX / 2);
    let mut bytes = Vec::new();
    source.read_bare(end - len, len, &mut bytes)?;
    let Some(compressed_end) = bytes.len().checked_sub(TRAILER_BYTES) else {
        return Ok(None);
    };
    let (Some(compression), Some(stored)) = (
        CompressionType::from_byte(bytes[compressed_end]),
        u32_at(&bytes, compressed_end + 1),
    ) else {
        return Ok(None);
    };
    for first in (0..compressed_end).rev() {
        let offset = end - len + first as u64;
        if block_checksum(&bytes[first..=compressed_end], source.bound(), offset) == stored
            && let Some(plain) = uncompress(compression, &bytes[first..compressed_end])?
        {
            let length = |len: usize| u32::try_from(len).expect("it is at most 64 MiB");
            let handle = BlockHandle {
                offset,
                compressed_len: length(compressed_end - first),
                plain_len: length(plain.len()),
            };
            if let Some(found) = read(plain) {
                return Ok(Some((found, handle)));
            }
        }
    }
    Ok(None)
}

// How long it is when uncompressed stands in the index only. A block that this build cannot
// uncompress is there all the same, and must not pass for a lost one.
fn uncompress(compression: CompressionType, compressed: &[u8]) -> Result<Option<Vec<u8>>> {
    compression.check_built()?;
    Ok(PLAIN_BYTES_MAX.into_iter().find_map(|plain_len_max| {
        let mut plain = Vec::new();
        let uncompressed = compression.uncompress_up_to(compressed, plain_len_max, &mut plain);
        uncompressed.ok().map(|()| plain)
    }))
}

#[cfg(test)]
mod tests;
