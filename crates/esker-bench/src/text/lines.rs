//! Lines of an input with their numbers and a bound on their length.

use std::io::{self, BufRead};

/// Longest line that is read into memory: a value of the largest size in hex, with its key.
pub const LINE_BYTES_MAX: usize = (2 << 30) + (1 << 20);

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes. A carriage return before the line feed belongs to the line's end.
    Text(&'a [u8]),
    /// Longer than the bound; its bytes were passed over.
    TooLong,
}

/// Reads lines and counts them.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    bytes_max: usize,
    number: u64,
    line: Vec<u8>,
    is_long: bool,
    is_unread: bool,
}

impl Lines {
    /// Lines of `input`, each of at most `bytes_max` bytes.
    pub fn new(input: Box<dyn BufRead + Send>, bytes_max: usize) -> Lines {
        Lines {
            input,
            bytes_max,
            number: 0,
            line: Vec::new(),
            is_long: false,
            is_unread: false,
        }
    }

    /// The number of the line that was read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.is_unread {
            self.is_unread = false;
        } else if !self.read()? {
            return Ok(None);
        }
        Ok(Some(if self.is_long {
            Line::TooLong
        } else {
            Line::Text(&self.line)
        }))
    }

    /// Gives the last line again at the next call of `next_line`.
    pub fn unread(&mut self) {
        self.is_unread = self.number > 0;
    }

    /// Reads one line into `self.line`; false at the end of the input.
    fn read(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.is_long = false;
        let mut has_begun = false;
        loop {
            let piece = match self.input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() && !has_begun {
                return Ok(false);
            }
            has_begun = true;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = &piece[..end.unwrap_or(piece.len())];
            let is_last = end.is_some() || piece.is_empty();
            let used = part.len() + usize::from(end.is_some());
            self.is_long |= self.line.len() + part.len() > self.bytes_max;
            if self.is_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            self.input.consume(used);
            if is_last {
                break;
            }
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        self.number += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
