//! Where values come from: the dialect's slices, or the lines of a file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::fail::{Failure, Outcome};
use crate::make::slices::Slices;

/// The lines of a file, each a value.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Reads a file whole. `Usage` when it is not there or has no line.
    pub fn read(path: &Path) -> Outcome<Lines> {
        let name = path.display();
        let bytes = fs::read(path)
            .map_err(|error| Failure::usage(format!("cannot read values from {name}: {error}")))?;
        let is_end = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at + 1);
        let mut ends: Vec<usize> = bytes.iter().enumerate().filter_map(is_end).collect();
        if ends.last().copied().unwrap_or(0) < bytes.len() {
            ends.push(bytes.len());
        }
        if ends.is_empty() {
            return Err(Failure::usage(format!(
                "{name} is empty: it holds no values"
            )));
        }
        Ok(Lines { bytes, ends })
    }

    /// How many lines.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Mean bytes of a line.
    pub fn mean_bytes(&self) -> usize {
        self.bytes.len() / self.count()
    }

    /// A line without its end; after the last comes the first.
    fn line(&self, number: u64) -> &[u8] {
        let count = self.ends.len() as u64;
        let place = usize::try_from(number % count).expect("below a usize");
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let line = &self.bytes[start..self.ends[place]];
        line.strip_suffix(b"\n").unwrap_or(line)
    }
}

/// The values of one thread.
#[derive(Clone, Debug)]
pub struct Feed {
    slices: Slices,
    lines: Option<Arc<Lines>>,
    value_bytes: usize,
    is_by_key: bool,
    handed: u64,
}

impl Feed {
    /// Values of so many bytes cut from `slices`, or the lines if there are any. With `is_by_key`
    /// each key has one value.
    pub fn new(
        slices: Slices,
        lines: Option<Arc<Lines>>,
        value_bytes: usize,
        is_by_key: bool,
    ) -> Feed {
        Feed {
            slices,
            lines,
            value_bytes,
            is_by_key,
            handed: 0,
        }
    }

    /// The next value for the key of that number.
    pub fn value(&mut self, number: u64) -> &[u8] {
        let turn = self.handed;
        self.handed += 1;
        if let Some(lines) = &self.lines {
            return lines.line(if self.is_by_key { number } else { turn });
        }
        match self.is_by_key {
            true => self.slices.slice_of(number, self.value_bytes),
            false => self.slices.next_slice(self.value_bytes),
        }
    }

    /// The next `len` bytes, whatever values are like.
    pub fn bytes(&mut self, len: usize) -> &[u8] {
        self.slices.next_slice(len)
    }

    /// Whether `value` is what [`Feed::value`] makes for the key of that number; true where keys
    /// do not have values of their own.
    pub fn is_right(&self, number: u64, value: &[u8]) -> bool {
        if !self.is_by_key {
            return true;
        }
        match &self.lines {
            Some(lines) => lines.line(number) == value,
            None => {
                value.len() == self.value_bytes
                    && self.slices.slice_of(number, value.len()) == value
            }
        }
    }
}
