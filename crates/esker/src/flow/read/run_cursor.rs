//! Cursor over one run of files.

use std::ops::Range;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::base::types::range::KeyRange;
use crate::flow::read::view::{AtHand, View};
use crate::store::sst::any_reader::AnyCursor;
use crate::store::version::file::FileRecord;
use crate::store::version::run::Run;

/// The point entries of the files of a run that may hold keys of a range, one behind the other.
///
/// Files are opened when the cursor comes to them; at most one is held. Entries outside the range
/// appear if their files reach beyond it.
pub struct RunCursor {
    view: Arc<View>,
    run: Run,
    /// The run's place in the view, if it is one of it.
    index: Option<usize>,
    /// The files of the run that the cursor moves over.
    files: Range<usize>,
    options: ReadOptions,
    /// The file last used, by its place in the run, and a cursor in it.
    open: Option<(usize, AnyCursor)>,
    is_valid: bool,
}

impl RunCursor {
    /// A cursor over the part of `run`, whose files belong to `view`, that overlaps `range`.
    pub fn new(view: &Arc<View>, run: &Run, range: &KeyRange, options: ReadOptions) -> RunCursor {
        RunCursor {
            files: run.overlapping_places(view.comparator(), range),
            view: Arc::clone(view),
            run: run.clone(),
            index: None,
            options,
            open: None,
            is_valid: false,
        }
    }

    /// The same over a run of the view, by its place in [`View::runs`].
    pub fn at(view: &Arc<View>, index: usize, range: &KeyRange, options: ReadOptions) -> RunCursor {
        RunCursor {
            index: Some(index),
            ..RunCursor::new(view, &view.runs()[index], range, options)
        }
    }

    /// Has it read at most so much ahead from now on.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        self.options.readahead_bytes_max = bytes_max;
        if let Some((_, cursor)) = &mut self.open {
            cursor.set_readahead(bytes_max);
        }
    }

    /// The cursor in the file at that place of the run.
    fn enter(&mut self, index: usize) -> Result<&mut AnyCursor> {
        if !matches!(&self.open, Some((open, _)) if *open == index) {
            self.open = None;
            let reader = match self.index {
                Some(run) => self.view.open_at(run, index)?,
                None => AtHand::Opened(self.view.open(&self.run.files()[index])?),
            };
            self.open = Some((index, reader.cursor(self.options)));
        }
        Ok(self.current())
    }

    #[inline]
    fn current(&mut self) -> &mut AnyCursor {
        let (_, cursor) = self.open.as_mut().expect("a file was entered");
        cursor
    }

    fn place(&self) -> usize {
        let (index, _) = self.open.as_ref().expect("a file was entered");
        *index
    }

    /// The first entry of the files from `index` on; files may hold range deletions only.
    fn first_from(&mut self, index: usize) -> Result<bool> {
        for index in index..self.files.end {
            if self.enter(index)?.seek_to_first()? {
                self.is_valid = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last entry of the files before `end`.
    fn last_before(&mut self, end: usize) -> Result<bool> {
        for index in (self.files.start..end).rev() {
            if self.enter(index)?.seek_to_last()? {
                self.is_valid = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first of the files that does not lie wholly before the user key of `target`.
    fn first_not_before(&self, target: &[u8]) -> usize {
        let index = self
            .run
            .first_not_before(self.view.comparator(), key::user_key(target));
        index.clamp(self.files.start, self.files.end)
    }
}

impl Cursor for RunCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.is_valid = false;
        self.first_from(self.files.start)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        self.is_valid = false;
        self.last_before(self.files.end)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.is_valid = false;
        let index = self.first_not_before(target);
        if index == self.files.end {
            return Ok(false);
        }
        if self.enter(index)?.seek(target)? {
            self.is_valid = true;
            return Ok(true);
        }
        self.first_from(index + 1)
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.is_valid = false;
        let index = self.first_not_before(target);
        let comparator = self.view.comparator();
        let starts_after = |file: &FileRecord| file.starts_after(comparator, key::user_key(target));
        if index == self.files.end || starts_after(&self.run.files()[index]) {
            return self.last_before(index);
        }
        if self.enter(index)?.seek_for_prev(target)? {
            self.is_valid = true;
            return Ok(true);
        }
        self.last_before(index)
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        self.is_valid = false;
        if self.current().next()? {
            self.is_valid = true;
            return Ok(true);
        }
        self.first_from(self.place() + 1)
    }

    fn prev(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        self.is_valid = false;
        if self.current().prev()? {
            self.is_valid = true;
            return Ok(true);
        }
        self.last_before(self.place())
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.is_valid
    }

    #[inline]
    fn is_surely_newest(&self) -> bool {
        self.standing().is_surely_newest()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.standing().key()
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        self.standing().value()
    }

    fn value_bytes(&self) -> Result<Bytes> {
        self.standing().value_bytes()
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        assert!(self.is_valid);
        self.current().fill(way, fill, chunk)
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        self.standing().encoded()
    }
}

impl RunCursor {
    #[inline]
    fn standing(&self) -> &AnyCursor {
        assert!(self.is_valid);
        let (_, cursor) = self.open.as_ref().expect("a valid cursor is in a file");
        cursor
    }
}

#[cfg(test)]
mod tests;
