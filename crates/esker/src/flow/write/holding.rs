//! The write path while files from elsewhere are taken in: writers wait, and go on behind them.

use std::sync::MutexGuard;
use std::sync::atomic;

use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::flow::write::active::Active;
use crate::flow::write::commit::Committer;

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
        let active = self.active();
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
