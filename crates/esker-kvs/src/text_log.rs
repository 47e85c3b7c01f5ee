//! The log for people: a line of text and the place in the source for whatever happens.
//!
//! A line is `<text>\t\t<file>[<line>]\n`, as the original wrote it.
#![allow(
    clippy::disallowed_methods,
    reason = "the log is the program's own file, outside of the store"
)]

use std::fs::File;
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Bytes from which on refusals are no longer written: a program that asks for missing keys all
/// day shall not fill the disk with them. Half a million lines are enough to see what goes wrong.
const REFUSAL_BYTES_MAX: u64 = 32 << 20;

/// The log of one store. Any thread may write; a line is never torn by another.
pub struct TextLog {
    sink: Mutex<Sink>,
}

struct Sink {
    to: Box<dyn Write + Send>,
    bytes: u64,
    is_quiet: bool,
}

impl TextLog {
    /// A log in an emptied file, or on standard output without one.
    pub fn open(path: Option<&Path>) -> io::Result<TextLog> {
        match path {
            // A copy, whose number is never that of a standard stream, as the file's own may be in
            // a program that has closed one.
            Some(path) => Ok(TextLog::to(File::create(path)?.try_clone()?)),
            None => Ok(TextLog::to(io::stdout())),
        }
    }

    /// A log anywhere.
    pub fn to(to: impl Write + Send + 'static) -> TextLog {
        TextLog {
            sink: Mutex::new(Sink {
                to: Box::new(to),
                bytes: 0,
                is_quiet: false,
            }),
        }
    }

    /// Writes a line about the store's life.
    #[track_caller]
    pub fn event(&self, text: &str) {
        let place = Location::caller();
        self.with(|sink| sink.write(&[text.to_owned()], place));
    }

    /// Writes lines about a refusal, unless there were very many.
    #[track_caller]
    pub fn refusal(&self, lines: &[String]) {
        let place = Location::caller();
        self.with(|sink| {
            if sink.bytes < REFUSAL_BYTES_MAX {
                sink.write(lines, place);
            } else if !std::mem::replace(&mut sink.is_quiet, true) {
                let text = "the log is long; further refusals are not written".to_owned();
                sink.write(&[text], place);
            }
        });
    }

    fn with(&self, act: impl FnOnce(&mut Sink)) {
        act(&mut self.sink.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Sink {
    fn write(&mut self, lines: &[String], place: &Location<'_>) {
        let mut text = String::new();
        for line in lines {
            let line = line.replace('\n', " ");
            text += &format!("{line}\t\t{}[{}]\n", place.file(), place.line());
        }
        self.bytes += text.len() as u64;
        // A log that cannot be written must not fail the call that it is about.
        let _ = self
            .to
            .write_all(text.as_bytes())
            .and_then(|()| self.to.flush());
    }
}

#[cfg(test)]
mod tests;
