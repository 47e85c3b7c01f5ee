//! Builder of a database: settings and parts, then create or recover.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::hooks::events::EventListener;
use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::own_log::OwnLog;
use crate::base::hooks::retain::RetainRule;
use crate::base::options::alias::check_one;
use crate::base::options::catalog;
use crate::base::options::check::{check_db, check_memory};
use crate::base::options::codec::Value;
use crate::base::options::db::DbOptions;
use crate::base::options::profile::Profile;
use crate::base::options::resolve::{Resolved, resolve};
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::db::assemble::Parts;
use crate::db::backup::aside::repair_aside;
use crate::db::backup::report::RepairReport;
use crate::db::database_ref::DatabaseRef;
use crate::db::recover;
use crate::env::bundle::Env;
use crate::flow::event_queue::EventQueue;

/// Collects settings and parts, then opens a database.
///
/// Settings are plain text by their name in the catalogue, so that a program, a configuration
/// file and a command line say them the same way; a wrong one is refused at once, by name.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    path: PathBuf,
    pairs: Vec<(String, String)>,
    create_if_missing: Option<bool>,
    error_if_exists: bool,
    is_read_only: bool,
    merge_rules: Vec<MergeRule>,
    merge: Option<MergeRule>,
    retain_rules: Vec<(String, Arc<dyn RetainRule>)>,
    comparators: Vec<Comparator>,
    comparator: Option<Comparator>,
    listeners: Listeners,
    own_log: Log,
    env: Option<Env>,
}

#[derive(Clone, Default)]
struct Listeners(Vec<Arc<dyn EventListener>>);

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} listeners", self.0.len())
    }
}

#[derive(Clone, Default)]
struct Log(Option<Arc<dyn OwnLog>>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} own log", u8::from(self.0.is_some()))
    }
}

impl Builder {
    /// A builder for the database in directory `path`, with default settings.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Builder::new(dir.path()).open()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(path: impl AsRef<Path>) -> Builder {
        Builder {
            path: path.as_ref().to_path_buf(),
            ..Builder::default()
        }
    }

    /// Sets a setting of the catalogue by its name, such as `memory_limit` to `512MiB`, or
    /// `profile` to `write_heavy`. Names of LevelDB's and RocksDB's benchmarks, such as
    /// `write_buffer_size`, stand for the nearest setting. `Invalid` for an unknown name or an
    /// impossible value.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path())
    ///     .set("profile", "write_heavy")?
    ///     .set("sst.block_size", "16KiB")?
    ///     .open()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(mut self, name: &str, text: &str) -> Result<Builder> {
        check_one(name, text)?;
        if self.env.is_none()
            && name == "memory_limit"
            && let Value::Whole(bytes) = catalog::find(name)?.parse(text)?
        {
            let bytes = u64::try_from(bytes).unwrap_or(0);
            check_memory(bytes, DbOptions::MEMORY_LIMIT_MIN)?;
        }
        self.pairs.push((name.into(), text.into()));
        Ok(self)
    }

    // A setting whose value is checked when the database is opened.
    pub(crate) fn given(mut self, name: &str, value: impl ToString) -> Builder {
        self.pairs.push((name.into(), value.to_string()));
        self
    }

    /// Whether a directory without a database gets one (yes, unless told).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let mistyped = esker::Db::builder(dir.path().join("harbuor"));
    /// assert!(mistyped.create_if_missing(false).open().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_if_missing(mut self, create: bool) -> Builder {
        self.create_if_missing = Some(create);
        self
    }

    /// Whether an existing database is an error (no, unless told).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// esker::Db::open(dir.path())?.close()?;
    /// assert!(esker::Db::builder(dir.path()).error_if_exists(true).open().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn error_if_exists(mut self, refuse: bool) -> Builder {
        self.error_if_exists = refuse;
        self
    }

    /// Opens for reading only: nothing is written, not even the lock file, so a database that
    /// another process has open can be read as it was at this moment.
    ///
    /// For that its files are held open, as many as `files.open_max` and the limit of the process
    /// allow. Of a larger database a file may be gone when it is asked for: that read gets `Busy`,
    /// and opening again helps.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let writer = esker::Db::open(dir.path())?;
    /// writer.put("a", "1")?;
    /// let reader = esker::Db::builder(dir.path()).read_only(true).open()?;
    /// assert!(reader.contains_key("a")?);
    /// assert!(reader.put("b", "2").is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_only(mut self, is_read_only: bool) -> Builder {
        self.is_read_only = is_read_only;
        self
    }

    /// The merge operator of the keyspace `default`, and one that other keyspaces may name.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).merge_operator(esker::merge::append(", ")).open()?;
    /// db.merge("crew", "anna")?;
    /// db.merge("crew", "bela")?;
    /// assert_eq!(db.get("crew")?.as_deref(), Some(&b"anna, bela"[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge_operator(mut self, rule: MergeRule) -> Builder {
        self.merge_rules.push(rule.clone());
        self.merge = Some(rule);
        self
    }

    /// A merge operator that existing keyspaces may name.
    pub fn known_merge_operator(mut self, rule: MergeRule) -> Builder {
        self.merge_rules.push(rule);
        self
    }

    /// Which values of that keyspace live on when compactions rewrite them; also of one that is
    /// created later. The rule is not written down: give it at every opening. Of several for one
    /// keyspace the last counts.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// use esker::{Retain, retain};
    ///
    /// let empty = retain::by("empty", |entry| {
    ///     Ok(if entry.value()?.is_empty() { Retain::Drop } else { Retain::Keep })
    /// });
    /// let db = esker::Db::builder(dir.path()).retain_rule("default", empty).open()?;
    /// db.put("crew:anna", "")?;
    /// db.compact::<&[u8]>(..)?;
    /// assert!(!db.contains_key("crew:anna")?);
    /// # db.close()
    /// # }
    /// ```
    pub fn retain_rule(mut self, keyspace: &str, rule: Arc<dyn RetainRule>) -> Builder {
        self.retain_rules.push((keyspace.into(), rule));
        self
    }

    /// The order of the keyspace `default`, and one that other keyspaces may name.
    pub fn comparator(mut self, comparator: Comparator) -> Builder {
        self.comparators.push(comparator.clone());
        self.comparator = Some(comparator);
        self
    }

    /// An order that existing keyspaces may name.
    pub fn known_comparator(mut self, comparator: Comparator) -> Builder {
        self.comparators.push(comparator);
        self
    }

    /// Has a listener hear of flushes, compactions, stalls, errors and files, from the opening of
    /// the database until it is closed. Each call adds one; they hear in this order.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use esker::{Db, Event, EventListener};
    ///
    /// struct Lines;
    ///
    /// impl EventListener for Lines {
    ///     fn on_event(&self, event: &Event) {
    ///         eprintln!("{event}"); // flush_end job=1 keyspace="default" reason=shut_down …
    ///     }
    /// }
    ///
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = Db::builder(dir.path()).event_listener(Arc::new(Lines)).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn event_listener(mut self, listener: Arc<dyn EventListener>) -> Builder {
        self.listeners.0.push(listener);
        self
    }

    /// Asks the user's own log before an unlogged keyspace is flushed, and tells it behind that.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use esker::{Db, KeyspaceOptions, OwnLog};
    ///
    /// /// A log that is durable up to some index, and whose entries are marks.
    /// #[derive(Default)]
    /// struct Entries {
    ///     durable: AtomicU64,
    ///     needed: AtomicU64,
    /// }
    ///
    /// fn index(mark: &[u8]) -> u64 {
    ///     u64::from_be_bytes(mark.try_into().expect("eight bytes"))
    /// }
    ///
    /// impl OwnLog for Entries {
    ///     fn is_durable(&self, _keyspace: &str, mark: &[u8]) -> bool {
    ///         index(mark) <= self.durable.load(Ordering::SeqCst)
    ///     }
    ///
    ///     fn flushed(&self, _keyspace: &str, mark: &[u8]) {
    ///         self.needed.store(index(mark) + 1, Ordering::SeqCst); // What is before may go.
    ///     }
    /// }
    ///
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let log = Arc::<Entries>::default();
    /// let db = Db::builder(dir.path()).own_log(Arc::<Entries>::clone(&log)).open()?;
    /// let options = KeyspaceOptions { is_unlogged: true, ..KeyspaceOptions::default() };
    /// let replica = db.keyspace_with("replica 7", options)?;
    /// db.batch().put(&replica, "berth:3", "anna").mark(&replica, 41_u64.to_be_bytes()).commit()?;
    /// replica.flush_soon()?; // Nothing is flushed yet.
    /// log.durable.store(41, Ordering::SeqCst);
    /// replica.own_log_is_durable();
    /// db.close()?;
    /// assert_eq!(log.needed.load(Ordering::SeqCst), 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn own_log(mut self, log: Arc<dyn OwnLog>) -> Builder {
        self.own_log = Log(Some(log));
        self
    }

    /// Another world than the operating system: for tests and simulations. In one, `memory_limit`
    /// may be as small as 1 MiB if it is set after this; what the process takes is not promised
    /// then.
    #[doc(hidden)]
    pub fn env(mut self, env: Env) -> Builder {
        self.env = Some(env);
        self
    }

    pub(crate) fn open_database_past_damage(
        self,
        scratch: &Path,
    ) -> Result<(DatabaseRef, RepairReport)> {
        let threads = self.resolve(Env::core_count())?.db.background_threads;
        let env = self.env.clone().unwrap_or_else(|| Env::real(threads));
        let (aside, report) = repair_aside(&env, &self.path, scratch, &self.comparators)?;
        let database = self.env(aside).read_only(true).open_database()?;
        Ok((database, report))
    }

    pub(crate) fn open_database(self) -> Result<DatabaseRef> {
        let mut resolved = self.resolve(Env::core_count())?;
        if self.env.is_none() {
            resolved.db.memory_limit_min = DbOptions::MEMORY_LIMIT_MIN;
            check_db(&resolved.db)?;
        }
        let threads = resolved.db.background_threads;
        let env = self.env.unwrap_or_else(|| Env::real(threads));
        let events = EventQueue::new(self.listeners.0, Arc::clone(&env.pool));
        let parts = Parts {
            events,
            env,
            dir: self.path,
            resolved,
            is_read_only: self.is_read_only,
            merge_rules: self.merge_rules,
            retain_rules: self.retain_rules,
            comparators: self.comparators,
            own_log: self.own_log.0,
        };
        recover::open(parts).map(DatabaseRef::new)
    }

    pub(crate) fn resolve(&self, cores: usize) -> Result<Resolved> {
        let pairs: Vec<(&str, &str)> = self
            .pairs
            .iter()
            .map(|(name, text)| (&name[..], &text[..]))
            .collect();
        let mut resolved = resolve(Profile::default(), &pairs, cores)?;
        if let Some(create) = self.create_if_missing {
            resolved.db.create_if_missing = create && !self.is_read_only;
        }
        resolved.db.create_if_missing &= !self.is_read_only;
        resolved.db.error_if_exists = self.error_if_exists;
        if self.is_read_only && self.error_if_exists {
            return Err(Error::invalid(
                "`read_only` and `error_if_exists` contradict each other; drop one of them",
            ));
        }
        for options in [&mut resolved.keyspace, &mut resolved.keyspace_asked] {
            if let Some(merge) = &self.merge {
                options.merge = Some(merge.clone());
            }
            if let Some(comparator) = &self.comparator {
                options.comparator = comparator.clone();
            }
        }
        if let Some(merge) = &self.merge {
            resolved.name_operator(merge.0.name());
        }
        Ok(resolved)
    }
}
