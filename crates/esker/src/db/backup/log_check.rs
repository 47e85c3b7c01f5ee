//! Whether an open could read the log, with every value that it names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::entry::Entry;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::db::backup::segments::Segments;
use crate::env::bundle::Env;
use crate::flow::write::replay::{ReplaySource, replay};
use crate::store::batch::reader::BatchReader;
use crate::store::names::FileName;
use crate::store::sst::saving::only_damage;
use crate::store::version::state::Version;
use crate::store::vlog::open_values::OpenValues;
use crate::store::wal::reader::WalReader;

/// Whether an open would refuse the log of `version`, which lies in the segments `wals`, or would
/// later not find a value that the log names.
///
/// Errors: those of reading that are no damage.
pub fn is_log_damaged(
    env: &Env,
    dir: &Path,
    version: &Version,
    wals: &[FileNumber],
    values: &mut Segments<'_>,
) -> Result<bool> {
    let first = version.first_log;
    if first.0 > 0 && !wals.contains(&first) {
        return Ok(true);
    }
    let mut nowhere = BTreeMap::<KeyspaceId, _>::new();
    let source = ReplaySource {
        fs: &*env.fs,
        dir,
        segments: wals,
        first_log: first,
        values: &OpenValues::new(Arc::clone(&env.fs), dir, 1),
    };
    let replayed = match only_damage(replay(&source, &mut nowhere, version.last_seqno))? {
        Ok(replayed) => replayed,
        Err(_) => return Ok(true),
    };
    let mut walk = ValueWalk {
        version,
        values,
        newest: SeqNo::ZERO,
    };
    for &number in wals {
        if Some(number) > replayed.end.map(|(last, _)| last) {
            break;
        }
        let name = FileName::Wal(number).to_string();
        let reader = WalReader::new(env.fs.open_read(&dir.join(name))?, number);
        let end = replayed.end.filter(|(last, _)| *last == number);
        if walk.lacks_value(reader, end.map(|(_, end)| end))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A walk over what the log names in the value log.
struct ValueWalk<'a, 'b> {
    version: &'a Version,
    values: &'a mut Segments<'b>,
    newest: SeqNo,
}

impl ValueWalk<'_, '_> {
    // Whether a value is missing of a segment, which ends at `end` where that is known.
    fn lacks_value(&mut self, mut reader: WalReader, end: Option<u64>) -> Result<bool> {
        let mut is_head = true;
        while let Ok(Some(record)) = only_damage(reader.next_placed())? {
            if end.is_some_and(|end| record.end > end) {
                break;
            }
            if std::mem::take(&mut is_head) || record.payload.is_empty() {
                continue;
            }
            let Ok(batch) = only_damage(BatchReader::new(record.payload))? else {
                break;
            };
            // Dropped by a recovery, which used its numbers again.
            if batch.first_seqno() <= self.newest {
                continue;
            }
            for entry in batch.entries() {
                let entry = entry?;
                self.newest = entry.trailer.seqno();
                let state = self.version.keyspace(entry.keyspace);
                let is_wanted = state.is_some_and(|state| self.newest > state.flushed);
                let placed = Entry {
                    key: entry.key,
                    trailer: entry.trailer,
                    value: entry.value,
                };
                if is_wanted && self.values.lost_value(&placed)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
