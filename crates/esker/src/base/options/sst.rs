//! Settings of a sorted file.

use crate::base::codec::compress::CompressionType;

/// How the bulk of a keyspace is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Block by block.
    Blocks(CompressionType),
    /// Value by value at the bottom of the tree, by phrases of a dictionary that is trained from
    /// them; block by block with Zstd elsewhere, and where that does not pay.
    Searchable,
}

impl Compression {
    /// Every way of compression, as settings spell them.
    pub const NAMES: [(&str, Compression); 5] = [
        ("none", Compression::Blocks(CompressionType::None)),
        ("lz4", Compression::Blocks(CompressionType::Lz4)),
        ("zstd", Compression::Blocks(CompressionType::Zstd)),
        ("snappy", Compression::Blocks(CompressionType::Snappy)),
        ("searchable", Compression::Searchable),
    ];

    /// The way of compression as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Blocks(compression) => compression.name(),
            Compression::Searchable => "searchable",
        }
    }

    /// How blocks are compressed, in files that are made of them. What a build does not have nobody
    /// chose: searchable takes what there is.
    pub fn of_blocks(self) -> CompressionType {
        match self {
            Compression::Blocks(compression) => compression,
            Compression::Searchable => CompressionType::first_built(&TIGHTEST_FIRST),
        }
    }
}

/// What is taken by itself where little space counts.
const TIGHTEST_FIRST: [CompressionType; 3] = [
    CompressionType::Zstd,
    CompressionType::Lz4,
    CompressionType::Snappy,
];

/// What is taken by itself where little time counts; Zstd still compresses a block in less time
/// than a disk takes for what it saves.
pub const QUICKEST_FIRST: [CompressionType; 3] = [
    CompressionType::Lz4,
    CompressionType::Snappy,
    CompressionType::Zstd,
];

/// How sorted files are written. Files that exist keep the settings they were written with.
#[derive(Clone, Debug, PartialEq)]
pub struct SstOptions {
    /// Plain bytes after which a data block is closed.
    pub block_size_bytes: usize,
    /// Entries between two whole keys inside a block.
    pub restart_interval: usize,
    /// Filter bits per key; 0 writes no filters.
    pub filter_bits_per_key: f64,
    /// How the files of all but the two newest levels are compressed.
    pub compression: Compression,
    /// How blocks of the two newest levels are compressed: they are short-lived.
    pub compression_upper: CompressionType,
    /// Level given to Zstd.
    pub zstd_level: i32,
    /// Whether data blocks carry a hash index for point reads.
    pub block_hash_index: bool,
    /// Index bytes beyond which a file's index is split into two levels.
    pub index_partition_bytes: usize,
    /// Bytes after which an output of flush or compaction is cut into a new file.
    pub file_size_bytes: u64,
    /// Bytes of a keyspace, uncompressed, below which no phrase dictionary is trained for it.
    pub dictionary_min_bytes: u64,
}

impl SstOptions {
    /// What holds where nobody says anything, in a build that has every compressor.
    pub fn of_full_build() -> SstOptions {
        SstOptions {
            block_size_bytes: 4096,
            restart_interval: 16,
            filter_bits_per_key: 10.0,
            compression: Compression::Blocks(CompressionType::Lz4),
            compression_upper: CompressionType::Lz4,
            zstd_level: 1,
            block_hash_index: true,
            index_partition_bytes: 1 << 20,
            file_size_bytes: 32 << 20,
            dictionary_min_bytes: 4 << 20,
        }
    }
}

impl Default for SstOptions {
    fn default() -> SstOptions {
        let quickest = CompressionType::first_built(&QUICKEST_FIRST);
        SstOptions {
            compression: Compression::Blocks(quickest),
            compression_upper: quickest,
            ..SstOptions::of_full_build()
        }
    }
}
