//! Where writers wait until files from elsewhere are taken in.

use std::sync::MutexGuard;

use crate::base::hooks::event_reasons::StallCause;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::user_code;
use crate::env::bundle::Env;
use crate::flow::write::active::Active;
use crate::flow::write::gate::Gate;
use crate::flow::write::stall_watch::StallWatch;
use crate::flow::write::write_controller::{LOOK_AGAIN, WriteController};

/// Where writers wait until files from elsewhere are taken in, which `Active` says.
#[derive(Debug)]
pub struct WriterHold {
    waiting: StallWatch,
}

impl Default for WriterHold {
    fn default() -> WriterHold {
        WriterHold {
            waiting: StallWatch::new(StallCause::Ingest),
        }
    }
}

impl WriterHold {
    /// Lets go of `active`, and takes it again by `lock` once writers may go on.
    ///
    /// Errors: `Busy` at once for who asked not to wait; those of `check`.
    #[cold]
    pub fn wait<'a>(
        &self,
        mut active: MutexGuard<'a, Active>,
        (lock, check): (impl Fn() -> MutexGuard<'a, Active>, impl Fn() -> Result<()>),
        no_wait: bool,
        (gate, controller, env): (&Gate, &WriteController, &Env),
    ) -> Result<MutexGuard<'a, Active>> {
        if no_wait || user_code::is_answering() {
            let message = "files are being taken in; try again, or write without no_wait";
            return Err(Error::new(ErrorKind::Busy, message));
        }
        let since = env.clock.monotonic();
        let _waiting = self.waiting.enter(&gate.events, env);
        while active.is_held() {
            // Counted under the lock: who lets writers go on raises it behind that.
            let seen = gate.changed.raised_count();
            drop(active);
            env.pool.wait(&gate.changed, seen, LOOK_AGAIN);
            check()?;
            active = lock();
        }
        controller.count_stall(since, env);
        // As for who did not wait: under the lock.
        check()?;
        Ok(active)
    }
}
