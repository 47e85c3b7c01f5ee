//! Lines of a file, taken by any number of threads.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use esker::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

use crate::fail::{Failure, Outcome};

/// Bytes that are read at once: large against a line, small against memory.
const READ_AHEAD: usize = 1 << 20;

/// Longest line, with its end: one holds a record, and more than key and value no record has.
const LINE_BYTES_MAX: u64 = (KEY_BYTES_MAX + VALUE_BYTES_MAX) as u64;

/// A file whose lines are taken one by one, each by one thread. It may be a pipe.
///
/// A lock around a buffered reader costs a fraction of what writing a record costs, hands out
/// exactly the lines that are asked for, and has no queue that could overflow or end too early.
#[derive(Debug)]
pub struct LineSource {
    path: PathBuf,
    reader: Mutex<BufReader<File>>,
}

impl LineSource {
    /// Opens the file.
    ///
    /// Errors: `Usage` when it cannot be opened or is a directory; `what` says what it is for.
    pub fn open(what: &str, path: &Path) -> Outcome<LineSource> {
        let told = |error: &dyn std::fmt::Display| {
            Failure::usage(format!(
                "cannot read the {what} {}: {error}; name a file that is there with \
                 -p {what}=<file>",
                path.display()
            ))
        };
        let file = File::open(path).map_err(|error| told(&error))?;
        if path.is_dir() {
            return Err(told(&"it is a directory"));
        }
        Ok(LineSource {
            path: path.to_owned(),
            reader: Mutex::new(BufReader::with_capacity(READ_AHEAD, file)),
        })
    }

    /// Takes the next line, without its end; says whether there was one.
    pub fn next_line(&self, line: &mut Vec<u8>) -> Outcome<bool> {
        // A thread that panicked here left the reader at worst behind a line.
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&mut reader, line)
    }

    /// Takes the next line; after the last one comes the first again. Says whether it did.
    ///
    /// Errors: when the file is empty, or is a pipe that ended.
    pub fn next_line_around(&self, line: &mut Vec<u8>) -> Outcome<bool> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read(&mut reader, line)? {
            return Ok(false);
        }
        reader.rewind().map_err(|error| {
            Failure::failed(format!(
                "{} ended, and cannot be read again: {error}; give it more lines, or a file \
                 instead of a pipe",
                self.path.display()
            ))
        })?;
        match self.read(&mut reader, line)? {
            true => Ok(true),
            false => Err(Failure::usage(format!("{} is empty", self.path.display()))),
        }
    }

    fn read(&self, reader: &mut BufReader<File>, line: &mut Vec<u8>) -> Outcome<bool> {
        line.clear();
        let mut limited = (&mut *reader).take(LINE_BYTES_MAX);
        limited.read_until(b'\n', line).map_err(|error| {
            Failure::system(format!("cannot read {}", self.path.display()), &error)
        })?;
        if line.len() as u64 == LINE_BYTES_MAX {
            return Err(Failure::failed(format!(
                "a line of {} is longer than {LINE_BYTES_MAX} bytes, more than a record has; look \
                 whether this is a file of lines",
                self.path.display()
            )));
        }
        let is_there = !line.is_empty();
        for end in *b"\n\r" {
            if line.last() == Some(&end) {
                line.pop();
            }
        }
        Ok(is_there)
    }
}
