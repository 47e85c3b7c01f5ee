//! What runs where `--benchmarks` does not say, by dialect.

use crate::flags::flag::Dialect;

/// The list of a dialect.
pub fn default_list(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::LevelDb => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,\
             compact,readrandom,readseq,readreverse,fill100K,crc32c,snappycomp,snappyuncomp,\
             zstdcomp,zstduncomp"
        }
        Dialect::RocksDb2013 => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,newiterator,seekrandom,\
             seekrandomwhilewriting,readseq,readreverse,compact,readrandom,multireadrandom,\
             readseq,readreverse,readwhilewriting,readrandomwriterandom,updaterandom,\
             readrandomsmall,fill100K,crc32c,snappycomp,snappyuncomp,acquireload"
        }
        Dialect::RocksDb => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,newiterator,seekrandom,\
             seekrandomwhilewriting,readseq,readreverse,compact,compactall,multireadrandom,\
             readseq,readmissing,readwhilewriting,readrandomwriterandom,updaterandom,\
             xorupdaterandom,appendrandom,fill100K,crc32c,xxhash,xxhash64,xxh3,compress,\
             uncompress,acquireload"
        }
    }
}
