//! Copies files of a set, checks them in the same pass, and has the medium write several at a time.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::db::core::Core;
use crate::db::ingest::source::{CACHE_BYTES, SetFiles, open_listed};
use crate::env::copying::CopyingFile;
use crate::env::fs::ReadFile;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::version::file::FileRecord;

/// Copies that the medium is still writing while the next one is made. A sync waits for nothing by
/// then, where the medium is as quick as the check; two files are open for each.
const UNSYNCED_MAX: usize = 8;

/// Copies of one set that are being made.
pub struct Copies<'a> {
    core: &'a Core,
    /// The set.
    pub source: &'a SetFiles,
    cache: Arc<BlockCache>,
    /// Those that are whole, the oldest first, and where they are.
    unsynced: VecDeque<(Arc<CopyingFile>, PathBuf)>,
}

impl<'a> Copies<'a> {
    /// None yet.
    pub fn new(core: &'a Core, source: &'a SetFiles) -> Copies<'a> {
        Copies {
            core,
            source,
            cache: Arc::new(ShardedCache::new(CACHE_BYTES)),
            unsynced: VecDeque::new(),
        }
    }

    /// Copies a file to `target`, which must not be there; with `is_checking` every block of what
    /// is copied is read and held against its checksum. It counts after [`Copies::finish`] only.
    ///
    /// Errors: `Corruption` for files that are damaged; those of making copies, this or an earlier
    /// one.
    pub fn copy(&mut self, record: &FileRecord, target: PathBuf, is_checking: bool) -> Result<()> {
        let fs = &*self.core.env.fs;
        let from = open_listed(fs, &self.source.path(record))?;
        let copying = Arc::new(CopyingFile::new(from, fs.create_new(&target)?));
        if is_checking {
            let file = Arc::clone(&copying) as Arc<dyn ReadFile>;
            self.source.open_over(file, record, &self.cache)?.verify()?;
        }
        copying.copy_rest()?;
        self.unsynced.push_back((copying, target));
        match self.unsynced.len() > UNSYNCED_MAX {
            true => self.finish_oldest(),
            false => Ok(()),
        }
    }

    /// Makes all copies durable. Errors as of [`Copies::copy`].
    pub fn finish(mut self) -> Result<()> {
        while !self.unsynced.is_empty() {
            self.finish_oldest()?;
        }
        Ok(())
    }

    fn finish_oldest(&mut self) -> Result<()> {
        let Some((copying, target)) = self.unsynced.pop_front() else {
            return Ok(());
        };
        copying.sync()?;
        let copied = self.core.env.fs.open_read(&target)?;
        let compared = copying.compare(&*copied);
        compared.map_err(|error| error.in_file(target.display()))
    }
}
