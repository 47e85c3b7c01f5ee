//! Ctrl-C as a flag, for work that must end between two batches and not in the middle of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::fail::{Code, Failure, Outcome};

/// Whether somebody asked the process to stop.
#[derive(Clone)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    /// The number of the signal that raised it.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on Ctrl-C and `kill` raise the flag. A second one ends the process at once, which
    /// harms no database either: it is only less polite.
    pub fn watch() -> Outcome<Interrupt> {
        let flag = Arc::new(AtomicBool::new(false));
        let number = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM] {
            // Before the flag, so that who sees the flag knows the number.
            let value = usize::try_from(signal).expect("signals have small numbers");
            signal_hook::flag::register_usize(signal, Arc::clone(&number), value)
                .map_err(|error| Failure::system("cannot watch for Ctrl-C", &error))?;
            let second = signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag));
            let first = signal_hook::flag::register(signal, Arc::clone(&flag));
            second
                .and(first)
                .map_err(|error| Failure::system("cannot watch for Ctrl-C", &error))?;
        }
        Ok(Interrupt {
            flag,
            signal: number,
        })
    }

    /// Whether the flag is up.
    pub fn is_raised(&self) -> bool {
        // The flag carries no other state with it, and a batch more or less does not matter.
        self.flag.load(Ordering::Relaxed)
    }

    /// What a process that stops as asked exits with.
    pub fn code(&self) -> Code {
        match i32::try_from(self.signal.load(Ordering::Relaxed)) {
            Ok(SIGTERM) => Code::Terminated,
            _ => Code::Interrupted,
        }
    }
}
