//! Every setting of a database.

use crate::base::options::codec::{Shape, Unit};
use crate::base::options::db::DbOptions;
use crate::base::options::setting::{Access, Field, Rank, Setting};

// The field of `DbOptions` in which a setting lives.
macro_rules! field {
    ($field:ident) => {
        Access::Db {
            get: |options| options.$field.to_value(),
            set: |options, value| options.$field = Field::from_value(value),
        }
    };
}

/// Largest size that can be set: 1 PiB is beyond any one machine and far from overflow.
const SIZE_MAX: i64 = 1 << 50;

const fn size(min: i64, max: i64, zero: Option<&'static str>) -> Shape {
    Shape::Whole {
        unit: Unit::Bytes,
        min,
        max,
        zero,
    }
}

/// The settings that most users meet first, then the experts'.
pub(crate) static DB_SETTINGS: &[Setting] = &[
    Setting {
        name: "profile",
        rank: Rank::Normal,
        is_live: false,
        shape: Shape::Choice(&[
            "balanced",
            "read_heavy",
            "write_heavy",
            "small_space",
            "bulk_load",
        ]),
        example: "read_heavy",
        doc: "What the database is mostly for; chooses the defaults of other settings.",
        reason: "The engine sees what is asked of it now, not what will be.",
        access: Access::Profile,
    },
    Setting {
        name: "memory_limit",
        rank: Rank::Normal,
        is_live: true,
        shape: Shape::Memory {
            min: DbOptions::MEMORY_LIMIT_MIN as i64,
            tiny: DbOptions::MEMORY_LIMIT_TINY as i64,
            max: SIZE_MAX,
        },
        example: "1GiB",
        doc: "Bytes that memtables, caches, filters, indexes, iterators and compactions share.",
        reason: "Only the user knows what else the machine has to hold.",
        access: field!(memory_limit),
    },
    Setting {
        name: "background_threads",
        rank: Rank::Normal,
        is_live: false,
        shape: Shape::Whole {
            unit: Unit::Count,
            min: 1,
            max: 256,
            zero: Some("auto"),
        },
        example: "4",
        doc: "Threads that compact; `auto` takes one for each core. Flushes have two more, while \
              there are any.",
        reason: "Only the user knows what else the machine has to do.",
        access: field!(background_threads),
    },
    Setting {
        name: "durability",
        rank: Rank::Normal,
        is_live: true,
        shape: Shape::Choice(&["memory", "buffered", "sync"]),
        example: "sync",
        doc: "What a write survives that does not say otherwise: nothing, a killed process, or \
              a power cut.",
        reason: "What a lost write costs is known to nobody but the user.",
        access: field!(durability),
    },
    Setting {
        name: "disk_limit",
        rank: Rank::Normal,
        is_live: true,
        shape: size(16 << 20, SIZE_MAX, Some("none")),
        example: "100GiB",
        doc: "Bytes that sorted files, log and value log may grow to; then writes are refused and \
              reads go on.",
        reason: "Only the user knows what else the disk has to hold.",
        access: field!(disk_limit),
    },
    Setting {
        name: "max_space_amp",
        rank: Rank::Normal,
        is_live: true,
        shape: Shape::Decimal {
            min: 1.05,
            max: 100.0,
        },
        example: "1.5",
        doc: "How many times its live bytes the value log may have before the rest is collected.",
        reason: "Less space costs more moving of values, and which is dearer depends on the disk.",
        access: field!(max_space_amp),
    },
    Setting {
        name: "create_if_missing",
        rank: Rank::Expert,
        is_live: false,
        shape: Shape::Flag,
        example: "false",
        doc: "Whether opening a directory without a database creates one.",
        reason: "A mistyped path shall be an error for those who know that the database exists.",
        access: field!(create_if_missing),
    },
    Setting {
        name: "error_if_exists",
        rank: Rank::Expert,
        is_live: false,
        shape: Shape::Flag,
        example: "true",
        doc: "Whether opening an existing database is an error.",
        reason: "An import shall not mix with what is there already.",
        access: field!(error_if_exists),
    },
    Setting {
        name: "disk.free_min",
        rank: Rank::Expert,
        is_live: true,
        shape: size(1 << 20, SIZE_MAX, Some("none")),
        example: "1GiB",
        doc: "Bytes of free disk below which writes are refused before anything breaks.",
        reason: "How fast others fill the same disk cannot be seen from here.",
        access: field!(free_disk_min),
    },
    Setting {
        name: "wal.segment_size",
        rank: Rank::Expert,
        is_live: false,
        shape: size(64 << 10, 1 << 30, None),
        example: "64MiB",
        doc: "Bytes to which segments of the write-ahead log grow, from 1 MiB in each session; \
              space is given back in whole segments.",
        reason: "Small segments suit small disks, large ones fast writers.",
        access: field!(wal_segment_bytes),
    },
    Setting {
        name: "wal.total_size",
        rank: Rank::Expert,
        is_live: true,
        shape: size(128 << 10, SIZE_MAX, None),
        example: "1GiB",
        doc: "Bytes of log after which the keyspace that pins the oldest segment is flushed.",
        reason: "It bounds the time to open after a crash, and how long that may be is a wish.",
        access: field!(wal_total_bytes),
    },
    Setting {
        name: "value_log.segment_size",
        rank: Rank::Expert,
        is_live: false,
        shape: size(64 << 10, 2 << 30, None),
        example: "256MiB",
        doc: "Bytes of one segment of the value log; a larger value gets one of its own.",
        reason: "Space is allocated and given back in whole segments; small ones suit small disks.",
        access: field!(value_segment_bytes),
    },
    Setting {
        name: "value_buffer_size",
        rank: Rank::Expert,
        is_live: true,
        shape: size(128 << 10, SIZE_MAX, Some("auto")),
        example: "64MiB",
        doc: "Bytes of memory for large values: those not written yet, and the newest others.",
        reason: "How soon a value is read or overwritten after it was written, the engine cannot \
                 foresee.",
        access: field!(value_buffer_bytes),
    },
    Setting {
        name: "value_flush_bytes",
        rank: Rank::Expert,
        is_live: true,
        shape: size(64 << 10, SIZE_MAX, Some("auto")),
        example: "16MiB",
        doc: "Bytes of large values not written, or not synced (but for those of unlogged \
              keyspaces, which their memtable's flush syncs), that start a flush of them.",
        reason: "After a crash so much is read and checked at the most, and how long that may take \
                 is a wish.",
        access: field!(value_flush_bytes),
    },
    Setting {
        name: "value_flush_interval",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Whole {
            unit: Unit::Seconds,
            min: 1,
            max: u32::MAX as i64,
            zero: Some("none"),
        },
        example: "1s",
        doc: "Time after which large values are written and synced, however few they are.",
        reason: "How much time a power cut may take back is the user's to say.",
        access: field!(value_flush_interval_s),
    },
    Setting {
        name: "files.open_max",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Whole {
            unit: Unit::Count,
            min: 16,
            max: 1 << 20,
            zero: None,
        },
        example: "1000",
        doc: "Sorted files that are kept open at the same time, a quarter as many segments of the \
              value log, and half of these again that unlogged keyspaces write to; fewer where the \
              process may not open so many.",
        reason: "The process shares its file descriptors with code that the engine cannot see.",
        access: field!(open_files_max),
    },
    Setting {
        name: "mapped_reads",
        rank: Rank::Expert,
        is_live: false,
        shape: Shape::Flag,
        example: "true",
        doc: "Whether searchable files are read through memory maps instead of by calls.",
        reason: "It is quicker, and what the disk cannot read then ends the process: whether that \
                 may be is for whoever runs it to say.",
        access: field!(mapped_reads),
    },
    Setting {
        name: "compaction.rate_limit",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Whole {
            unit: Unit::BytesPerSecond,
            min: 64 << 10,
            max: SIZE_MAX,
            zero: Some("none"),
        },
        example: "100MiB/s",
        doc: "Bytes per second that flushes and compactions together may write.",
        reason: "Others may need the same disk, and pay for its wear.",
        access: field!(compaction_rate_bytes),
    },
];
