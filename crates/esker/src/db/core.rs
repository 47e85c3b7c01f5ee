//! The parts an open database owns; no logic.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::retain::RetainRule;
use crate::base::stats::memory_budget::MemoryBudget;
use crate::base::stats::statistics::Statistics;
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
use crate::flow::values::value_log::ValueLog;
use crate::flow::write::commit::Committer;
use crate::flow::write::gate::Gate;
use crate::flow::write::replay::ReplayReport;
use crate::flow::write::segments::Segments;
use crate::flow::write::write_controller::WriteController;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::history::History;
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::FileNumbers;

/// Everything an open database owns. Shared by its handles and its background jobs.
pub struct Core {
    /// The outside world.
    pub env: Env,
    /// The directory.
    pub dir: PathBuf,
    /// Every setting in effect with its origin: of the database, and those with which keyspaces
    /// begin.
    pub settings: SettingsInEffect,
    /// The way to who listens.
    pub events: EventQueue,
    /// Who is to be called once the log is durable.
    pub durable_calls: DurableCalls,
    /// The way to the user's own log, which flushes of unlogged keyspaces wait for.
    pub own_log: OwnLogCalls,
    /// Merge operators that keyspaces may name.
    pub merge_rules: Vec<MergeRule>,
    /// Retain rules by the names of their keyspaces.
    pub retain_rules: Vec<(String, Arc<dyn RetainRule>)>,
    /// Whether operations may pass.
    pub gate: Arc<Gate>,
    /// Memory and rates of the write path.
    pub write_controller: Arc<WriteController>,
    /// How fast flushes and compactions may write.
    pub background_rate: Arc<BackgroundRate>,
    /// The write path.
    pub committer: Committer,
    /// Files of the log.
    pub segments: Arc<Segments>,
    /// Large values.
    pub values: Arc<ValueLog>,
    /// Free file numbers.
    pub numbers: Arc<FileNumbers>,
    /// The current version, and older ones in use.
    pub history: History,
    /// The log of edits; `None` when opened read-only.
    pub manifest: Mutex<Option<Manifest>>,
    /// Open sorted files.
    pub files: Arc<OpenFiles>,
    /// Blocks in memory.
    pub cache: Arc<BlockCache>,
    /// Who holds how much memory.
    pub memory_budget: Arc<MemoryBudget>,
    /// What the engine counts.
    pub statistics: Arc<Statistics>,
    /// Live snapshots.
    pub snapshots: Snapshots,
    /// Transactions under way.
    pub transactions: LiveTransactions,
    /// Which keys and keyspaces are locked, and by whom.
    pub locks: Arc<LockTable>,
    /// Open keyspaces.
    pub keyspaces: Keyspaces,
    /// What runs in the background.
    pub work: Work,
    /// Files that wait to be removed.
    pub obsolete_files: ObsoleteFiles,
    /// Memtables that were flushed and that readers hold.
    pub pinned_tables: PinnedTables,
    /// What recovery found in the log.
    pub replayed: ReplayReport,
    /// The lock of the directory; `None` when opened read-only.
    pub lock: Mutex<Option<Box<dyn DirLock>>>,
}
