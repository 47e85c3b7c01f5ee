//! What a database knows about itself, as plain data.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::base::types::bytes::Bytes;
use crate::base::types::ids::Level;
use crate::db::core::Core;
use crate::db::flushing;
use crate::db::keyspace::KeyspaceParts;
use crate::db::preparing::{self, PreparedStats};
use crate::db::snapshots::SnapshotOwner;
use crate::db::space;
use crate::db::transaction_statistics::{self, LockStats, TransactionStats};
use crate::db::write_control;
use crate::flow::compact::score::{debt_bytes, scores, targets};
use crate::flow::rate_limiter::RATE_UNLIMITED;
use crate::store::names::FileName;

/// What a database knows about itself at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// `open`, `degraded` (open, but files are [left out](Stats::left_out) of compactions),
    /// `read-only`, `out of space`, `faulted` or `closed`.
    pub state: String,
    /// Every keyspace, by name.
    pub keyspaces: Vec<KeyspaceStats>,
    /// The memory limit in bytes.
    pub memory_limit: u64,
    /// Who holds how many bytes of it.
    pub memory: Vec<(&'static str, u64)>,
    /// Segments of the log that hold entries in no sorted file.
    pub wal_segment_count: usize,
    /// Bytes of the files of the current version and of the log.
    pub disk_bytes: u64,
    /// The value log.
    pub values: ValueLogStats,
    /// Sorted files that are open.
    pub open_file_count: usize,
    /// Sorted files that only a reader keeps on the disk.
    pub pinned_file_count: usize,
    /// What readers keep in memory that has left its place.
    pub pinned: PinnedStats,
    /// Live snapshots, oldest first.
    pub snapshots: Vec<SnapshotStats>,
    /// Transactions under way, oldest first.
    pub transactions: Vec<TransactionStats>,
    /// Transactions that are prepared and not ended, by their ids.
    pub prepared: Vec<PreparedStats>,
    /// Locks of transactions, and of writes that heed them.
    pub locks: LockStats,
    /// Time that writers were held back since the database was opened.
    pub stalled: Duration,
    /// Jobs under way in the background, and one more where some wait until less is written.
    pub job_count: usize,
    /// The latest failures of background work, oldest first.
    pub failures: Vec<String>,
    /// Sorted files that compactions leave out since one failed over them.
    pub left_out: Vec<LeftOutStats>,
    /// Bytes that were torn off the log when the database was opened.
    pub torn_bytes: u64,
    /// Intact records among them: kept in the folder `lost/torn` where it was opened for writing.
    pub torn_records: u64,
    /// Everything the engine counts: name, what it means, value.
    pub counters: Vec<(&'static str, &'static str, u64)>,
    /// Every effective setting: name, value, origin.
    pub settings: Vec<(&'static str, String, &'static str)>,
}

/// What readers keep in memory that has left its place: a cursor or a value that is kept for long
/// shows here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinnedStats {
    /// Blocks that left the cache while cursors and returned values held them.
    pub block_count: usize,
    /// Their bytes.
    pub block_bytes: u64,
    /// Memtables that lie in sorted files, or whose keyspace was dropped, and that somebody holds.
    pub memtable_count: usize,
    /// Their bytes.
    pub memtable_bytes: u64,
    /// For how long the oldest of these memtables has been in a file: the oldest cursor is older.
    pub oldest: Option<Duration>,
}

/// What is known of one live snapshot: what it sees stays on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotStats {
    /// The sequence number at which it reads.
    pub seqno: u64,
    /// For how long it has been held.
    pub age: Duration,
    /// Who holds it.
    pub owner: SnapshotOwner,
}

/// A sorted file over which a compaction failed. Reads of its other parts go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutStats {
    /// Its name.
    pub file: String,
    /// The error of the latest try.
    pub error: String,
    /// How often it was tried.
    pub try_count: u32,
    /// How long until it is tried again; `None` is not before somebody calls `compact` or opens
    /// the database.
    pub next_try: Option<Duration>,
}

/// What is known of the value log: its bytes are live, dead, pinned or recent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueLogStats {
    /// Its segments.
    pub segment_count: usize,
    /// Bytes of all of them.
    pub size_bytes: u64,
    /// Bytes that sorted files point to.
    pub live_bytes: u64,
    /// Bytes that nobody points to any more, in segments with live ones.
    pub dead_bytes: u64,
    /// Bytes of segments without live ones, which only a reader keeps.
    pub pinned_bytes: u64,
    /// Bytes that sorted files do not point to, in segments being written or named by memtables.
    pub recent_bytes: u64,
    /// Bytes of values in memory (setting `value_buffer_size`).
    pub buffer_bytes: u64,
    /// Bytes of values that were not written yet, or not synced (setting `value_flush_bytes`).
    pub unflushed_bytes: u64,
    /// Packets in which values that had waited in memory were written.
    pub packet_count: u64,
    /// Bytes of values that were overwritten or deleted in memory, and never written.
    pub unwritten_bytes: u64,
    /// Writers that waited for room in memory.
    pub wait_count: u64,
}

/// What is known of one keyspace.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyspaceStats {
    /// Its name.
    pub name: String,
    /// Bytes of its live and sealed memtables.
    pub memtable_bytes: u64,
    /// Memtables that wait for their flush.
    pub sealed_count: usize,
    /// Every level with files in it, from the newest.
    pub levels: Vec<LevelStats>,
    /// Bytes that compaction should already have merged.
    pub debt_bytes: u64,
    /// Bytes per second that writers may write; `None` when nothing holds them back.
    pub write_rate: Option<u64>,
    /// What hinders the compactions that would let writers write faster: files that are [left
    /// out](Stats::left_out).
    pub hindrance: Option<String>,
    /// Its retain rule.
    pub retain_rule: Option<RetainRuleStats>,
    /// Whether it is compacted without being asked (setting `compaction.automatic`).
    pub is_automatic: bool,
    /// Whether it is kept out of the log (setting `unlogged`).
    pub is_unlogged: bool,
    /// Whether a flush of it waits until the user's own log is durable.
    pub is_parked: bool,
    /// Up to which mark everything of it lies in sorted files.
    pub flushed_mark: Option<Bytes>,
}

/// What is known of the retain rule of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainRuleStats {
    /// Its name.
    pub name: String,
    /// Values that rules of this keyspace have dropped since it was opened.
    pub dropped_count: u64,
    /// Whether it failed, so that compactions by themselves go without it.
    pub has_failed: bool,
}

/// What is known of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelStats {
    /// Its depth.
    pub depth: usize,
    /// Its runs: any number in level 0, one below.
    pub run_count: usize,
    /// Its files.
    pub file_count: usize,
    /// Their bytes.
    pub size_bytes: u64,
    /// Bytes of their keys and values before compression; 0 where an older Esker wrote them.
    pub raw_bytes: u64,
    /// How many of them are searched while they are compressed.
    pub searchable_count: usize,
    /// Their entries, deletes included.
    pub entry_count: u64,
    /// Their deletes, range deletes included.
    pub delete_count: u64,
    /// Bytes it may hold before it is compacted; 0 for level 0, which goes by runs.
    pub target_bytes: u64,
    /// How near that is: from 1.0 on it should be compacted.
    pub score: f64,
}

impl LevelStats {
    /// How many bytes of keys and values became one; 0 where that is not known.
    pub fn ratio(&self) -> f64 {
        self.raw_bytes as f64 / self.size_bytes.max(1) as f64
    }
}

/// Gathers what is known now.
pub fn gather(core: &Core) -> Stats {
    write_control::set_memory(core);
    let now = core.env.clock.monotonic();
    let work = core.work.state();
    let job_count = work.job_count + usize::from(work.rest.is_put_off());
    let failures = work.failures.clone();
    drop(work);
    let snapshots = core.snapshots.list();
    Stats {
        state: state_word(core),
        keyspaces: core
            .keyspaces
            .all()
            .iter()
            .map(|parts| keyspace(core, parts))
            .collect(),
        memory_limit: core.memory_budget.limit_bytes(),
        memory: core
            .memory_budget
            .by_owner()
            .map(|(owner, bytes)| (owner.name(), bytes))
            .to_vec(),
        wal_segment_count: core
            .committer
            .paused(|active| active.used_segments().count()),
        disk_bytes: space::used_bytes(core),
        values: value_log(core),
        open_file_count: core.files.open_count(),
        pinned_file_count: core.obsolete_files.count(),
        pinned: pinned(core, now),
        snapshots: snapshots
            .iter()
            .map(|live| SnapshotStats {
                seqno: live.seqno.get(),
                age: now.saturating_sub(live.taken_at),
                owner: live.owner.clone(),
            })
            .collect(),
        transactions: transaction_statistics::transactions(core, now),
        prepared: preparing::list(core),
        locks: transaction_statistics::locks(core),
        stalled: core.write_controller.stalled(),
        job_count,
        failures: failures
            .into_iter()
            .chain(core.events.trouble())
            .chain(core.durable_calls.trouble())
            .chain(core.own_log.trouble())
            .collect(),
        left_out: left_out(core, now),
        torn_bytes: core.replayed.torn_bytes,
        torn_records: core.replayed.torn_records,
        counters: core
            .statistics
            .snapshot()
            .readings()
            .map(|reading| (reading.ticker.name(), reading.ticker.doc(), reading.value))
            .chain(of_cache(core))
            .collect(),
        settings: core
            .settings
            .load()
            .effective
            .iter()
            .map(|one| (one.setting.name, one.text.clone(), one.origin.name()))
            .collect(),
    }
}

fn pinned(core: &Core, now: Duration) -> PinnedStats {
    let tables = core.pinned_tables.look();
    PinnedStats {
        block_count: core.cache.pinned_count(),
        block_bytes: core.cache.pinned_bytes() as u64,
        memtable_count: tables.count,
        memtable_bytes: tables.bytes as u64,
        oldest: tables.oldest_at.map(|at| now.saturating_sub(at)),
    }
}

// Those that are still there, and were not given free since.
fn left_out(core: &Core, now: Duration) -> Vec<LeftOutStats> {
    let version = core.history.current();
    let levels = version.keyspaces.values().map(|state| &state.levels);
    let present: BTreeSet<_> = levels
        .flat_map(|levels| levels.files())
        .map(|(_, file)| file.number)
        .collect();
    let state = core.work.state();
    let files = state.left_out.files();
    files
        .filter(|(number, _)| state.left_out.is_out(*number) && present.contains(number))
        .map(|(number, file)| LeftOutStats {
            file: FileName::Sst(number).to_string(),
            error: file.error.to_string(),
            try_count: file.try_count,
            next_try: file.retry_at.map(|at| at.saturating_sub(now)),
        })
        .collect()
}

fn value_log(core: &Core) -> ValueLogStats {
    let segments = core.values.segments();
    let mut stats = ValueLogStats {
        segment_count: segments.len(),
        buffer_bytes: core.values.pool().used_bytes(),
        unflushed_bytes: core.values.unflushed_bytes(),
        packet_count: core.values.watch().packet_count(),
        unwritten_bytes: core.values.pool().unwritten_bytes_total(),
        wait_count: core.values.watch().wait_count(),
        ..ValueLogStats::default()
    };
    let live = core.history.peek().live_values();
    let settled = core.values.settled();
    let is_settled = |number| settled.iter().any(|segment| segment.number == number);
    for segment in segments {
        let live_bytes = live.of(segment.number).min(segment.size_bytes);
        let rest = segment.size_bytes - live_bytes;
        stats.size_bytes += segment.size_bytes;
        stats.live_bytes += live_bytes;
        match is_settled(segment.number) {
            false => stats.recent_bytes += rest,
            true if live_bytes == 0 => stats.pinned_bytes += rest,
            true => stats.dead_bytes += rest,
        }
    }
    stats
}

// The cache counts for itself.
fn of_cache(core: &Core) -> [(&'static str, &'static str, u64); 2] {
    [
        (
            "esker_block_cache_hits_total",
            "Blocks found in the block cache.",
            core.cache.hits(),
        ),
        (
            "esker_block_cache_misses_total",
            "Blocks that had to be read from a file.",
            core.cache.misses(),
        ),
    ]
}

fn state_word(core: &Core) -> String {
    let word = if core.gate.is_closed() {
        "closed"
    } else if core.gate.fault().is_some() {
        "faulted"
    } else if core.gate.full().is_some() {
        "out of space"
    } else if core.gate.check_write().is_err() {
        "read-only"
    } else if !left_out(core, Duration::ZERO).is_empty() {
        "degraded"
    } else {
        "open"
    };
    word.to_string()
}

fn keyspace(core: &Core, parts: &KeyspaceParts) -> KeyspaceStats {
    let view = parts.current.view();
    let levels = &view.parts().levels;
    let options = &parts.options().compaction;
    let targets = targets(levels, options);
    let scores = scores(levels, &targets, options);
    let filled = Level::all().filter(|level| levels.size_bytes(*level) > 0);
    let (rate, hindrance) = core.write_controller.rate(parts.id);
    KeyspaceStats {
        name: parts.name.clone(),
        memtable_bytes: flushing::memtable_bytes(&view),
        sealed_count: parts.current.sealed_count(),
        levels: filled
            .map(|level| {
                let files = || levels.runs(level).iter().flat_map(|run| run.files());
                LevelStats {
                    depth: level.index(),
                    run_count: levels.runs(level).len(),
                    file_count: files().count(),
                    size_bytes: levels.size_bytes(level),
                    raw_bytes: files().map(|file| file.raw_bytes).sum(),
                    searchable_count: files().filter(|file| file.is_searchable).count(),
                    entry_count: files().map(|file| file.entry_count).sum(),
                    delete_count: files()
                        .map(|file| file.delete_count + file.range_delete_count)
                        .sum(),
                    target_bytes: targets.bytes[level.index()],
                    score: scores[level.index()],
                }
            })
            .collect(),
        debt_bytes: debt_bytes(levels, &targets, options),
        write_rate: (rate != RATE_UNLIMITED).then_some(rate),
        hindrance,
        retain_rule: parts.options().retain.as_ref().map(|rule| RetainRuleStats {
            name: rule.name().into(),
            dropped_count: parts.retained.dropped_count(),
            has_failed: !parts.retained.is_in_use(),
        }),
        is_unlogged: parts.is_unlogged,
        is_parked: parts.hold.as_ref().is_some_and(|hold| hold.is_refused()),
        flushed_mark: core
            .history
            .peek()
            .keyspace(parts.id)
            .and_then(|state| state.mark.clone()),
        is_automatic: options.is_automatic,
    }
}
