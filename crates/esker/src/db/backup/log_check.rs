//! Whether an open could read the log, with every value that it names.

use std::path::Path;

use crate::base::types::entry::Entry;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::segments::Segments;
use crate::db::log_survey::survey_log;
use crate::env::bundle::Env;
use crate::flow::write::chain::chain;
use crate::store::batch::reader::BatchReader;
use crate::store::sst::saving::only_damage;
use crate::store::version::state::Version;
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
    let replayed = match only_damage(survey_log(&env.fs, dir, version, wals))? {
        Ok(replayed) => replayed,
        Err(_) => return Ok(true),
    };
    // An open would cut them off.
    if replayed.torn_records > 0 {
        return Ok(true);
    }
    let mut walk = ValueWalk {
        version,
        values,
        newest: SeqNo::ZERO,
    };
    let links = chain(&*env.fs, dir, wals)?;
    for link in links.iter().filter(|link| link.is_part) {
        if Some(link.number) > replayed.end.map(|(last, _)| last) {
            break;
        }
        let reader = link.reader(&*env.fs, dir)?;
        let end = replayed.end.filter(|(last, _)| *last == link.number);
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
