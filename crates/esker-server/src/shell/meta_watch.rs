//! Whether a leader of the meta service answers this node, and since when none does.
//!
//! And whether the replica of it here is damaged: most of them being so is a reason for silence.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most that one look adds: a pause of this node is no silence of the others.
const PASS_MAX: Duration = Duration::from_secs(1);

/// Silence in which nobody is taken to lead: more than a new leader mostly takes, so that clients
/// are told by the leader whenever there is one.
const AWAY_MS: u64 = 2000;

/// Silence that a person should hear of: no vote takes so long.
const LOST_MS: u64 = 10_000;

/// How long no leader of the meta service has answered a report.
///
/// Any thread may look; the thread of consensus alone changes it.
#[derive(Debug, Default)]
pub(crate) struct MetaWatch {
    // Numbers of their own: nothing else is read by them, so their order does not matter.
    silent_ms: AtomicU64,
    is_told: AtomicBool,
    was_answered: AtomicBool,
    damage: Mutex<Option<String>>,
}

impl MetaWatch {
    /// Whether nobody leads, as far as this node can tell.
    pub(crate) fn is_away(&self) -> bool {
        self.silent_ms.load(Ordering::Relaxed) >= AWAY_MS
    }

    /// Whether somebody leads: one has answered in this life, and a moment ago.
    pub(crate) fn is_led(&self) -> bool {
        self.was_answered.load(Ordering::Relaxed) && !self.is_away()
    }

    /// Why the replica here takes no part any more, if it does not.
    pub(crate) fn damage(&self) -> Option<String> {
        self.damage_cell().clone()
    }

    /// From now on it is that.
    pub(crate) fn set_damage(&self, why: Option<&str>) {
        let mut damage = self.damage_cell();
        if damage.as_deref() != why {
            *damage = why.map(str::to_owned);
        }
    }

    /// A leader has answered. The line that it does again, if somebody was told that it does not.
    pub(crate) fn answered(&self) -> Option<String> {
        let silent_ms = self.silent_ms.swap(0, Ordering::Relaxed);
        self.was_answered.store(true, Ordering::Relaxed);
        let was_told = self.is_told.swap(false, Ordering::Relaxed);
        was_told.then(|| {
            let silent_s = silent_ms / 1000;
            format!("a leader of the meta service answers again, after {silent_s} s")
        })
    }

    /// So much time has passed since the last look. The line that nobody answers, once each time.
    pub(crate) fn pass(&self, elapsed: Duration) -> Option<String> {
        let elapsed = elapsed.min(PASS_MAX).as_millis();
        let elapsed = u64::try_from(elapsed).expect("a second at most");
        let silent_ms = self.silent_ms.fetch_add(elapsed, Ordering::Relaxed) + elapsed;
        let is_news = silent_ms >= LOST_MS && !self.is_told.swap(true, Ordering::Relaxed);
        is_news.then(|| {
            let silent_s = silent_ms / 1000;
            let own = match self.damage() {
                Some(why) => format!("; the one of this node is damaged: {why}"),
                None => String::new(),
            };
            format!(
                "no leader of the meta service has answered for {silent_s} s: what this node has \
                 is served as before, but no table can be made or changed and nothing that is lost \
                 is replaced, until most replicas of the meta service are sound and their nodes \
                 run{own}"
            )
        })
    }

    // Words are whole whatever a thread that panicked was about to do.
    fn damage_cell(&self) -> MutexGuard<'_, Option<String>> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
