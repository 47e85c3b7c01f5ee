//! One keyspace: its name, settings, memtables, levels.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use arc_swap::{ArcSwap, Guard};

use esker_phrase::Dictionary;

use crate::base::hooks::retain::RetainRule;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::options::sst::Compression;
use crate::base::types::error::{Error, Result};
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::KeyspaceId;
use crate::db::read_cost::ReadCost;
use crate::db::retained::Retained;
use crate::flow::current::Current;
use crate::flow::dictionary_policy::DictionaryPolicy;
use crate::flow::flush_hold::FlushHold;
use crate::flow::sealed_keyspaces::SealedKeyspaces;
use crate::flow::told_clock::ToldClock;

/// The parts of one open keyspace.
pub struct KeyspaceParts {
    /// Its number.
    pub id: KeyspaceId,
    /// Its name.
    pub name: String,
    /// Its settings; its order never changes while it is open, nor does a merge operator that it
    /// has.
    options: ArcSwap<KeyspaceOptions>,
    /// Whether nothing of it may go to the log.
    pub is_unlogged: bool,
    /// Whether what is sealed may be flushed, where the user's own log is asked for that.
    pub hold: Option<Arc<FlushHold>>,
    /// What time it is, where it has a clock of its own.
    pub clock: Option<Arc<ToldClock>>,
    /// Two of them again: every put asks for them, and a load of all costs a put 1.5 percent.
    ttl_ms: AtomicU64,
    value_threshold_bytes: AtomicUsize,
    /// Where reads begin.
    pub current: Arc<Current>,
    /// How its values become phrases.
    pub dictionary_policy: DictionaryPolicy,
    /// What readers pay for its level 0.
    pub read_cost: Arc<ReadCost>,
    /// What became of its retain rule.
    pub retained: Retained,
}

impl KeyspaceParts {
    /// A keyspace of that number and name.
    pub fn new(
        id: KeyspaceId,
        name: &str,
        options: KeyspaceOptions,
        current: Arc<Current>,
    ) -> KeyspaceParts {
        KeyspaceParts {
            id,
            name: name.into(),
            is_unlogged: options.is_unlogged,
            hold: None,
            clock: None,
            ttl_ms: AtomicU64::new(options.ttl_ms),
            value_threshold_bytes: AtomicUsize::new(options.value_threshold_bytes),
            options: ArcSwap::from_pointee(options),
            current,
            dictionary_policy: DictionaryPolicy::default(),
            read_cost: Arc::default(),
            retained: Retained::default(),
        }
    }

    /// The same, whose flushes wait for the user's own log.
    pub fn held_by(self, hold: Option<Arc<FlushHold>>) -> KeyspaceParts {
        KeyspaceParts { hold, ..self }
    }

    /// The same, in which what ends does so by that clock.
    pub fn timed_by(self, clock: Option<Arc<ToldClock>>) -> KeyspaceParts {
        KeyspaceParts { clock, ..self }
    }

    /// Its settings now.
    #[inline]
    pub fn options(&self) -> Guard<Arc<KeyspaceOptions>> {
        self.options.load()
    }

    /// Whether the bottom of its tree is to be made of searchable files.
    pub fn wants_searchable(&self) -> bool {
        self.options().sst.compression == Compression::Searchable
    }

    /// The rule that compactions ask what lives on, unless it has failed.
    pub fn retain_rule(&self) -> Option<Arc<dyn RetainRule>> {
        let rule = self.options().retain.clone();
        rule.filter(|_| self.retained.is_in_use())
    }

    /// The dictionary with which searchable files are written now; `None` while none are.
    pub fn compression_dictionary(&self) -> Option<Arc<Dictionary>> {
        let is_wanted = self.wants_searchable();
        is_wanted.then(|| self.dictionary_policy.dictionary())?
    }

    /// Milliseconds that a put lives when it does not say otherwise; 0 is for ever.
    #[inline]
    pub fn ttl_ms(&self) -> u64 {
        // Relaxed, here and below: a number that orders nothing else.
        self.ttl_ms.load(Ordering::Relaxed)
    }

    /// Bytes from which a value lies in the value log; 0 is never.
    #[inline]
    pub fn value_threshold_bytes(&self) -> usize {
        self.value_threshold_bytes.load(Ordering::Relaxed)
    }

    /// Changes its settings. Only while changes of keyspaces are kept away ([`Keyspaces::change`]).
    pub fn set_options(&self, options: KeyspaceOptions) {
        self.ttl_ms.store(options.ttl_ms, Ordering::Relaxed);
        self.value_threshold_bytes
            .store(options.value_threshold_bytes, Ordering::Relaxed);
        self.options.store(Arc::new(options));
    }
}

/// The open keyspaces of a database. Any thread may call anything, and waits for nobody but in
/// [`Keyspaces::change`].
#[derive(Default)]
pub struct Keyspaces {
    open: ArcSwap<Open>,
    /// Which of them have sealed memtables.
    sealed: Arc<SealedKeyspaces>,
    /// Whether one was ever among them that is unlogged: every write asks.
    has_unlogged: AtomicBool,
    /// Held while one is created or dropped, so that changes come one after the other.
    changing: Mutex<()>,
}

/// The same keyspaces by name and by number: a flush asks for all of theirs, and would look for
/// each among all.
#[derive(Clone, Default)]
struct Open {
    by_name: BTreeMap<Arc<str>, Arc<KeyspaceParts>>,
    by_id: IdMap<KeyspaceId, Arc<KeyspaceParts>>,
}

impl Keyspaces {
    /// The keyspace of that name, if it is there.
    pub fn find(&self, name: &str) -> Option<Arc<KeyspaceParts>> {
        self.open.load().by_name.get(name).cloned()
    }

    /// The keyspace of that name; `Invalid` when it is not there.
    pub fn get(&self, name: &str) -> Result<Arc<KeyspaceParts>> {
        self.find(name)
            .ok_or_else(|| Error::invalid(format!("there is no keyspace {name:?}")))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.open.load().by_name.len()
    }

    /// Every keyspace, by name.
    pub fn all(&self) -> Vec<Arc<KeyspaceParts>> {
        self.open.load().by_name.values().cloned().collect()
    }

    /// Those of them that are there.
    pub fn all_of(&self, ids: impl IntoIterator<Item = KeyspaceId>) -> Vec<Arc<KeyspaceParts>> {
        let open = self.open.load();
        let found = ids.into_iter().filter_map(|id| open.by_id.get(&id));
        found.cloned().collect()
    }

    /// Those that have sealed memtables.
    pub fn with_sealed(&self) -> Vec<Arc<KeyspaceParts>> {
        self.all_of(self.sealed.list())
    }

    /// Who is to be told which keyspaces have sealed memtables.
    pub fn sealed(&self) -> &Arc<SealedKeyspaces> {
        &self.sealed
    }

    /// The keyspace with that number, if it is there.
    pub fn by_id(&self, id: KeyspaceId) -> Option<Arc<KeyspaceParts>> {
        self.open.load().by_id.get(&id).cloned()
    }

    /// The first of those with these numbers that is unlogged.
    #[inline]
    pub fn unlogged_of(&self, ids: &[KeyspaceId]) -> Option<Arc<KeyspaceParts>> {
        // Relaxed: whoever has a handle of one saw it added, and this is set before that.
        if !self.has_unlogged.load(Ordering::Relaxed) {
            return None;
        }
        let mut found = ids.iter().filter_map(|id| self.by_id(*id));
        found.find(|parts| parts.is_unlogged)
    }

    /// Bytes of memtables that are sealed and not flushed, over all keyspaces.
    pub fn sealed_bytes(&self) -> usize {
        let all = self.with_sealed();
        let tables = all.iter().flat_map(|parts| parts.current.sealed());
        tables.map(|sealed| sealed.table.used_bytes()).sum()
    }

    /// Those of them whose flush waits for the user's own log.
    pub fn parked_bytes(&self) -> usize {
        let all = self.with_sealed();
        let parked = all.iter().filter(|parts| {
            let hold = parts.hold.as_ref();
            hold.is_some_and(|hold| hold.is_refused())
        });
        let tables = parked.flat_map(|parts| parts.current.sealed());
        tables.map(|sealed| sealed.table.used_bytes()).sum()
    }

    /// Adds some. Only while `changing` is held. Whoever has many adds them together: what there is
    /// is copied once for each call.
    pub fn add(&self, added: impl IntoIterator<Item = KeyspaceParts>) {
        let mut open = Open::clone(&self.open.load());
        for parts in added.into_iter().map(Arc::new) {
            if parts.is_unlogged {
                self.has_unlogged.store(true, Ordering::Relaxed);
            }
            open.by_id.insert(parts.id, Arc::clone(&parts));
            open.by_name.insert(Arc::from(&*parts.name), parts);
        }
        self.open.store(Arc::new(open));
    }

    /// Removes one. Only while `changing` is held.
    pub fn remove(&self, name: &str) {
        let mut open = Open::clone(&self.open.load());
        if let Some(parts) = open.by_name.remove(name) {
            open.by_id.remove(&parts.id);
            self.sealed.note(parts.id, false);
        }
        self.open.store(Arc::new(open));
    }

    /// Waits for a running creation or drop, and keeps others away while the guard lives.
    pub fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Keyspaces::change`], for who must not wait: `None` while somebody else changes them.
    pub fn try_change(&self) -> Option<MutexGuard<'_, ()>> {
        match self.changing.try_lock() {
            Ok(changing) => Some(changing),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
