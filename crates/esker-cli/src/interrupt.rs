//! Ctrl-C, as a flag for work that must end between two batches, and as what a server waits for.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::fail::{Code, Failure, Outcome};

/// The signals that ask a process to stop.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

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
        for signal in SIGNALS {
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

    /// What can wait for the flag. It takes three descriptors, which later there may not be.
    pub fn listen(&self) -> Outcome<Listener> {
        let pair = || -> io::Result<UnixStream> {
            let (heard, told) = UnixStream::pair()?;
            for signal in SIGNALS {
                pipe::register(signal, told.try_clone()?)?;
            }
            heard.set_nonblocking(true)?;
            Ok(heard)
        };
        let heard = pair().map_err(|error| Failure::system("cannot watch for Ctrl-C", &error))?;
        let interrupt = self.clone();
        Ok(Listener { interrupt, heard })
    }

    /// What a process that stops as asked exits with.
    pub fn code(&self) -> Code {
        match i32::try_from(self.signal.load(Ordering::Relaxed)) {
            Ok(SIGTERM) => Code::Terminated,
            _ => Code::Interrupted,
        }
    }
}

/// Who waits for the flag of an [`Interrupt`].
pub struct Listener {
    interrupt: Interrupt,
    heard: UnixStream,
}

impl Listener {
    /// Waits until the flag is up, in a runtime with I/O. Nothing wakes meanwhile.
    ///
    /// Errors: those of the runtime.
    pub async fn raised(self) -> io::Result<()> {
        let heard = tokio::net::UnixStream::from_std(self.heard)?;
        // Looked at here first, for a signal of before that told nobody; of any other one the flag
        // is up before it tells.
        while !self.interrupt.is_raised() {
            heard.readable().await?;
            // The byte says no more than the flag does.
            let _ = heard.try_read(&mut [0]);
        }
        Ok(())
    }
}
