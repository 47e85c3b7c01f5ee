//! Keeps a database open; when the last reference goes, the process that opened it closes it.

use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::manual;
use crate::env::pool::Priority;

/// A share in an open database. Handles, iterators and snapshots hold one each, background jobs
/// do not: so work that runs never keeps a database open that nobody uses.
#[derive(Clone)]
pub struct DatabaseRef(Arc<Owner>);

struct Owner {
    core: Arc<Core>,
}

impl DatabaseRef {
    /// The first reference of a database that was opened just now.
    pub fn new(core: Arc<Core>) -> DatabaseRef {
        DatabaseRef(Arc::new(Owner { core }))
    }

    /// The parts of the database.
    #[inline]
    pub fn core(&self) -> &Arc<Core> {
        &self.0.core
    }

    /// Closes the database now, whoever else holds a reference.
    pub fn close(&self) -> Result<()> {
        manual::close(&self.0.core)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let core = Arc::clone(&self.core);
        if core.gate.check_process().is_err() {
            // The database is its parent's: nothing is closed, ended or waited for. What lies in
            // memory stays until the process ends; only the directory's lock is let go, which the
            // parent keeps, so that it is free when the parent ends.
            if let Ok(mut lock) = core.lock.try_lock() {
                *lock = None;
            }
            std::mem::forget(core);
            return;
        }
        let close = move || {
            // Whoever wants to know how closing went calls `close`; here nobody is left to tell.
            let _unheard = manual::close(&core);
        };
        let is_told = self.core.events.is_telling_here();
        let is_called = is_told
            || self.core.durable_calls.is_calling_here()
            || self.core.own_log.is_calling_here();
        if user_code::is_running() || is_called {
            // A merge operator, a listener or a callback had the last reference. What called it
            // must end before this can.
            let pool = Arc::clone(&self.core.env.pool);
            pool.spawn(Priority::High, "esker-close", Box::new(close));
        } else {
            close();
        }
    }
}
