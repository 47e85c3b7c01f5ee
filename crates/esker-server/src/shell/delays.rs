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
    places: Arc<Semaphore>,
}

/// Room for one of them.
pub(crate) struct Place(OwnedSemaphorePermit);

impl Delays {
    /// None yet; what comes of them is done by a thread of that runtime.
    pub(crate) fn new(handle: &Handle) -> Delays {
        Delays {
            handle: handle.clone(),
            places: Arc::new(Semaphore::new(DELAYED_MAX)),
        }
    }

    /// Room for one, unless as many wait as may.
    pub(crate) fn place(&self) -> Option<Place> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.ok().map(Place)
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        DELAYED_MAX - self.places.available_permits()
    }

    /// Does something after so long.
    pub(crate) fn after(&self, place: Place, wait: Duration, then: impl FnOnce() + Send + 'static) {
        self.handle.spawn(async move {
            sleep(wait).await;
            drop(place.0);
            then();
        });
    }
}
