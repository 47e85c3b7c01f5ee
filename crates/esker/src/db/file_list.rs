//! The sorted files of a keyspace, as plain facts.

use crate::base::types::bytes::Bytes;
use crate::db::keyspace::KeyspaceParts;
use crate::store::version::levels::Levels;

/// What is known of one sorted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStats {
    /// Depth of its level.
    pub depth: usize,
    /// Its run: files of one run do not overlap.
    pub run: u64,
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The first key it covers.
    pub smallest: Bytes,
    /// The last key it covers, or where the last range it deletes ends.
    pub largest: Bytes,
    /// Entries in it, deletes included.
    pub entry_count: u64,
    /// Its deletes, range deletes included.
    pub delete_count: u64,
    /// Whether it is searched while it is compressed; else it is made of blocks.
    pub is_searchable: bool,
    /// Bytes of its keys and values before compression; 0 where an older Esker wrote it.
    pub raw_bytes: u64,
}

/// Every file of the keyspace now: from the newest run to the oldest, each in the order of keys.
pub fn files(parts: &KeyspaceParts) -> Vec<FileStats> {
    list(&parts.current.view().parts().levels)
}

fn list(levels: &Levels) -> Vec<FileStats> {
    let mut files = Vec::with_capacity(levels.file_count());
    for (level, run) in levels.all_runs() {
        files.extend(run.files().iter().map(|file| FileStats {
            depth: level.index(),
            run: run.id(),
            number: file.number.0,
            size_bytes: file.size_bytes,
            smallest: file.smallest.clone(),
            largest: file.largest.clone(),
            entry_count: file.entry_count,
            delete_count: file.delete_count + file.range_delete_count,
            is_searchable: file.is_searchable,
            raw_bytes: file.raw_bytes,
        }));
    }
    files
}
