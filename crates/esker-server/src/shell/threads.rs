//! Threads of a node: each ends by itself, or says why it could not.
#![allow(
    clippy::disallowed_methods,
    reason = "stages have threads of their own here, and nowhere else"
)]

use std::io;
use std::thread::{Builder, JoinHandle, panicking};

use crate::shell::fault::Faults;

/// A thread that runs until what it is given ends.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    handle: JoinHandle<()>,
}

/// Starts a thread. One that panics ends the node.
pub(crate) fn spawn(
    name: &str,
    faults: &Faults,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<Running> {
    let watch = Watch {
        name: name.to_owned(),
        faults: faults.clone(),
    };
    let handle = Builder::new().name(name.to_owned()).spawn(move || {
        let _watch = watch;
        run();
    })?;
    Ok(Running {
        name: name.to_owned(),
        handle,
    })
}

impl Running {
    /// Waits until it has ended.
    ///
    /// Errors: it panicked.
    pub(crate) fn join(self) -> Result<(), String> {
        let ended = self.handle.join();
        ended.map_err(|_| format!("the thread {} has panicked", self.name))
    }
}

struct Watch {
    name: String,
    faults: Faults,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if panicking() {
            self.faults
                .tell(format!("the thread {} has panicked", self.name));
        }
    }
}
