//! Transactions under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions};
use crate::db::txn::locks::lock_notes::LockNotes;

/// The transactions that somebody holds. Any thread may call anything.
#[derive(Debug, Default)]
pub struct LiveTransactions {
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    /// By their places; `None` where one has ended.
    begun: Vec<Option<(LiveTransaction, Option<Arc<LockNotes>>)>>,
    free_places: Vec<usize>,
    begun_count: u64,
}

/// One transaction under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTransaction {
    /// Its place among all that were begun since the database was opened.
    pub number: u64,
    /// How far it is kept apart from others.
    pub isolation: Isolation,
    /// By what.
    pub mode: TransactionMode,
    /// When it began, by the monotonic clock.
    pub begun_at: Duration,
    /// Whose it is, if somebody said so.
    pub owner: Option<Arc<str>>,
}

/// Where one transaction is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivePlace {
    place: usize,
    /// Its place among all that were begun since the database was opened.
    pub number: u64,
}

impl LiveTransactions {
    /// One begins, in a place by which [`LiveTransactions::end`] forgets it; `notes` are of its
    /// locks, if it is to lock what it touches.
    pub fn begin(
        &self,
        options: &TransactionOptions,
        begun_at: Duration,
        notes: Option<Arc<LockNotes>>,
    ) -> LivePlace {
        let mut live = self.live();
        let number = live.begun_count;
        live.begun_count += 1;
        let one = LiveTransaction {
            number,
            isolation: options.isolation,
            mode: options.mode,
            begun_at,
            owner: None,
        };
        let place = match live.free_places.pop() {
            Some(place) => place,
            None => {
                live.begun.push(None);
                live.begun.len() - 1
            }
        };
        live.begun[place] = Some((one, notes));
        LivePlace { place, number }
    }

    /// Says whose one is.
    pub fn set_owner(&self, at: LivePlace, owner: Arc<str>) {
        let mut live = self.live();
        let one = live.begun[at.place].as_mut();
        one.expect("it has not ended").0.owner = Some(owner);
    }

    /// One has ended.
    pub fn end(&self, at: LivePlace) {
        let mut live = self.live();
        live.begun[at.place] = None;
        live.free_places.push(at.place);
    }

    /// The one with that number, if it is still under way.
    pub fn find(&self, number: u64) -> Option<LiveTransaction> {
        let live = self.live();
        let mut begun = live.begun.iter().flatten();
        let found = begun.find(|(one, _)| one.number == number);
        found.map(|(one, _)| one.clone())
    }

    /// The notes of the locks of the one with that number; `None` if it is not under way, or locks
    /// nothing.
    pub fn lock_notes(&self, number: u64) -> Option<Arc<LockNotes>> {
        let live = self.live();
        let mut begun = live.begun.iter().flatten();
        begun.find(|(one, _)| one.number == number)?.1.clone()
    }

    /// All of them, oldest first.
    pub fn list(&self) -> Vec<LiveTransaction> {
        let live = self.live();
        let begun = live.begun.iter().flatten();
        let mut list: Vec<_> = begun.map(|(one, _)| one.clone()).collect();
        drop(live);
        list.sort_unstable_by_key(|one| one.number);
        list
    }

    // A panic could leave a place that is taken for ever, and nothing worse.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
