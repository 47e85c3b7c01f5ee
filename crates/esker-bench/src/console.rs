//! Where a benchmark speaks: results on one stream, everything else on the other.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The two streams. Threads may write to the second at the same time, whole lines each.
pub struct Console<'a> {
    /// Results, which scripts read.
    pub out: &'a mut dyn Write,
    /// Headers, notes, progress.
    pub err: Remarks<'a>,
}

impl<'a> Console<'a> {
    /// A console over two streams; `is_live` tells whether a person watches the second.
    pub fn new(
        out: &'a mut dyn Write,
        err: &'a mut (dyn Write + Send),
        is_live: bool,
    ) -> Console<'a> {
        Console {
            out,
            err: Remarks {
                stream: Mutex::new(err),
                is_live,
            },
        }
    }
}

/// The stream for headers, notes and progress. Any thread may write a line.
pub struct Remarks<'a> {
    stream: Mutex<&'a mut (dyn Write + Send)>,
    is_live: bool,
}

impl<'a> Remarks<'a> {
    /// Whether a person watches: only then is there a live line.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// Writes `text` as it is.
    pub fn write(&self, text: &str) -> io::Result<()> {
        let mut stream = self.lock();
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    /// Writes a line.
    pub fn line(&self, text: &str) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    // A thread that panicked while it wrote left at worst half a line.
    fn lock(&self) -> MutexGuard<'_, &'a mut (dyn Write + Send)> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
