//! Settings that cannot work, or not together, are refused by name, with the remedy.

use crate::base::codec::compress::CompressionType;
use crate::base::options::automatic::{BUFFER_PART_MIN, LOG_PART_MIN};
use crate::base::options::catalog::{db_values, find, keyspace_values};
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::quantity::show_size;
use crate::base::options::sst::{Compression, SstOptions};
use crate::base::types::error::{Error, Result};

/// A size that must not exceed a part of another.
struct Bound {
    lower: (&'static str, u64),
    upper: (&'static str, u64),
    /// The lower size must fit this many times into the upper.
    times: u64,
    why: &'static str,
}

/// `Invalid` when the settings of a database are out of range or contradict each other.
pub fn check_db(db: &DbOptions) -> Result<()> {
    for (setting, value) in db_values(db) {
        setting.check(&value)?;
    }
    check_memory(db.memory_limit, db.memory_limit_min)?;
    if db.error_if_exists && !db.create_if_missing {
        return Err(Error::invalid(
            "`error_if_exists` is true and `create_if_missing` is false, so that nothing can ever \
             be opened: change one of them",
        ));
    }
    let wal_total = ("wal.total_size", db.wal_total_bytes);
    hold(&Bound {
        lower: ("wal.segment_size", db.wal_segment_bytes),
        upper: wal_total,
        times: 1,
        why: "a log is at least one segment long",
    })?;
    check_buffer(db)?;
    if db.disk_limit > 0 {
        hold(&Bound {
            lower: wal_total,
            upper: ("disk_limit", db.disk_limit),
            times: LOG_PART_MIN,
            why: "the log would leave too little room for sorted files",
        })?;
    }
    Ok(())
}

/// `Invalid` when the memory limit is below the least one.
pub fn check_memory(limit_bytes: u64, least_bytes: u64) -> Result<()> {
    if limit_bytes >= least_bytes {
        return Ok(());
    }
    let setting = find("memory_limit")?;
    let given = show_size(limit_bytes);
    Err(setting.shape.refusal(setting.name, setting.example, &given))
}

fn check_buffer(db: &DbOptions) -> Result<()> {
    let buffer = ("value_buffer_size", db.value_buffer_bytes);
    hold(&Bound {
        lower: buffer,
        upper: ("memory_limit", db.memory_limit),
        times: BUFFER_PART_MIN,
        why: "memtables and caches need the other half",
    })?;
    if db.value_buffer_bytes == 0 || db.value_flush_bytes < db.value_buffer_bytes {
        return Ok(());
    }
    let (flush, size) = (db.value_flush_bytes, db.value_buffer_bytes);
    Err(Error::invalid(format!(
        "`value_flush_bytes` ({}) must be less than `value_buffer_size` ({}): writers would wait \
         for a flush that nothing starts; lower `value_flush_bytes` to {} or raise \
         `value_buffer_size` to {}",
        show_size(flush),
        show_size(size),
        show_size(size / 2),
        show_size(flush.saturating_mul(2)),
    )))
}

/// `Invalid` when the settings of a keyspace are out of range, or contradict each other or those
/// of the database. A memtable size that is left to the engine is right by itself.
pub fn check_keyspace(db: &DbOptions, keyspace: &KeyspaceOptions) -> Result<()> {
    for (setting, value) in keyspace_values(keyspace) {
        setting.check(&value)?;
    }
    check_own_clock(keyspace)?;
    check_built(&keyspace.sst)?;
    let memory = ("memory_limit", db.memory_limit);
    let memtable = ("memtable.size", bytes(keyspace.memtable_bytes));
    let block = ("sst.block_size", bytes(keyspace.sst.block_size_bytes));
    let file = ("sst.file_size", keyspace.sst.file_size_bytes);
    // What is left to the engine, and not filled in yet, is right by itself.
    let buffer_bytes = match db.value_buffer_bytes {
        0 => u64::MAX,
        chosen => chosen,
    };
    let bounds = [
        Bound {
            lower: memtable,
            upper: memory,
            times: 4,
            why: "one live and two sealed memtables must leave room for reads",
        },
        Bound {
            lower: memtable,
            upper: ("wal.total_size", db.wal_total_bytes),
            times: 1,
            why: "the log would be full before the memtable is",
        },
        Bound {
            lower: ("value_log.threshold", bytes(keyspace.value_threshold_bytes)),
            upper: ("value_buffer_size", buffer_bytes),
            times: 1,
            why: "not one large value would fit into the memory for them",
        },
        Bound {
            lower: block,
            upper: memory,
            times: 16,
            why: "the block cache must hold more than a handful of blocks",
        },
        Bound {
            lower: block,
            upper: file,
            times: 1,
            why: "a file is at least one block long",
        },
        Bound {
            lower: file,
            upper: (
                "compaction.base_level",
                keyspace.compaction.base_level_bytes,
            ),
            times: 1,
            why: "a level that cannot hold one file is always too full",
        },
    ];
    bounds.iter().try_for_each(hold)
}

// The time comes with marks, and is kept as they are.
fn check_own_clock(keyspace: &KeyspaceOptions) -> Result<()> {
    match keyspace.has_own_clock && !keyspace.is_unlogged {
        true => Err(Error::invalid(
            "`own_clock` is true and `unlogged` is false: the time comes with marks, which a \
             logged keyspace does not have; create the keyspace with `unlogged` too, or without \
             `own_clock`",
        )),
        false => Ok(()),
    }
}

/// `Invalid` when files are to be compressed in a way that this build does not have.
pub fn check_built(sst: &SstOptions) -> Result<()> {
    let lacking = missing_compression(sst);
    lacking.map_or(Ok(()), |(setting, missing)| {
        let missing = missing.name();
        let built = CompressionType::built().map(|(name, _)| format!("`{name}`"));
        let built: Vec<_> = built.collect();
        Err(Error::invalid(format!(
            "`{setting}` cannot be `{missing}`: this build of esker does not have it; build it \
             with the feature `{missing}`, or choose {}",
            built.join(" or ")
        )))
    })
}

/// The first setting that names a way of compression which this build does not have, and that way.
pub fn missing_compression(sst: &SstOptions) -> Option<(&'static str, CompressionType)> {
    let blocks = match sst.compression {
        Compression::Blocks(way) => way,
        Compression::Searchable => CompressionType::None,
    };
    let named = [
        ("compression", blocks),
        ("sst.compression_upper", sst.compression_upper),
    ];
    named.into_iter().find(|(_, way)| !way.is_built())
}

fn bytes(size: usize) -> u64 {
    u64::try_from(size).expect("the ranges checked before end far below")
}

#[track_caller]
fn hold(bound: &Bound) -> Result<()> {
    let ((lower, lower_bytes), (upper, upper_bytes)) = (bound.lower, bound.upper);
    if lower_bytes.saturating_mul(bound.times) <= upper_bytes {
        return Ok(());
    }
    let part = match bound.times {
        1 => String::new(),
        2 => "half of ".into(),
        4 => "a quarter of ".into(),
        times => format!("1/{times} of "),
    };
    Err(Error::invalid(format!(
        "`{lower}` ({}) must not exceed {part}`{upper}` ({}): {}; lower `{lower}` to {} or raise \
         `{upper}` to {}",
        show_size(lower_bytes),
        show_size(upper_bytes),
        bound.why,
        show_size(upper_bytes / bound.times),
        show_size(lower_bytes.saturating_mul(bound.times)),
    )))
}

#[cfg(test)]
mod tests;
