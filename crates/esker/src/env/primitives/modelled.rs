//! What `loom` lacks, made of what it has.

use std::sync::{Arc, LockResult, PoisonError};
use std::time::Duration;

use loom::sync::{MutexGuard, RwLock};

/// A condition variable whose timeouts never come, so that whoever relies on them is found: a
/// thread that nobody wakes is a deadlock, which ends the model.
#[derive(Debug, Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// Wakes everybody who waits.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Wakes one of those who wait.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Waits while the condition holds.
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        _timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, ())> {
        while condition(&mut guard) {
            guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        Ok((guard, ()))
    }
}

/// A shared value that is read and replaced whole. This says what the crate `arc-swap` promises,
/// not how it keeps it: the models prove what is built on it, Miri and ThreadSanitizer run it.
#[derive(Debug)]
pub struct ArcSwap<T>(RwLock<Arc<T>>);

/// What a reader of an [`ArcSwap`] holds.
pub type Guard<T> = T;

impl<T> ArcSwap<T> {
    /// The first value.
    pub fn from_pointee(value: T) -> ArcSwap<T> {
        ArcSwap(RwLock::new(Arc::new(value)))
    }

    /// The value now.
    pub fn load(&self) -> Guard<Arc<T>> {
        self.load_full()
    }

    /// The value now.
    pub fn load_full(&self) -> Arc<T> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&held)
    }

    /// Replaces the value.
    pub fn store(&self, value: Arc<T>) {
        let before = {
            let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, value)
        };
        // Not under the lock: dropping a value may take other locks.
        drop(before);
    }
}
