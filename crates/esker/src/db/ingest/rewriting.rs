//! Writes what a set holds into files of the database, where it cannot take those of the set.
//!
//! That is so where values lie in segments beside them, which belong to another value log; where
//! what hides other entries in them would hide entries here; and where only some of their keys are
//! wanted. What is written is what a reader of the set would see, each key once.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::Level;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::limits::LEVEL_COUNT;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::db::core::Core;
use crate::db::flushing::output_settings;
use crate::db::ingest::source::Source;
use crate::db::keyspace_time::files_unix_ms;
use crate::flow::output::{Output, Written};
use crate::flow::read::fold::Folder;
use crate::flow::read::get::ReadAt;
use crate::flow::read::scan::scan;
use crate::flow::read::view::{View, ViewParts};
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::vlog::open_values::OpenValues;

/// Bytes of blocks of the set that are kept: it is read once, from front to back.
const CACHE_BYTES: usize = 8 << 20;

/// Files and segments of the set that are open at a time.
const OPEN_MAX: usize = 64;

/// The number that all entries have in the files: they are numbered when they are taken in.
const SEQNO: u64 = 1;

/// Writes what `source` holds into files of its target, as far as `wants` a key; large values go to
/// the value log.
///
/// Errors: those of reading the set, `Corruption` among them, and those of writing. No file is left
/// then.
pub fn rewrite(
    core: &Core,
    source: &Source,
    mut wants: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<Written> {
    let level = Level::new(LEVEL_COUNT - 1).unwrap_or(Level::ZERO);
    let settings = output_settings(core, &source.target, level);
    let mut output = Output::new(settings, Vec::new());
    let view = Arc::new(view_of(core, source));
    let at = ReadAt {
        visibility: Visibility::at(SeqNo::MAX),
        now_unix_ms: files_unix_ms(core, &source.target),
        options: ReadOptions {
            fill_cache: false,
            ..ReadOptions::default()
        },
    };
    let mut entries = scan(&view, KeyRange::new::<&[u8]>(..), &at)?;
    let mut internal_key = Vec::new();
    let mut is_on = entries.seek_to_first()?;
    while is_on {
        core.gate.check_write()?;
        if wants(entries.key())? {
            let expiry = entries.expiry()?;
            let kind = expiry.map_or(Kind::Put, Expiry::put_kind);
            internal_key.clear();
            let trailer = Trailer::new(SeqNo::new(SEQNO), kind);
            key::encode_into(&mut internal_key, entries.key(), trailer);
            match expiry {
                None => output.add(&internal_key, entries.value()?)?,
                Some(expiry) => {
                    output.add(&internal_key, &expiry.join(entries.value()?))?;
                }
            }
        }
        is_on = entries.next()?;
    }
    output.finish_with_values()
}

fn view_of(core: &Core, source: &Source) -> View {
    let fs = &core.env.fs;
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let (dir, state) = (&source.files.dir, &source.files.state);
    let parts = ViewParts {
        keyspace: state.id,
        comparator: state.comparator.clone(),
        folder: Folder::new(&state.name, source.target.options().merge.clone()),
        memtables: Vec::new(),
        levels: Arc::clone(&state.levels),
        open_files: Arc::new(OpenFiles::new(Arc::clone(fs), dir, OPEN_MAX, cache)),
        values: Arc::new(OpenValues::new(Arc::clone(fs), dir, OPEN_MAX)),
    };
    View::new(parts, None)
}
