//! Why a node must end, told once by whoever knows first.

use std::sync::Arc;

use tokio::sync::watch;

use crate::log_lines::{Level, LogLines};

/// Where threads say that the node must end. Copies are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    why: Arc<watch::Sender<Option<String>>>,
    log: LogLines,
}

impl Faults {
    pub(crate) fn new(log: LogLines) -> Faults {
        Faults {
            why: Arc::new(watch::Sender::new(None)),
            log,
        }
    }

    /// The node must end; of several reasons the first one counts.
    pub(crate) fn tell(&self, why: impl Into<String>) {
        let why = why.into();
        let line = format!("the node ends: {why}");
        let is_first = self.why.send_if_modified(|told| {
            let is_first = told.is_none();
            told.get_or_insert(why);
            is_first
        });
        if is_first {
            self.log.write(Level::Error, &line);
        }
    }

    /// Why it must, if it must.
    pub(crate) fn told(&self) -> Option<String> {
        self.why.borrow().clone()
    }

    /// Waits until it must.
    pub(crate) async fn wait(&self) -> String {
        let mut why = self.why.subscribe();
        let told = why.wait_for(Option::is_some).await;
        // The sender lives as long as this.
        told.ok().and_then(|told| told.clone()).unwrap_or_default()
    }
}
