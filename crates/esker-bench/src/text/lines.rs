//! Lines of an input with their numbers, in memory that no line can exceed.

use std::io::{self, BufRead, Read};

use esker::internals::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// What lines and the records on them may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a line that are in memory at once. Longer lines come in pieces of that size.
    pub piece: usize,
    /// Bytes of a line, in memory or not: one that is longer is no line of any record.
    pub line: u64,
    /// Bytes of a record's key.
    pub key: usize,
    /// Bytes of a record's value.
    pub value: usize,
}

impl Default for Bounds {
    /// What a database can hold. The longest spelling of a byte has six (`\u00xx` in JSON), and
    /// beside key and value a line may have names and blanks.
    fn default() -> Bounds {
        Bounds {
            // Nearly every line fits, and little is lost to calls for those that do not.
            piece: 1 << 20,
            line: 6 * (KEY_BYTES_MAX + VALUE_BYTES_MAX) as u64 + (1 << 20),
            key: KEY_BYTES_MAX,
            value: VALUE_BYTES_MAX,
        }
    }
}

/// One line, without its end. A carriage return before the line feed belongs to the line's end.
#[derive(Debug)]
pub enum Line<'a> {
    /// Its bytes.
    Text(&'a [u8]),
    /// Longer than a piece.
    Long(LongLine<'a>),
}

impl Line<'_> {
    /// Its bytes, or as many of its first as are in memory.
    pub fn start(&self) -> &[u8] {
        match self {
            Line::Text(text) => text,
            Line::Long(line) => &line.lines.piece,
        }
    }
}

/// A line that is read piece by piece. What nobody reads of it is passed over.
pub struct LongLine<'a> {
    lines: &'a mut Lines,
}

impl std::fmt::Debug for LongLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LongLine").finish_non_exhaustive()
    }
}

impl LongLine<'_> {
    /// The next bytes of the line; `None` at its end.
    ///
    /// Errors: the input's; `InvalidData` when the line is longer than any record's.
    pub fn next_piece(&mut self) -> io::Result<Option<&[u8]>> {
        if !self.lines.is_piece_new && !self.lines.read_piece()? {
            return Ok(None);
        }
        self.lines.is_piece_new = false;
        Ok(Some(&self.lines.piece))
    }

    /// What lines and records may take.
    pub fn bounds(&self) -> &Bounds {
        &self.lines.bounds
    }
}

/// Reads lines and counts them.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    bounds: Bounds,
    number: u64,
    /// The bytes of the present line that were read last.
    piece: Vec<u8>,
    /// Whether nobody has asked for that piece yet.
    is_piece_new: bool,
    /// Whether the present line goes on behind the piece.
    goes_on: bool,
    /// Whether a carriage return stands between the piece and what comes.
    has_return: bool,
    /// Bytes of the present line that were read.
    line_bytes: u64,
    is_unread: bool,
}

impl Lines {
    /// Lines of `input`.
    pub fn new(input: Box<dyn BufRead + Send>, bounds: Bounds) -> Lines {
        Lines {
            input,
            bounds,
            number: 0,
            piece: Vec::new(),
            is_piece_new: false,
            goes_on: false,
            has_return: false,
            line_bytes: 0,
            is_unread: false,
        }
    }

    /// The number of the line that was begun last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What lines and records may take.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The next line; `None` at the end.
    ///
    /// Errors: the input's; `InvalidData` when the line before has no end where the longest line
    /// has one.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.is_unread {
            self.is_unread = false;
        } else {
            self.pass_over()?;
            if !self.begin()? {
                return Ok(None);
            }
        }
        Ok(Some(match self.goes_on {
            true => Line::Long(LongLine { lines: self }),
            false => Line::Text(&self.piece),
        }))
    }

    /// Gives the last line again at the next call of `next_line`; of a long one no piece may have
    /// been taken.
    pub fn unread(&mut self) {
        assert!(self.is_piece_new || self.number == 0);
        self.is_unread = self.number > 0;
    }

    /// Reads the first piece of the next line; false at the end of the input.
    fn begin(&mut self) -> io::Result<bool> {
        self.line_bytes = 0;
        self.has_return = false;
        let has_begun = self.read_bytes()?;
        self.number += u64::from(has_begun);
        self.is_piece_new = has_begun;
        Ok(has_begun)
    }

    /// Reads the next piece of the present line; false at its end.
    fn read_piece(&mut self) -> io::Result<bool> {
        while self.goes_on {
            self.read_bytes()?;
            if !self.piece.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the end of the present line.
    fn pass_over(&mut self) -> io::Result<()> {
        while self.goes_on {
            self.read_bytes()?;
        }
        Ok(())
    }

    /// Reads up to the end of the line, or as much as a piece has room for. Says whether the input
    /// had anything left.
    fn read_bytes(&mut self) -> io::Result<bool> {
        self.piece.clear();
        if std::mem::take(&mut self.has_return) {
            self.piece.push(b'\r');
        }
        // With room for the end of the longest line that is no long one.
        let wanted = self.bounds.piece + 2;
        let mut limited = (&mut self.input).take((wanted - self.piece.len()) as u64);
        let read = limited.read_until(b'\n', &mut self.piece)?;
        self.line_bytes += read as u64;
        if self.piece.last() == Some(&b'\n') {
            self.piece.pop();
            self.goes_on = false;
        } else {
            self.goes_on = self.piece.len() == wanted;
        }
        if self.piece.last() == Some(&b'\r') {
            self.piece.pop();
            self.has_return = self.goes_on;
        }
        if self.goes_on && self.line_bytes > self.bounds.line {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the line has no end where the longest record has one; look whether this is a \
                 file of lines",
            ));
        }
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests;
