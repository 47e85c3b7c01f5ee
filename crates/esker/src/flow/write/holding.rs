//! The write path while files from elsewhere are taken in: writers wait, and go on behind them.

use std::cell::RefCell;
use std::sync::atomic;
use std::sync::{MutexGuard, TryLockError};
use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::flow::write::active::Active;
use crate::flow::write::commit::Committer;

/// For how long who does not wait looks for the lock of all writers: that of many writes, and
/// less than making a file takes.
const LINGER: Duration = Duration::from_micros(200);

impl Committer {
    /// What is live, for a writer whose turn it is: it waits while files are taken in.
    ///
    /// Errors: those of the gate; `Busy` for who does not wait.
    #[inline]
    pub(in crate::flow::write) fn writable(&self, no_wait: bool) -> Result<MutexGuard<'_, Active>> {
        self.writable_if(no_wait, || self.gate.check_write())
    }

    /// As [`Committer::writable`], for whom `check` lets pass.
    #[inline]
    pub(in crate::flow::write) fn writable_if(
        &self,
        no_wait: bool,
        check: impl Fn() -> Result<()>,
    ) -> Result<MutexGuard<'_, Active>> {
        let active = match no_wait {
            false => self.active(),
            true => self.active_at_once()?,
        };
        // A failure between the first look and the lock must not be overtaken.
        check()?;
        match active.is_held() {
            false => Ok(active),
            true => {
                let world = (&*self.gate, &*self.controller, &self.env);
                let again = (|| self.active(), check);
                self.hold.wait(active, again, no_wait, world)
            }
        }
    }

    // For who does not wait: others hold the lock for two copies of memory as a rule, but also
    // while they make a segment of the log.
    #[cold]
    fn active_at_once(&self) -> Result<MutexGuard<'_, Active>> {
        if let Some(active) = self.try_active() {
            return Ok(active);
        }
        let taken = RefCell::new(None);
        self.env.pool.linger(LINGER, &|| {
            let active = self.try_active();
            let is_taken = active.is_some();
            taken.replace(active);
            is_taken
        });
        taken.into_inner().ok_or_else(|| {
            let message = "another writer is making room in the log; try again, or write without \
                           no_wait";
            Error::new(ErrorKind::Busy, message)
        })
    }

    fn try_active(&self) -> Option<MutexGuard<'_, Active>> {
        match self.active.try_lock() {
            Ok(active) => Some(active),
            // As in `active`.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Files were taken into `keyspaces` whose entries have the numbers behind the last write's, up
    /// to `last`: readers see them from now on. While writers wait.
    ///
    /// # Panics
    /// If anything lies in the live memtable of one of these keyspaces.
    pub fn adopted(&self, keyspaces: impl Iterator<Item = KeyspaceId>, last: SeqNo) {
        self.paused(|active| {
            for id in keyspaces {
                active.renew(id);
            }
            active.adopted(last);
            // As in a write: who sees the number sees its entries.
            self.visible.store(last.get(), atomic::Ordering::Release);
        });
    }
}
