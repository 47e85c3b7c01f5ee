//! Ctrl-C as a flag, for work that must end between two batches and not in the middle of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::fail::{Failure, Outcome};

/// Whether somebody asked the process to stop.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C and `kill` raise the flag. A second one ends the process at once, which
    /// harms no database either: it is only less polite.
    pub fn watch() -> Outcome<Interrupt> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let second = signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag));
            let first = signal_hook::flag::register(signal, Arc::clone(&flag));
            second
                .and(first)
                .map_err(|error| Failure::system("cannot watch for Ctrl-C", &error))?;
        }
        Ok(Interrupt(flag))
    }

    /// Whether the flag is up.
    pub fn is_raised(&self) -> bool {
        // The flag carries no other state with it, and a batch more or less does not matter.
        self.0.load(Ordering::Relaxed)
    }
}
