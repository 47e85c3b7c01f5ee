//! The filters of level 0, at hand for point reads.
//!
//! Level 0 may have tens of runs, and the filters of nearly all say that they do not have a key. To
//! come to a filter by the run, its file and the table of open files takes several times as long
//! as to ask it, and four writes to memory that all readers share. So a view keeps the open
//! files of level 0 from the first read on that comes to them.

use std::sync::{Arc, OnceLock};

use crate::store::sst::any_reader::AnyReader;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;
use crate::store::version::run::Run;

/// Files of a run up to which all are asked. More would be found sooner by the key.
const FILES_MAX: usize = 4;

/// The open files of each run of level 0, newest first. Any thread may call anything.
#[derive(Debug)]
pub struct Sieves(Box<[OnceLock<Sieve>]>);

/// All files of one run; none where their filters do not tell what the run does not have.
type Sieve = Arc<[Arc<AnyReader>]>;

impl Sieves {
    /// Of `levels`; what `previous` knows of the same runs is taken over.
    pub fn new(levels: &Levels, previous: Option<(&Levels, &Sieves)>) -> Sieves {
        let known = |run: &Run| {
            let (levels, sieves) = previous?;
            let mut runs = levels.l0().iter();
            let index = runs.position(|other| std::ptr::eq(other.files(), run.files()))?;
            sieves.0.get(index)?.get().cloned()
        };
        let runs = levels.l0().iter();
        Sieves(
            runs.map(|run| known(run).map_or_else(OnceLock::new, OnceLock::from))
                .collect(),
        )
    }

    /// Whether the run of that place among all runs surely has nothing of the key with that
    /// `hash64`, range deletes included. `open` opens a file of the run; that it cannot is for
    /// whoever reads the file to tell.
    #[inline]
    pub fn is_ruled_out(
        &self,
        index: usize,
        hash: u64,
        run: &Run,
        open: impl Fn(&FileRecord) -> Option<Arc<AnyReader>>,
    ) -> bool {
        let Some(sieve) = self.0.get(index) else {
            return false;
        };
        let files = match sieve.get() {
            Some(files) => files,
            None => match sieve_of(run, open) {
                Some(files) => sieve.get_or_init(|| files),
                None => return false,
            },
        };
        !files.is_empty() && files.iter().all(|file| !file.may_contain(hash))
    }
}

#[cold]
fn sieve_of(run: &Run, open: impl Fn(&FileRecord) -> Option<Arc<AnyReader>>) -> Option<Sieve> {
    let has_range_deletes = |file: &Arc<FileRecord>| file.range_delete_count > 0;
    if run.files().len() > FILES_MAX || run.files().iter().any(has_range_deletes) {
        return Some(Arc::default());
    }
    let files = run.files().iter().map(|file| open(file));
    let files: Sieve = files.collect::<Option<_>>()?;
    match files.iter().all(|file| file.has_filter()) {
        true => Some(files),
        false => Some(Arc::default()),
    }
}

#[cfg(test)]
mod tests;
