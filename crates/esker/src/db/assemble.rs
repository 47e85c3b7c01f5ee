//! The parts of a database, put together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;

use crate::base::hooks::merge::MergeRule;
use crate::base::options::resolve::Resolved;
use crate::base::stats::board::Board;
use crate::base::stats::ledger::MemoryLedger;
use crate::base::types::ids::FileNumber;
use crate::base::types::order::KeyOrder;
use crate::db::core::Core;
use crate::db::doomed::Doomed;
use crate::db::keyspace::Keyspaces;
use crate::db::snapshots::Snapshots;
use crate::db::work::Work;
use crate::env::bundle::Env;
use crate::env::fs::DirLock;
use crate::flow::pace::Pace;
use crate::flow::write::active::Active;
use crate::flow::write::commit::Committer;
use crate::flow::write::gate::Gate;
use crate::flow::write::replay::ReplayReport;
use crate::flow::write::room::WriteRoom;
use crate::flow::write::segments::Segments;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::history::History;
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::Version;

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
    /// Orders that keyspaces may name.
    pub orders: Vec<KeyOrder>,
}

/// A core with what was found in the directory, without keyspaces.
pub fn assemble(
    parts: &Parts,
    manifest: Option<Manifest>,
    version: Arc<Version>,
    replayed: &ReplayReport,
    segments_used: Vec<FileNumber>,
    lock: Option<Box<dyn DirLock>>,
) -> Arc<Core> {
    let Parts {
        env,
        dir,
        resolved,
        merge_rules,
        is_read_only,
        ..
    } = parts.clone();
    let options = &resolved.db;
    let numbers = Arc::new(FileNumbers::new(version.next_file));
    // Numbers taken just before a crash may not be in the manifest yet.
    for number in segments_used.iter().chain(&replayed.dropped_segments) {
        numbers.skip(FileNumber(number.0 + 1));
    }
    let segments = Segments::new(
        Arc::clone(&env.fs),
        &dir,
        Arc::clone(&numbers),
        options.wal_segment_bytes,
    );
    let segments = Arc::new(segments);
    let ledger = Arc::new(MemoryLedger::new(options.memory_limit));
    let cache = Arc::new(ShardedCache::new(ledger.cache_allowance()));
    let open_files_max = match is_read_only {
        // Once closed, a file may be gone.
        true => usize::MAX,
        false => options.open_files_max,
    };
    let files = OpenFiles::new(
        Arc::clone(&env.fs),
        &dir,
        open_files_max,
        Arc::clone(&cache),
    )
    .charged_to(Arc::clone(&ledger));
    let gate = Arc::new(Gate::default());
    let pace = Pace::new(options.compaction_rate_bytes);
    let (budget, log_max) = (resolved.memtable_budget_bytes(), options.wal_total_bytes);
    let room = Arc::new(WriteRoom::new(budget, log_max, Arc::clone(&gate)));
    let active = Active::new(
        Arc::clone(&segments),
        replayed.last_seqno,
        replayed.end,
        segments_used,
    );
    let committer = Committer::new(active, Arc::clone(&gate), Arc::clone(&room), env.clone());
    Arc::new(Core {
        env,
        dir,
        settings: ArcSwap::from_pointee(resolved),
        merge_rules,
        gate,
        room,
        pace: Arc::new(pace),
        committer,
        segments,
        numbers,
        history: History::new(version),
        manifest: Mutex::new(manifest),
        files: Arc::new(files),
        cache,
        ledger,
        board: Arc::new(Board::new()),
        snapshots: Snapshots::default(),
        keyspaces: Keyspaces::default(),
        work: Work::default(),
        doomed: Doomed::default(),
        replayed: replayed.clone(),
        lock: Mutex::new(lock),
    })
}
