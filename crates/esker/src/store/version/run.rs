//! Files that do not overlap, in order.
//!
//! A search in a run must not touch the records of the files it passes over: beside the files
//! lie eight bytes of each largest key in one array, taken behind the bytes that all keys of the
//! run share. A search compares those, and full keys only where the eight bytes are equal: for
//! 10 000 files that is one or two records fetched from memory instead of fourteen. What else every
//! scan asks of all files is summed up when the run is made.

use std::cmp::Ordering;
use std::ops::{Bound, Range};
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::prefix::prefix_number;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::store::version::file::FileRecord;

/// Identity of a run of level 0. Any number not used by another run of the level will do; the
/// number of the run's first file is one. Runs of deeper levels have the identity 0.
pub type RunId = u64;

/// Files that do not overlap, in order of their keys. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Run {
    id: RunId,
    files: Arc<[Arc<FileRecord>]>,
    summary: Arc<Summary>,
}

/// What is known of all files of a run together.
#[derive(Debug, Default)]
struct Summary {
    heads: Heads,
    size_bytes: u64,
    has_values: bool,
    /// Places of the files that have range deletes, ascending.
    deleting: Vec<usize>,
}

impl Run {
    /// The run of those files, in whatever order they come.
    ///
    /// Errors: `Corruption` naming the files when two overlap, or one contradicts itself.
    pub fn new(id: RunId, comparator: &Comparator, mut files: Vec<Arc<FileRecord>>) -> Result<Run> {
        for file in &files {
            file.check(comparator)?;
        }
        // Stable, and nearly free on files that are sorted already.
        files.sort_by(|left, right| comparator.compare(&left.smallest, &right.smallest));
        Run::check_comparator(comparator, &files)?;
        Ok(Run {
            id,
            summary: Arc::new(Summary::new(comparator, &files)),
            files: files.into(),
        })
    }

    /// The run without files.
    pub fn empty(id: RunId) -> Run {
        Run {
            id,
            files: Arc::new([]),
            summary: Arc::default(),
        }
    }

    /// Identity within level 0.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// The files, in order of their keys.
    pub fn files(&self) -> &[Arc<FileRecord>] {
        &self.files
    }

    /// Whether the run has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Size of all files, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.summary.size_bytes
    }

    /// Whether any file points into the value log.
    pub fn has_values(&self) -> bool {
        self.summary.has_values
    }

    /// Those of `places` whose files have range deletes.
    pub fn deleting(&self, places: &Range<usize>) -> &[usize] {
        let deleting = &self.summary.deleting;
        let start = deleting.partition_point(|place| *place < places.start);
        let end = deleting.partition_point(|place| *place < places.end);
        deleting.get(start..end).unwrap_or_default()
    }

    /// Size of all files of several runs, in bytes.
    pub fn total_bytes(runs: &[Run]) -> u64 {
        runs.iter().map(Run::size_bytes).sum()
    }

    /// Smallest sequence number in the run, if it has files.
    pub fn smallest_seqno(&self) -> Option<SeqNo> {
        self.files.iter().map(|file| file.smallest_seqno).min()
    }

    /// Largest sequence number in the run, if it has files.
    pub fn largest_seqno(&self) -> Option<SeqNo> {
        self.files.iter().map(|file| file.largest_seqno).max()
    }

    /// Place of the one file that may hold `key`.
    #[inline]
    pub fn find(&self, comparator: &Comparator, key: &[u8]) -> Option<usize> {
        let place = self.first_not_before(comparator, key);
        let file = self.files.get(place)?;
        (!file.starts_after(comparator, key)).then_some(place)
    }

    /// Index of the first file that does not lie wholly before `key`; the count of files when
    /// all do.
    #[inline]
    pub fn first_not_before(&self, comparator: &Comparator, key: &[u8]) -> usize {
        let (start, end) = self.summary.heads.undecided(key, self.files.len());
        let undecided = self.files.get(start..end).unwrap_or_default();
        start + undecided.partition_point(|file| file.ends_before(comparator, key))
    }

    /// The files that may hold keys of `range`.
    pub fn overlapping(&self, comparator: &Comparator, range: &KeyRange) -> &[Arc<FileRecord>] {
        let places = self.overlapping_places(comparator, range);
        self.files.get(places).unwrap_or_default()
    }

    /// Their places.
    pub fn overlapping_places(&self, comparator: &Comparator, range: &KeyRange) -> Range<usize> {
        let lower = range.lower.as_ref().map(Vec::as_slice);
        let upper = range.upper.as_ref().map(Vec::as_slice);
        self.places_in(comparator, lower, upper)
    }

    fn places_in(
        &self,
        comparator: &Comparator,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Range<usize> {
        let start = match lower {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.first_not_before(comparator, key),
            Bound::Excluded(_) => self
                .files
                .partition_point(|file| file.ends_before_bound(comparator, lower)),
        };
        let rest = self.files.get(start..).unwrap_or_default();
        let count = rest.partition_point(|file| !file.starts_after_bound(comparator, upper));
        start..start + count
    }

    /// Whether a file of one run may hold a key that a file of the other may hold.
    pub fn overlaps(&self, comparator: &Comparator, other: &Run) -> bool {
        self.files
            .iter()
            .any(|file| !other.overlapping(comparator, &file.key_range()).is_empty())
    }

    /// The file with that number.
    pub fn file(&self, number: FileNumber) -> Option<&Arc<FileRecord>> {
        self.files.iter().find(|file| file.number == number)
    }

    /// The run with one more file. Errors as in [`Run::new`].
    pub fn with(&self, comparator: &Comparator, file: Arc<FileRecord>) -> Result<Run> {
        self.edited(comparator, &[], vec![file])
    }

    /// The run without the file of that number; `Corruption` when it has none.
    pub fn without(&self, comparator: &Comparator, number: FileNumber) -> Result<Run> {
        self.edited(comparator, &[number], Vec::new())
    }

    /// The run after all of `removed` went and all of `added` came. Cost: one pass over the
    /// files, however many are removed and added.
    ///
    /// Errors: `Corruption` when a removed file is not there, and as in [`Run::new`].
    pub fn edited(
        &self,
        comparator: &Comparator,
        removed: &[FileNumber],
        added: Vec<Arc<FileRecord>>,
    ) -> Result<Run> {
        let mut gone = removed.to_vec();
        gone.sort_unstable();
        let mut files = Vec::with_capacity(self.files.len() + added.len());
        let mut found_count = 0;
        for file in self.files.iter() {
            if !gone.is_empty() && gone.binary_search(&file.number).is_ok() {
                found_count += 1;
            } else {
                files.push(Arc::clone(file));
            }
        }
        if found_count != gone.len() {
            return Err(self.missing(&gone));
        }
        files.extend(added);
        Run::new(self.id, comparator, files)
    }

    fn missing(&self, gone: &[FileNumber]) -> Error {
        let twice = gone
            .windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| format!("file {} is removed twice", pair[0]));
        let absent = || {
            let number = gone.iter().find(|number| self.file(**number).is_none());
            let number = number.map(FileNumber::to_string).unwrap_or_default();
            format!("file {number} is removed but not there")
        };
        Error::corruption(twice.unwrap_or_else(absent))
    }

    fn check_comparator(comparator: &Comparator, files: &[Arc<FileRecord>]) -> Result<()> {
        for pair in files.windows(2) {
            let [left, right] = pair else { continue };
            if left.number == right.number {
                let number = left.number;
                return Err(Error::corruption(format!("file {number} is there twice")));
            }
            if !left.ends_before(comparator, &right.smallest) {
                return Err(Error::corruption(format!(
                    "files {} and {} of one sorted run overlap at key \"{}\"",
                    left.number,
                    right.number,
                    right.smallest.escape_ascii(),
                )));
            }
        }
        Ok(())
    }
}

impl Summary {
    fn new(comparator: &Comparator, files: &[Arc<FileRecord>]) -> Summary {
        let is_deleting = |place: &usize| files[*place].range_delete_count > 0;
        Summary {
            heads: Heads::new(comparator, files),
            size_bytes: files.iter().map(|file| file.size_bytes).sum(),
            has_values: files.iter().any(|file| !file.values.is_empty()),
            deleting: (0..files.len()).filter(is_deleting).collect(),
        }
    }
}

/// The first bytes of each file's largest key behind the bytes that all keys of the run share.
#[derive(Debug, Default)]
struct Heads {
    shared: Bytes,
    /// One for each file, ascending; none when the order is not bytewise.
    heads: Vec<u64>,
}

impl Heads {
    fn new(comparator: &Comparator, files: &[Arc<FileRecord>]) -> Heads {
        let (Some(first), Some(last), true) =
            (files.first(), files.last(), comparator.is_bytewise())
        else {
            return Heads::default();
        };
        // Every key of the run lies between these two, so shares what they share.
        let equal = first.smallest.iter().zip(last.largest.iter());
        let shared_len = equal.take_while(|(left, right)| left == right).count();
        let tail =
            |file: &Arc<FileRecord>| prefix_number(file.largest.get(shared_len..).unwrap_or(&[]));
        Heads {
            shared: first.smallest.slice(0..shared_len),
            heads: files.iter().map(tail).collect(),
        }
    }

    /// The files that the heads cannot place before or after `key`, as start and end index.
    #[inline]
    fn undecided(&self, key: &[u8], file_count: usize) -> (usize, usize) {
        if self.heads.len() != file_count {
            return (0, file_count);
        }
        let (front, rest) = match key.split_at_checked(self.shared.len()) {
            Some(split) => split,
            None => (key, &[][..]),
        };
        // A key shorter than the shared bytes that begins them sorts before every file.
        match front.cmp(&self.shared) {
            Ordering::Less => return (0, 0),
            Ordering::Greater => return (file_count, file_count),
            Ordering::Equal => {}
        }
        // Short keys are filled up with zeros, and may therefore be equal to longer ones, but never
        // on the wrong side of them.
        let wanted = prefix_number(rest);
        let start = self.heads.partition_point(|head| *head < wanted);
        let equal = self.heads.get(start..).unwrap_or_default();
        (start, start + equal.partition_point(|head| *head == wanted))
    }
}

#[cfg(test)]
mod tests;
