//! Trees to pick compactions of, for tests.

use std::sync::Arc;

use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::leveled::CompactionPicker;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::{Levels, LevelsEdit};

/// Levels with these files, each at its depth; in level 0 each is a run of its own.
pub fn levels_of(files: impl IntoIterator<Item = (usize, FileRecord)>) -> Levels {
    let added = files.into_iter().map(|(depth, file)| {
        let level = Level::new(depth).unwrap();
        (level, file.number.0, Arc::new(file))
    });
    let edit = LevelsEdit {
        removed: Vec::new(),
        added: added.collect(),
    };
    Levels::default()
        .edited(&Comparator::Bytewise, edit)
        .unwrap()
}

/// Has a keyspace with these levels looked at while the files of these numbers are busy, and
/// nobody has a snapshot.
pub fn look_at<T>(
    levels: &Levels,
    options: &CompactionOptions,
    busy: &[u64],
    look: impl FnOnce(&CompactionPicker<'_>) -> T,
) -> T {
    look(&CompactionPicker {
        keyspace: KeyspaceId::DEFAULT,
        levels,
        comparator: &Comparator::Bytewise,
        options,
        busy: &busy.iter().map(|number| FileNumber(*number)).collect(),
        claims: &[],
        snapshots: Vec::new(),
        oldest_snapshot: SeqNo::MAX,
        now_unix_s: 0,
        is_searchable_wanted: false,
        file_size_bytes: 32 << 20,
        is_joining_useful: true,
        is_retaining: false,
    })
}
