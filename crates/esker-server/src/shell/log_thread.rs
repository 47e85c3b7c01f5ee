//! The thread of the raft log.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use esker::Result;
use esker_raft::Save;

use crate::node::{Ask, Logging};
use crate::shell::fault::Faults;
use crate::shell::inbox::{Inbox, Told};
use crate::shell::moments::Moments;

/// How often segments are given back, and those who keep them are looked after.
const UPKEEP: Duration = Duration::from_secs(1);

/// How long nothing comes until what was synced is marked: a log that is written to all the time
/// needs no marks.
const REST: Duration = Duration::from_millis(10);

pub(crate) struct LogThread {
    pub(crate) logging: Logging,
    pub(crate) saves: Receiver<Vec<Save>>,
    pub(crate) inbox: Inbox,
    pub(crate) moments: Moments,
    pub(crate) faults: Faults,
}

impl LogThread {
    /// Writes until nobody can give any more saves; then everything is durable.
    pub(crate) fn run(mut self) {
        if let Err(error) = self.write_all() {
            self.faults.tell(format!("the raft log failed: {error}"));
        }
    }

    fn write_all(&mut self) -> Result<()> {
        let mut next_upkeep = self.moments.now().monotonic + UPKEEP;
        loop {
            let mut wait = next_upkeep.saturating_sub(self.moments.now().monotonic);
            if self.logging.is_unmarked() {
                wait = wait.min(REST);
            }
            match self.saves.recv_timeout(wait) {
                Ok(saves) => {
                    saves.into_iter().for_each(|save| self.logging.take(save));
                    // Whatever came meanwhile shares the sync.
                    while let Ok(saves) = self.saves.try_recv() {
                        saves.into_iter().for_each(|save| self.logging.take(save));
                    }
                    self.write()?;
                }
                Err(RecvTimeoutError::Timeout) => self.logging.rest()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.logging.upkeep()?;
                    self.write()?;
                    return self.logging.rest();
                }
            }
            if self.moments.now().monotonic >= next_upkeep {
                next_upkeep = self.moments.now().monotonic + UPKEEP;
                let pressure = self.logging.upkeep()?;
                self.inbox.tell(Told::Stage(Ask::LogPressure(pressure)));
                self.write()?;
            }
        }
    }

    fn write(&mut self) -> Result<()> {
        if let Some(number) = self.logging.write()? {
            self.inbox.tell(Told::Stage(Ask::Durable(number)));
        }
        Ok(())
    }
}
