//! Says once to the system what will be read of which file.

use crate::base::types::ids::FileNumber;
use crate::env::fs::ReadFile;

/// What lies no further behind what was announced last is announced along with it: a gap that is
/// read costs less than one more call and one more request to the medium.
const GAP_BYTES: u64 = 8 << 10;

/// Says what will be read soon, so that the medium works on many reads at the same time.
///
/// Whoever has several keys to read goes by their order, so what is announced twice is announced
/// twice in a row.
#[derive(Debug, Default)]
pub struct Announcer {
    /// What was announced last: the file, and up to where.
    last: Option<(FileNumber, u64, u64)>,
}

impl Announcer {
    /// Says that `len` bytes from `offset` of the file with that number will be read soon.
    pub fn announce(&mut self, file: &dyn ReadFile, number: FileNumber, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        let known = self.last.filter(|(known, start, known_end)| {
            *known == number && *start <= offset && offset <= known_end + GAP_BYTES
        });
        let (start, from) = match known {
            None => (offset, offset),
            Some((_, _, known_end)) if end <= known_end => return,
            Some((_, start, known_end)) => (start, known_end),
        };
        file.prefetch(from, end - from);
        self.last = Some((number, start, end));
    }
}

#[cfg(test)]
mod tests;
