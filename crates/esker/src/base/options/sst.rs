//! Settings of a sorted file.

use crate::base::codec::compress::Compression;

/// How sorted files are written. Files that exist keep the settings they were written with.
#[derive(Clone, Debug, PartialEq)]
pub struct SstOptions {
    /// Plain bytes after which a data block is closed.
    pub block_size_bytes: usize,
    /// Entries between two whole keys inside a block.
    pub restart_interval: usize,
    /// Filter bits per key; 0 writes no filters.
    pub filter_bits_per_key: f64,
    /// How blocks are packed.
    pub compression: Compression,
    /// How blocks of the two newest levels are packed: they are short-lived.
    pub compression_upper: Compression,
    /// Level given to Zstd.
    pub zstd_level: i32,
    /// Whether data blocks carry a hash index for point reads.
    pub block_hash_index: bool,
    /// Index bytes beyond which a file's index is split into two levels.
    pub index_partition_bytes: usize,
    /// Bytes after which an output of flush or compaction is cut into a new file.
    pub file_size_bytes: u64,
}

impl Default for SstOptions {
    fn default() -> SstOptions {
        SstOptions {
            block_size_bytes: 4096,
            restart_interval: 16,
            filter_bits_per_key: 10.0,
            compression: Compression::Lz4,
            compression_upper: Compression::Lz4,
            zstd_level: 1,
            block_hash_index: true,
            index_partition_bytes: 1 << 20,
            file_size_bytes: 32 << 20,
        }
    }
}
