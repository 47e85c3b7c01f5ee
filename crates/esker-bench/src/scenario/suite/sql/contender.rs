//! The storage engines that hold the table, and what each one's server is told.

use clap::ValueEnum;

/// A storage engine with the packing that its tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Contender {
    /// Ours
    Esker,
    /// InnoDB as it comes: pages are not packed
    Innodb,
    /// InnoDB with its pages packed by zlib
    InnodbPacked,
    /// MyRocks, all blocks packed by LZ4
    MyrocksLz4,
    /// MyRocks, blocks packed by LZ4 and those of the last level by Zstandard
    MyrocksZstd,
}

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of the server; a power cut may take the last second.
    Buffered,
    /// A power cut.
    Synced,
    /// A power cut, and it is in the server's binary log, which is synced as well.
    SyncedWithBinlog,
}

/// Bytes of a buffer pool that only the server's own tables use.
const POOL_OF_OTHERS: u64 = 8 << 20;

/// Bytes of InnoDB's redo log: more than a memtable, so that a load is not held up by it.
const REDO_BYTES: u64 = 256 << 20;

/// What every server is told besides.
const COMMON: [&str; 9] = [
    "--skip-networking",
    "--skip-name-resolve",
    "--plugin-maturity=experimental",
    "--performance-schema=OFF",
    "--query-cache-type=0",
    "--max-connections=64",
    "--key-buffer-size=1M",
    "--aria-pagecache-buffer-size=1M",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
];

impl Contender {
    /// All of them, ours first.
    pub const ALL: [Contender; 5] = [
        Contender::Esker,
        Contender::Innodb,
        Contender::InnodbPacked,
        Contender::MyrocksLz4,
        Contender::MyrocksZstd,
    ];

    /// Its name in tables and records.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Esker => "Esker",
            Contender::Innodb => "InnoDB",
            Contender::InnodbPacked => "InnoDB packed",
            Contender::MyrocksLz4 => "MyRocks lz4",
            Contender::MyrocksZstd => "MyRocks zstd",
        }
    }

    /// The name of its directory.
    pub fn word(self) -> &'static str {
        match self {
            Contender::Esker => "esker",
            Contender::Innodb => "innodb",
            Contender::InnodbPacked => "innodb-packed",
            Contender::MyrocksLz4 => "myrocks-lz4",
            Contender::MyrocksZstd => "myrocks-zstd",
        }
    }

    /// What the table of mixed transactions is told: it has no text to be packed as such.
    pub fn mix_words(self) -> &'static str {
        match self {
            Contender::Esker => "ENGINE=ESKER",
            _ => self.table_words(),
        }
    }

    /// What tables of texts are told: the engine, and how they are packed where a table says that.
    pub fn table_words(self) -> &'static str {
        match self {
            Contender::Esker => "ENGINE=ESKER COMPRESSION=searchable",
            Contender::Innodb => "ENGINE=InnoDB",
            Contender::InnodbPacked => "ENGINE=InnoDB PAGE_COMPRESSED=1",
            Contender::MyrocksLz4 | Contender::MyrocksZstd => "ENGINE=ROCKSDB",
        }
    }

    /// The plugin that its server loads; `None` where the server has the engine.
    pub fn plugin(self) -> Option<&'static str> {
        match self {
            Contender::Esker => Some("ha_esker"),
            Contender::Innodb | Contender::InnodbPacked => None,
            Contender::MyrocksLz4 | Contender::MyrocksZstd => Some("ha_rocksdb"),
        }
    }

    /// The directory below the server's that holds its tables, logs included. Of InnoDB it is that
    /// of the database: its redo log has one size whatever is stored, and is not counted.
    pub fn files(self) -> &'static str {
        match self {
            Contender::Esker => "#esker",
            Contender::Innodb | Contender::InnodbPacked => "bench",
            Contender::MyrocksLz4 | Contender::MyrocksZstd => "#rocksdb",
        }
    }

    /// What has it write down and merge all that is due, where a statement does that.
    pub fn settling(self) -> &'static [&'static str] {
        match self {
            Contender::Esker | Contender::Innodb | Contender::InnodbPacked => &[],
            Contender::MyrocksLz4 | Contender::MyrocksZstd => &[
                "SET GLOBAL rocksdb_force_flush_memtable_now = 1",
                "SET GLOBAL rocksdb_compact_cf = 'default'",
            ],
        }
    }

    /// What has it write down by itself what is in memory alone; others do so untold.
    pub fn flushing(self) -> Option<&'static str> {
        match self {
            Contender::Innodb | Contender::InnodbPacked => Some(
                "SET GLOBAL innodb_max_dirty_pages_pct = 0, innodb_io_capacity_max = 20000, \
                     innodb_io_capacity = 20000",
            ),
            Contender::Esker | Contender::MyrocksLz4 | Contender::MyrocksZstd => None,
        }
    }

    /// A question whose one number is how much it has still to write down or merge.
    pub fn pending(self) -> &'static str {
        match self {
            Contender::Esker => {
                "SELECT VARIABLE_VALUE FROM INFORMATION_SCHEMA.GLOBAL_STATUS \
                 WHERE VARIABLE_NAME = 'ESKER_PENDING_WORK'"
            }
            Contender::Innodb | Contender::InnodbPacked => {
                "SELECT VARIABLE_VALUE FROM INFORMATION_SCHEMA.GLOBAL_STATUS \
                 WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_PAGES_DIRTY'"
            }
            Contender::MyrocksLz4 | Contender::MyrocksZstd => {
                "SELECT SUM(VALUE) FROM INFORMATION_SCHEMA.ROCKSDB_CFSTATS WHERE STAT_TYPE IN \
                 ('COMPACTION_PENDING', 'MEM_TABLE_FLUSH_PENDING', 'NUM_IMMUTABLE_MEM_TABLE')"
            }
        }
    }

    /// What its server is told: everything that is alike, then that engine's memory, `cache_bytes`,
    /// and durability.
    pub fn options(self, cache_bytes: u64, durability: Durability) -> Vec<String> {
        let mut options: Vec<String> = COMMON.map(str::to_owned).to_vec();
        options.extend(self.own_options(cache_bytes, durability));
        if durability == Durability::SyncedWithBinlog {
            let log = ["--log-bin=binlog", "--binlog-format=ROW", "--sync-binlog=1"];
            options.extend(log.map(str::to_owned));
        }
        options
    }

    fn own_options(self, cache_bytes: u64, durability: Durability) -> Vec<String> {
        let is_synced = durability != Durability::Buffered;
        let pool = match self {
            Contender::Innodb | Contender::InnodbPacked => cache_bytes,
            _ => POOL_OF_OTHERS,
        };
        let mut options = vec![
            format!("--innodb-buffer-pool-size={pool}"),
            format!("--innodb-log-file-size={REDO_BYTES}"),
            "--innodb-flush-method=O_DIRECT".into(),
        ];
        let at_commit = if is_synced { 1 } else { 2 };
        match self {
            Contender::Esker => {
                let word = if is_synced { "sync" } else { "buffered" };
                options.extend([
                    "--ignore-db-dirs=#esker".into(),
                    format!("--esker-memory-limit={cache_bytes}"),
                    format!("--esker-durability={word}"),
                ]);
            }
            Contender::Innodb | Contender::InnodbPacked => {
                options.push(format!("--innodb-flush-log-at-trx-commit={at_commit}"));
                if !is_synced {
                    // Else its log passes the page cache by, and each commit waits for the disk.
                    options.push("--innodb-log-file-buffering=ON".into());
                }
            }
            Contender::MyrocksLz4 | Contender::MyrocksZstd => {
                options.extend([
                    "--ignore-db-dirs=#rocksdb".into(),
                    format!("--rocksdb-block-cache-size={cache_bytes}"),
                    format!("--rocksdb-flush-log-at-trx-commit={at_commit}"),
                    format!("--rocksdb-default-cf-options={}", self.family()),
                ]);
            }
        }
        options
    }

    /// What MyRocks is told of its column family: blocks of 16 KiB as in the document, a filter as
    /// everybody has one, the packing, and memtables of one eighth of ours at the least.
    fn family(self) -> String {
        let last = match self {
            Contender::MyrocksZstd => "kZSTD",
            _ => "kLZ4Compression",
        };
        format!(
            "write_buffer_size=64m;compression=kLZ4Compression;bottommost_compression={last};\
             block_based_table_factory={{block_size=16384;filter_policy=bloomfilter:10:false;\
             cache_index_and_filter_blocks=1}}"
        )
    }
}

#[cfg(test)]
mod tests;
