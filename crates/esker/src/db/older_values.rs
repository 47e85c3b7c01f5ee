//! What the sorted files of a version have in the value log, asked before the database is open.

use std::path::Path;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::env::fs::Fs;
use crate::flow::read::fold::Folder;
use crate::flow::read::get::{ReadAt, separated};
use crate::flow::read::view::{View, ViewParts};
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::state::Version;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;

/// Bytes of blocks that one look keeps.
const CACHE_BYTES: usize = 1 << 20;

/// Whether the newest value that the files of `version` have of a key is the one at `pointer`,
/// ended or not. Opens the files it needs and closes them again: this is for damage, and rare.
///
/// Errors: those of the files.
pub fn is_in_files(
    fs: &Arc<dyn Fs>,
    dir: &Path,
    version: &Version,
    (keyspace, key): (KeyspaceId, &[u8]),
    pointer: &ValuePointer,
) -> Result<bool> {
    let Some(state) = version.keyspace(keyspace) else {
        return Ok(false);
    };
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let parts = ViewParts {
        keyspace,
        comparator: state.comparator.clone(),
        // Nothing is folded.
        folder: Folder::new(&state.name, None),
        memtables: Vec::new(),
        levels: Arc::clone(&state.levels),
        open_files: Arc::new(OpenFiles::new(Arc::clone(fs), dir, 1, cache)),
        values: Arc::new(OpenValues::new(Arc::clone(fs), dir, 1)),
    };
    let at = ReadAt {
        visibility: Visibility::at(SeqNo::MAX),
        // It may have ended since it was given another end.
        now_unix_ms: 0,
        options: ReadOptions::default(),
    };
    let there = separated(&View::new(parts, None), key, &at)?;
    let place = |pointer: &ValuePointer| (pointer.segment, pointer.offset);
    Ok(there.is_some_and(|there| place(&there) == place(pointer)))
}
