//! Standard output, written in large pieces, as lines, JSON or plain tables.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde_json::Value;

use crate::text::{tame, tame_json};

/// Bytes gathered before a write: one call for many short lines.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output. A closed pipe comes back as `BrokenPipe`, which ends the command quietly.
pub struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    /// Locks standard output for this thread.
    pub fn lock() -> Out {
        Out(BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()))
    }

    /// Whether a person reads it.
    pub fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// One line of text for people.
    pub fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.text(text)?;
        self.0.write_all(b"\n")
    }

    /// Text for people, over several lines.
    pub fn text(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.0.write_all(tame(text.as_ref()).as_bytes())
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// One JSON value on one line.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        self.line(tame_json(value.to_string()))
    }

    /// One JSON value over several lines, for a person to read too.
    pub fn json_page(&mut self, value: &Value) -> io::Result<()> {
        self.line(tame_json(format!("{value:#}")))
    }

    /// Writes what is still gathered. Call it last: dropping would hide an error.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}
