//! Calls that wait for a limit of their table, without a thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

/// Calls that wait at a time, of all tables. Those beyond are refused: a call that waits keeps its
/// arguments.
const DELAYED_MAX: usize = 1 << 14;

/// The calls that wait. Copies are the same one.
#[derive(Clone)]
pub(crate) struct Delays {
    handle: Handle,
    permits: Arc<Semaphore>,
}

/// Room for one of them.
pub(crate) struct Permit(OwnedSemaphorePermit);

impl Delays {
    /// None yet; what comes of them is done by a thread of that runtime.
    pub(crate) fn new(handle: &Handle) -> Delays {
        Delays {
            handle: handle.clone(),
            permits: Arc::new(Semaphore::new(DELAYED_MAX)),
        }
    }

    /// Room for one, unless as many wait as may.
    pub(crate) fn permit(&self) -> Option<Permit> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.ok().map(Permit)
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        DELAYED_MAX - self.permits.available_permits()
    }

    /// Does something after so long.
    pub(crate) fn after(
        &self,
        permit: Permit,
        wait: Duration,
        then: impl FnOnce() + Send + 'static,
    ) {
        self.handle.spawn(async move {
            sleep(wait).await;
            drop(permit.0);
            then();
        });
    }
}
