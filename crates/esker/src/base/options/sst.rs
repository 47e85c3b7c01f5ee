//! Settings of a sorted file.

use crate::base::codec::compress::Compression;

/// How the bulk of a keyspace is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Block by block.
    Blocks(Compression),
    /// Value by value at the bottom of the tree, by phrases of a dictionary that is trained from
    /// them; block by block with Zstd elsewhere, and where that does not pay.
    Searchable,
}

impl Packing {
    /// Every way of packing, as settings spell them.
    pub const NAMES: [(&str, Packing); 5] = [
        ("none", Packing::Blocks(Compression::None)),
        ("lz4", Packing::Blocks(Compression::Lz4)),
        ("zstd", Packing::Blocks(Compression::Zstd)),
        ("snappy", Packing::Blocks(Compression::Snappy)),
        ("searchable", Packing::Searchable),
    ];

    /// The way of packing as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Blocks(compression) => compression.name(),
            Packing::Searchable => "searchable",
        }
    }

    /// How blocks are packed, in files that are made of them. What a build does not have nobody
    /// chose: searchable takes what there is.
    pub fn of_blocks(self) -> Compression {
        match self {
            Packing::Blocks(compression) => compression,
            Packing::Searchable => Compression::first_built(&TIGHTEST_FIRST),
        }
    }
}

/// What is taken by itself where little space counts.
const TIGHTEST_FIRST: [Compression; 3] = [Compression::Zstd, Compression::Lz4, Compression::Snappy];

/// What is taken by itself where little time counts; Zstd still packs a block in less time than a
/// disk takes for what it saves.
pub const QUICKEST_FIRST: [Compression; 3] =
    [Compression::Lz4, Compression::Snappy, Compression::Zstd];

/// How sorted files are written. Files that exist keep the settings they were written with.
#[derive(Clone, Debug, PartialEq)]
pub struct SstOptions {
    /// Plain bytes after which a data block is closed.
    pub block_size_bytes: usize,
    /// Entries between two whole keys inside a block.
    pub restart_interval: usize,
    /// Filter bits per key; 0 writes no filters.
    pub filter_bits_per_key: f64,
    /// How the files of all but the two newest levels are packed.
    pub compression: Packing,
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
    /// Bytes of a keyspace, unpacked, below which no phrase dictionary is trained for it.
    pub dictionary_min_bytes: u64,
}

impl SstOptions {
    /// What holds where nobody says anything, in a build that has every compressor.
    pub fn of_full_build() -> SstOptions {
        SstOptions {
            block_size_bytes: 4096,
            restart_interval: 16,
            filter_bits_per_key: 10.0,
            compression: Packing::Blocks(Compression::Lz4),
            compression_upper: Compression::Lz4,
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
        let quickest = Compression::first_built(&QUICKEST_FIRST);
        SstOptions {
            compression: Packing::Blocks(quickest),
            compression_upper: quickest,
            ..SstOptions::of_full_build()
        }
    }
}
