//! What the handle of a keyspace has for programs with a log of their own.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::db::flush_asking;
use crate::db::keyspace_handle::Keyspace;
use crate::db::manual;
use crate::db::worker;
use crate::db::write_pressure::{self, WritePressure};

impl Keyspace {
    /// The mark of the last batch that brought one ([`WriteBatch::mark`](crate::WriteBatch::mark)):
    /// who reads the keyspace from now on sees everything up to it. After an opening it is
    /// [`Keyspace::flushed_mark`].
    pub fn mark(&self) -> Result<Option<Bytes>> {
        let core = self.database().core();
        core.gate.check_read()?;
        core.committer.mark(self.parts().id)
    }

    /// Up to which mark everything lies in sorted files: what the keyspace holds after a crash at
    /// this moment. Everything up to it, and of batches without a mark perhaps some behind it.
    pub fn flushed_mark(&self) -> Result<Option<Bytes>> {
        let core = self.database().core();
        core.gate.check_read()?;
        let version = core.history.peek();
        let state = version.keyspace(self.parts().id);
        let state = state.ok_or_else(|| Error::invalid("the keyspace was dropped"))?;
        Ok(state.mark.clone())
    }

    /// What time it is for the keyspace, in unix milliseconds, if it has a clock of its own: the
    /// latest time that came with a mark ([`WriteBatch::mark_at`](crate::WriteBatch::mark_at)), 0
    /// before the first. After an opening it is that of [`Keyspace::flushed_mark`].
    pub fn clock_unix_ms(&self) -> Result<Option<u64>> {
        self.database().core().gate.check_read()?;
        Ok(self.parts().clock.as_ref().map(|clock| clock.unix_ms()))
    }

    /// What a write to the keyspace would meet now: for who must not wait
    /// ([`WriteOptions::no_wait`]), and admits work by it.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// assert_eq!(db.write_pressure().state, esker::WriteState::Open);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_pressure(&self) -> WritePressure {
        write_pressure::of(self.database().core(), self.parts())
    }

    /// Has what was written so far flushed, and does not wait for it.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// db.flush_soon()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn flush_soon(&self) -> Result<()> {
        manual::flush_soon(self.database().core(), self.parts())
    }

    /// Says that [`OwnLog::is_durable`](crate::OwnLog::is_durable) may say yes where it said no:
    /// flushes of the keyspace that wait for that go on. To be called whenever the log was made
    /// durable further; where nothing waits it costs next to nothing.
    pub fn own_log_is_durable(&self) {
        flush_asking::log_is_durable(self.database().core(), self.parts(), worker::wake);
    }
}
