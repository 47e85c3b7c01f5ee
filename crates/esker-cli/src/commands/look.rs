//! Looking at a database as a whole: stats and levels.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::{Db, Keyspace};
use esker_bench::table::Table;
use serde_json::{Map, Value, json};

use crate::commands::prepared;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;
use crate::picture::map::{FileBox, KeyspaceMap, RunRow};
use crate::picture::{page, strip, svg};
use crate::quantity;
use crate::text::show_hex;

/// Show what the database knows about itself
#[derive(Debug, Args)]
#[command(after_help = "\
Shows the state, the levels of every keyspace, who holds how much memory, the log, snapshots and
stalls; with --json also every counter and setting. The database is opened for reading, and so its
state is read-only: memory, snapshots and stalls of a process that writes are told by its own
`db.stats()`.

Examples:
  esker stats
  esker stats --counters                what the engine has counted since it was opened
  esker stats --json | jq .keyspaces
  esker stats --prometheus > esker.prom")]
pub struct Stats {
    /// Show every counter, too
    #[arg(long)]
    counters: bool,
    /// Everything in the text format of Prometheus
    #[arg(long, conflicts_with = "counters")]
    prometheus: bool,
}

/// Prints the statistics.
pub fn stats(shared: &GlobalFlags, args: &Stats) -> Outcome {
    let db = open::database_for_reading(shared)?;
    let stats = db.stats();
    let mut out = Out::lock();
    if args.prometheus {
        out.text(stats.to_prometheus())?;
        return Ok(out.finish()?);
    }
    if shared.json {
        out.json_page(&stats_to_json(&stats))?;
        return Ok(out.finish()?);
    }
    out.text(stats.to_string())?;
    if args.counters {
        let heads = ["counter", "value", "what it counts"];
        let mut table = Table::new(&heads).with_sides("<><");
        for (name, doc, value) in &stats.counters {
            let value = match seconds(name, *value) {
                Some(seconds) => format!("{seconds:.3}"),
                None => quantity::count(*value),
            };
            table.add([(*name).into(), value, (*doc).into()]);
        }
        out.line("")?;
        for line in table.lines() {
            out.line(line)?;
        }
    }
    Ok(out.finish()?)
}

/// The value of a counter of time: named after seconds, as metrics are, and kept in nanoseconds.
fn seconds(name: &str, value: u64) -> Option<f64> {
    name.ends_with("_seconds_total")
        .then_some(value as f64 / 1e9)
}

fn snapshots_to_json(stats: &esker::Stats) -> Vec<Value> {
    let snapshots = stats.snapshots.iter().map(|snapshot| {
        json!({
            "seqno": snapshot.seqno,
            "age_seconds": snapshot.age.as_secs_f64(),
            "owner": snapshot.owner.to_string(),
        })
    });
    snapshots.collect()
}

fn transactions_to_json(stats: &esker::Stats) -> Vec<Value> {
    let transactions = stats.transactions.iter().map(|transaction| {
        json!({
            "number": transaction.number,
            "isolation": transaction.isolation.name(),
            "mode": transaction.mode.name(),
            "age_seconds": transaction.age.as_secs_f64(),
            "owner": transaction.owner.as_deref(),
            "locks": transaction.lock_count,
            "waits_for": transaction.waits_for.as_ref().map(wait_to_json),
        })
    });
    transactions.collect()
}

fn wait_to_json(wait: &esker::LockWaitStats) -> Value {
    let key = wait.key.as_ref().map(|key| key.escape_ascii().to_string());
    json!({
        "keyspace": wait.keyspace,
        "key": key,
        "waited_seconds": wait.waited.as_secs_f64(),
        "transactions": wait.transactions,
    })
}

fn locks_to_json(locks: &esker::LockStats) -> Value {
    json!({
        "held": locks.held_count,
        "holders": locks.holder_count,
        "waiting": locks.waiting_count,
        "waits": locks.wait_count,
        "waited_seconds": locks.waited.as_secs_f64(),
        "deadlocks": locks.deadlock_count,
        "timeouts": locks.timeout_count,
        "table_bytes": locks.table_bytes,
    })
}

fn stats_to_json(stats: &esker::Stats) -> Value {
    let memory = stats
        .memory
        .iter()
        .map(|(owner, bytes)| ((*owner).to_owned(), json!(bytes)));
    let counters = stats
        .counters
        .iter()
        .map(|(name, _, value)| ((*name).to_owned(), json!(value)));
    let settings = stats.settings.iter().map(|(name, text, origin)| {
        (
            (*name).to_owned(),
            json!({ "value": text, "origin": origin }),
        )
    });
    let left_out = stats.left_out.iter().map(|file| {
        json!({
            "file": file.file,
            "error": file.error,
            "tries": file.try_count,
            "next_try_seconds": file.next_try.map(|delay| delay.as_secs_f64()),
        })
    });
    json!({
        "state": stats.state,
        "disk_bytes": stats.disk_bytes,
        "memory_limit_bytes": stats.memory_limit,
        "memory_bytes": memory.collect::<Map<_, _>>(),
        "wal_segments": stats.wal_segment_count,
        "torn_bytes": stats.torn_bytes,
        "torn_records": stats.torn_records,
        "value_log": {
            "segments": stats.values.segment_count,
            "bytes": stats.values.size_bytes,
            "live_bytes": stats.values.live_bytes,
            "dead_bytes": stats.values.dead_bytes,
            "pinned_bytes": stats.values.pinned_bytes,
            "recent_bytes": stats.values.recent_bytes,
            "buffer_bytes": stats.values.buffer_bytes,
            "unflushed_bytes": stats.values.unflushed_bytes,
            "packets": stats.values.packet_count,
            "unwritten_bytes": stats.values.unwritten_bytes,
            "waits": stats.values.wait_count,
        },
        "open_files": stats.open_file_count,
        "pinned_files": stats.pinned_file_count,
        "pinned": {
            "blocks": stats.pinned.block_count,
            "block_bytes": stats.pinned.block_bytes,
            "memtables": stats.pinned.memtable_count,
            "memtable_bytes": stats.pinned.memtable_bytes,
            "oldest_seconds": stats.pinned.oldest.map(|age| age.as_secs_f64()),
        },
        "snapshots": snapshots_to_json(stats),
        "transactions": transactions_to_json(stats),
        "prepared": stats.prepared.iter().map(prepared::to_json).collect::<Vec<_>>(),
        "locks": locks_to_json(&stats.locks),
        "stalled_seconds": stats.stalled.as_secs_f64(),
        "jobs": stats.job_count,
        "left_out": left_out.collect::<Vec<_>>(),
        "failures": stats.failures,
        "keyspaces": stats.keyspaces.iter().map(keyspace_to_json).collect::<Vec<_>>(),
        "counters": counters.collect::<Map<_, _>>(),
        "settings": settings.collect::<Map<_, _>>(),
    })
}

fn keyspace_to_json(keyspace: &esker::KeyspaceStats) -> Value {
    let levels = keyspace.levels.iter().map(|level| {
        json!({
            "level": level.depth,
            "runs": level.run_count,
            "files": level.file_count,
            "bytes": level.size_bytes,
            "raw_bytes": level.raw_bytes,
            "searchable_files": level.searchable_count,
            "entries": level.entry_count,
            "deletes": level.delete_count,
            "target_bytes": level.target_bytes,
            "score": level.score,
        })
    });
    json!({
        "name": keyspace.name,
        "memtable_bytes": keyspace.memtable_bytes,
        "sealed_memtables": keyspace.sealed_count,
        "levels": levels.collect::<Vec<_>>(),
        "debt_bytes": keyspace.debt_bytes,
        "write_rate_bytes": keyspace.write_rate,
        "hindrance": keyspace.hindrance,
        "unlogged": keyspace.is_unlogged,
        "flushed_mark": keyspace.flushed_mark.as_deref().map(show_hex),
    })
}

/// Show the files of the tree, level by level
#[derive(Debug, Args)]
#[command(after_help = "\
Draws each level of each keyspace as a strip over the keys; darker is more bytes. The page for the
browser draws each file as a rectangle with its bytes as area, and needs no network.

Examples:
  esker levels
  esker levels --files                  a line for each file
  esker levels --html tree.html         the picture as a page
  esker levels --svg tree.svg           the picture of one keyspace alone")]
pub struct Levels {
    /// List every file
    #[arg(long)]
    files: bool,
    /// Write the picture as a page for the browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the picture of the keyspace as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Prints the levels and writes the pictures asked for.
pub fn levels(shared: &GlobalFlags, args: &Levels) -> Outcome {
    let db = open::database_for_reading(shared)?;
    let maps = maps(&db);
    if let Some(path) = &args.html {
        let title = format!("The tree of {}", open::directory(shared)?.display());
        write(path, &page::write(&title, &maps))?;
    }
    if let Some(path) = &args.svg {
        let map = maps.iter().find(|map| map.name == shared.keyspace);
        let Some(drawing) = map.and_then(svg::standalone) else {
            return Err(Failure::not_found(format!(
                "keyspace {} has no sorted files to draw",
                shared.keyspace
            )));
        };
        write(path, &drawing)?;
    }
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&maps.iter().map(|map| map_to_json(shared, map)).collect())?;
        return Ok(out.finish()?);
    }
    for map in &maps {
        for line in strip::draw(map) {
            out.line(line)?;
        }
        if args.files {
            for line in file_table(map) {
                out.line(line)?;
            }
        }
    }
    Ok(out.finish()?)
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text)
        .map_err(|error| Failure::system(format!("cannot write {}", path.display()), &error))?;
    remark!("wrote {}", path.display());
    Ok(())
}

/// Longest key in the table of files, in characters: three such columns fit a wide terminal.
const KEY_CHARS: usize = 40;

fn file_table(map: &KeyspaceMap) -> Vec<String> {
    let heads = ["level", "file", "size", "entries", "deletes", "from", "to"];
    let mut table = Table::new(&heads).with_sides("<>>>><<");
    for run in &map.runs {
        for file in &run.files {
            table.add([
                format!("L{}", run.level),
                file.number.to_string(),
                quantity::bytes(file.size_bytes),
                quantity::count(file.entry_count),
                quantity::count(file.delete_count),
                strip::shorten(&file.smallest, KEY_CHARS),
                strip::shorten(&file.largest, KEY_CHARS),
            ]);
        }
    }
    table.lines()
}

/// The files of every keyspace.
pub fn maps(db: &Db) -> Vec<KeyspaceMap> {
    let names = db.keyspaces().into_iter();
    let found = names.filter_map(|name| db.existing_keyspace(&name));
    found.map(|keyspace| map(&keyspace)).collect()
}

fn map(keyspace: &Keyspace) -> KeyspaceMap {
    let mut runs: Vec<RunRow> = Vec::new();
    let mut run_before = None;
    for file in keyspace.files() {
        let drawn = FileBox {
            number: file.number,
            size_bytes: file.size_bytes,
            smallest: file.smallest.to_vec(),
            largest: file.largest.to_vec(),
            entry_count: file.entry_count,
            delete_count: file.delete_count,
        };
        let place = (file.depth, file.run);
        match runs.last_mut() {
            Some(run) if run_before == Some(place) => run.files.push(drawn),
            _ => runs.push(RunRow {
                level: file.depth,
                files: vec![drawn],
            }),
        }
        run_before = Some(place);
    }
    KeyspaceMap {
        name: keyspace.name().to_owned(),
        runs,
    }
}

fn map_to_json(shared: &GlobalFlags, map: &KeyspaceMap) -> Value {
    let format = shared.key_format();
    let file = |file: &FileBox| {
        json!({
            "number": file.number,
            "bytes": file.size_bytes,
            "entries": file.entry_count,
            "deletes": file.delete_count,
            "smallest": crate::json::spell(format, &file.smallest),
            "largest": crate::json::spell(format, &file.largest),
        })
    };
    let run = |run: &RunRow| {
        json!({
            "level": run.level,
            "files": run.files.iter().map(file).collect::<Vec<_>>(),
        })
    };
    json!({ "keyspace": map.name, "runs": map.runs.iter().map(run).collect::<Vec<_>>() })
}
