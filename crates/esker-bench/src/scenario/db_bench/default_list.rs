//! What runs where `--benchmarks` does not say, by dialect.

use crate::flags::flag::Dialect;

/// The list of a dialect: LevelDB's whole, and of RocksDB's what is done here.
pub fn default_list(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::LevelDb => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,\
             compact,readrandom,readseq,readreverse,fill100K,crc32c,snappycomp,snappyuncomp,\
             zstdcomp,zstduncomp"
        }
        Dialect::RocksDb2013 => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,seekrandom,readseq,readreverse,\
             compact,readrandom,multireadrandom,readseq,readreverse,readwhilewriting,\
             updaterandom,fill100K,crc32c,snappycomp,snappyuncomp,acquireload"
        }
        Dialect::RocksDb => {
            "fillseq,fillsync,fillrandom,overwrite,readrandom,seekrandom,readseq,readreverse,\
             compact,multireadrandom,readseq,readmissing,readwhilewriting,updaterandom,fill100K,\
             crc32c,acquireload"
        }
    }
}
