//! The parts of a database, put together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::own_log::OwnLog;
use crate::base::hooks::retain::RetainRule;
use crate::base::options::resolve::Resolved;
use crate::base::stats::memory_budget::MemoryBudget;
use crate::base::stats::statistics::Statistics;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::FileNumber;
use crate::base::types::limits::LOCKS_PER_OWNER_MAX;
use crate::db::core::Core;
use crate::db::durable_calls::DurableCalls;
use crate::db::keyspace::Keyspaces;
use crate::db::obsolete_files::ObsoleteFiles;
use crate::db::own_log_calls::OwnLogCalls;
use crate::db::pinned_tables::PinnedTables;
use crate::db::settings_in_effect::SettingsInEffect;
use crate::db::snapshots::Snapshots;
use crate::db::txn::live::LiveTransactions;
use crate::db::txn::locks::lock_table::LockTable;
use crate::db::work::Work;
use crate::env::bundle::Env;
use crate::env::fs::DirLock;
use crate::flow::background_rate::BackgroundRate;
use crate::flow::event_queue::EventQueue;
use crate::flow::values::value_log::{ValueLog, ValueLogParts};
use crate::flow::write::active::Active;
use crate::flow::write::commit::Committer;
use crate::flow::write::gate::Gate;
use crate::flow::write::replay::ReplayReport;
use crate::flow::write::segments::Segments;
use crate::flow::write::write_controller::WriteController;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::history::History;
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::Version;
use crate::store::vlog::open_values::OpenValues;

/// What a database is opened with.
#[derive(Clone)]
pub struct Parts {
    /// The outside world.
    pub env: Env,
    /// The directory.
    pub dir: PathBuf,
    /// Every setting.
    pub resolved: Resolved,
    /// Whether nothing may be written.
    pub is_read_only: bool,
    /// Merge operators that keyspaces may name.
    pub merge_rules: Vec<MergeRule>,
    /// Retain rules by the names of their keyspaces.
    pub retain_rules: Vec<(String, Arc<dyn RetainRule>)>,
    /// Orders that keyspaces may name.
    pub comparators: Vec<Comparator>,
    /// The way to who listens.
    pub events: EventQueue,
    /// The user's own log.
    pub own_log: Option<Arc<dyn OwnLog>>,
}

/// What an opening found in the directory beside the manifest.
pub struct Opened {
    /// What the log came to.
    pub replayed: ReplayReport,
    /// Segments of the log that are in use, and their sizes.
    pub segments_used: Vec<(FileNumber, u64)>,
    /// Where large values are read.
    pub values: Arc<OpenValues>,
    /// Segments of the value log, and their sizes.
    pub value_segments: Vec<(FileNumber, u64)>,
}

/// A core with what was found in the directory, without keyspaces.
pub fn assemble(
    parts: &Parts,
    manifest: Option<Manifest>,
    version: Arc<Version>,
    opened: Opened,
    lock: Option<Box<dyn DirLock>>,
) -> Arc<Core> {
    let (replayed, segments_used) = (&opened.replayed, opened.segments_used.clone());
    let Parts {
        env,
        dir,
        resolved,
        merge_rules,
        retain_rules,
        events,
        ..
    } = parts.clone();
    let options = &resolved.db;
    let numbers = Arc::new(FileNumbers::new(version.next_file));
    skip_used(&numbers, &opened);
    let values = value_log(parts, &version, &numbers, &opened);
    let (fs, size_bytes) = (Arc::clone(&env.fs), options.wal_segment_bytes);
    let segments = Segments::new(fs, &dir, Arc::clone(&numbers), size_bytes);
    let segments = Arc::new(segments.telling(events.clone()));
    let memory_budget = Arc::new(MemoryBudget::new(options.memory_limit));
    let cache = Arc::new(ShardedCache::new(memory_budget.cache_allowance()));
    let files = Arc::new(open_files(parts, &cache).charged_to(Arc::clone(&memory_budget)));
    files.keep_open(options.open_files_max);
    let gate = Arc::new(Gate::telling(events.clone()));
    let background_rate = BackgroundRate::new(options.compaction_rate_bytes);
    let (budget, log_max) = (resolved.memtable_budget_bytes(), options.wal_total_bytes);
    let write_controller = Arc::new(WriteController::new(budget, log_max, Arc::clone(&gate)));
    let active = Active::new(
        Arc::clone(&segments),
        replayed.last_seqno,
        replayed.end,
        segments_used,
    );
    let committer = Committer::new(
        active,
        Arc::clone(&values),
        Arc::clone(&gate),
        Arc::clone(&write_controller),
        env.clone(),
    );
    Arc::new(Core {
        env,
        dir,
        settings: SettingsInEffect::new(resolved),
        events,
        durable_calls: DurableCalls::default(),
        own_log: OwnLogCalls::new(parts.own_log.clone()),
        merge_rules,
        retain_rules,
        gate,
        write_controller,
        background_rate: Arc::new(background_rate),
        locks: lock_table(&committer),
        committer,
        segments,
        values,
        numbers,
        history: History::new(version),
        manifest: Mutex::new(manifest),
        files,
        cache,
        memory_budget,
        statistics: Arc::new(Statistics::new()),
        snapshots: Snapshots::default(),
        transactions: LiveTransactions::default(),
        keyspaces: Keyspaces::default(),
        work: Work::default(),
        obsolete_files: ObsoleteFiles::default(),
        pinned_tables: PinnedTables::default(),
        replayed: replayed.clone(),
        lock: Mutex::new(lock),
    })
}

fn lock_table(committer: &Committer) -> Arc<LockTable> {
    let holders = Arc::clone(committer.lock_holders());
    Arc::new(LockTable::new(holders, LOCKS_PER_OWNER_MAX))
}

// Numbers taken just before a crash may not be in the manifest yet.
fn skip_used(numbers: &FileNumbers, opened: &Opened) {
    let used = opened.segments_used.iter().map(|(number, _)| number);
    for number in used.chain(&opened.replayed.dropped_segments) {
        numbers.skip(FileNumber(number.0 + 1));
    }
}

fn value_log(
    parts: &Parts,
    version: &Version,
    numbers: &Arc<FileNumbers>,
    opened: &Opened,
) -> Arc<ValueLog> {
    let log_parts = ValueLogParts {
        fs: Arc::clone(&parts.env.fs),
        dir: parts.dir.clone(),
        numbers: Arc::clone(numbers),
        segment_bytes: parts.resolved.db.value_segment_fitting(),
        disk_limit: parts.resolved.db.disk_limit,
        database_id: version.identity.database_id,
        values: Arc::clone(&opened.values),
        events: parts.events.clone(),
    };
    let values = ValueLog::new(log_parts, parts.resolved.db.value_flush_bytes);
    for (number, size_bytes) in &opened.value_segments {
        // As with the log: the manifest may not know of the newest yet.
        numbers.skip(FileNumber(number.0 + 1));
        values.found(*number, *size_bytes);
    }
    Arc::new(values)
}

fn open_files(parts: &Parts, cache: &Arc<BlockCache>) -> OpenFiles {
    OpenFiles::new(
        Arc::clone(&parts.env.fs),
        &parts.dir,
        parts.resolved.db.open_files_max,
        Arc::clone(cache),
    )
    .mapped(parts.resolved.db.mapped_reads)
}
