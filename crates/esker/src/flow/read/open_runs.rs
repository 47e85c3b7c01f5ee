//! The open files of a view, at hand for point reads.
//!
//! To come to a file by the table of open files takes several times as long as to ask the file's
//! filter, and four writes to memory that all readers share. So a view keeps a file from the first
//! read on that comes to it.
//!
//! Level 0 may have tens of runs, and the filters of nearly all say that they do not have a key: a
//! run of few files is asked as a whole, before anybody looks which of them it would be.

use std::sync::{Arc, OnceLock};

use crate::base::types::ids::Level;
use crate::store::sst::any_reader::AnyReader;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;
use crate::store::version::run::Run;

/// Files of a run up to which all are asked. More would be found sooner by the key.
const ASKED_MAX: usize = 4;

/// The open files of all runs, newest first. Any thread may call anything.
#[derive(Debug)]
pub struct OpenRuns(Box<[OpenRun]>);

#[derive(Clone, Debug)]
struct OpenRun {
    /// By their places in the run; those that a read came to.
    files: Arc<[OnceLock<Arc<AnyReader>>]>,
    /// Whether all its files are there, and their filters tell what it does not have. Known from
    /// the first read on that asks.
    is_filter_only: OnceLock<bool>,
}

impl OpenRuns {
    /// Of `levels`; what `previous` knows of the same runs is taken over.
    pub fn new(levels: &Levels, previous: Option<(&Levels, &OpenRuns)>) -> OpenRuns {
        let known = |run: &Run| {
            let (levels, open) = previous?;
            let mut runs = levels.all_runs();
            let index = runs.position(|(_, other)| std::ptr::eq(other.files(), run.files()))?;
            open.0.get(index).cloned()
        };
        let runs = levels.all_runs();
        OpenRuns(
            runs.map(|(level, run)| {
                let is_asked = level == Level::ZERO && may_be_asked(run);
                known(run).unwrap_or_else(|| OpenRun::new(run.files().len(), is_asked))
            })
            .collect(),
        )
    }

    /// The file in that place of the run in that place, if it is at hand.
    #[inline]
    pub fn file(&self, run: usize, place: usize) -> Option<&Arc<AnyReader>> {
        self.0.get(run)?.files.get(place)?.get()
    }

    /// Keeps the file of that place at hand.
    pub fn keep(&self, run: usize, place: usize, file: &Arc<AnyReader>) {
        if let Some(cell) = self.0.get(run).and_then(|run| run.files.get(place)) {
            // Who was first opened the same file.
            let _ = cell.set(Arc::clone(file));
        }
    }

    /// Whether the run in that place, which is `run`, surely has nothing of the key with that
    /// `hash64`, range deletes included. Only of level 0 this is ever known. `open` opens a file
    /// of the run; that it cannot is for whoever reads the file to tell.
    #[inline]
    pub fn is_ruled_out(
        &self,
        index: usize,
        hash: u64,
        run: &Run,
        open: impl Fn(&FileRecord) -> Option<Arc<AnyReader>>,
    ) -> bool {
        let Some(here) = self.0.get(index) else {
            return false;
        };
        let is_filter_only = match here.is_filter_only.get() {
            Some(is_filter_only) => *is_filter_only,
            None => here.become_filter_only(run, open),
        };
        is_filter_only && here.files.iter().all(|file| is_without(file, hash))
    }
}

#[inline]
fn is_without(file: &OnceLock<Arc<AnyReader>>, hash: u64) -> bool {
    file.get().is_some_and(|file| !file.may_contain(hash))
}

// Whether its files are few, and nothing but their filters says what they have.
fn may_be_asked(run: &Run) -> bool {
    let mut files = run.files().iter();
    run.files().len() <= ASKED_MAX && files.all(|file| file.range_delete_count == 0)
}

impl OpenRun {
    fn new(file_count: usize, is_asked: bool) -> OpenRun {
        OpenRun {
            files: (0..file_count).map(|_| OnceLock::new()).collect(),
            is_filter_only: match is_asked {
                true => OnceLock::new(),
                false => OnceLock::from(false),
            },
        }
    }

    #[cold]
    fn become_filter_only(
        &self,
        run: &Run,
        open: impl Fn(&FileRecord) -> Option<Arc<AnyReader>>,
    ) -> bool {
        for (cell, record) in self.files.iter().zip(run.files()) {
            if cell.get().is_none() {
                let Some(file) = open(record) else {
                    return false;
                };
                // As above.
                let _ = cell.set(file);
            }
        }
        *self.is_filter_only.get_or_init(|| {
            let mut files = self.files.iter().filter_map(OnceLock::get);
            files.all(|file| file.has_filter())
        })
    }
}

#[cfg(test)]
mod tests;
