//! Writes sorted files for repair: every entry as it is, nothing folded and nothing dropped.

use std::path::Path;
use std::sync::Arc;

use crate::base::options::automatic::fill_keyspace;
use crate::base::options::db::DbOptions;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::Cursor;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::env::bundle::Env;
use crate::flow::output::{Output, OutputSettings};
use crate::store::version::file::FileRecord;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::KeyspaceState;
use crate::store::vlog::open_values::OpenValues;

/// Segments of the value log that are open at the same time, far below what systems allow.
const OPEN_SEGMENTS_MAX: usize = 64;

/// How files of a keyspace are written, by the settings that the manifest keeps.
pub fn output_settings(
    env: &Env,
    dir: &Path,
    numbers: &Arc<FileNumbers>,
    (database_id, state): ([u8; 16], &KeyspaceState),
) -> Result<OutputSettings> {
    let mut options = state.asked()?;
    fill_keyspace(&DbOptions::default(), &mut options);
    let settings = settings_of(env, dir, numbers, (state.id, &state.name), options);
    Ok(OutputSettings {
        database_id: Some(database_id),
        ..settings
    })
}

/// How files of a keyspace are written of which nothing is known but its number and the order of
/// its keys.
pub fn plain_settings(
    env: &Env,
    dir: &Path,
    numbers: &Arc<FileNumbers>,
    keyspace: KeyspaceId,
    comparator: &Comparator,
) -> OutputSettings {
    let mut options = KeyspaceOptions {
        comparator: comparator.clone(),
        ..KeyspaceOptions::default()
    };
    fill_keyspace(&DbOptions::default(), &mut options);
    settings_of(env, dir, numbers, (keyspace, ""), options)
}

fn settings_of(
    env: &Env,
    dir: &Path,
    numbers: &Arc<FileNumbers>,
    (keyspace, name): (KeyspaceId, &str),
    options: KeyspaceOptions,
) -> OutputSettings {
    OutputSettings {
        env: env.clone(),
        dir: dir.to_path_buf(),
        numbers: Arc::clone(numbers),
        keyspace,
        comparator: options.comparator,
        compression: options.sst.compression.of_blocks(),
        phrasing: None,
        sst: options.sst,
        relocator: None,
        values: Arc::new(OpenValues::new(Arc::clone(&env.fs), dir, OPEN_SEGMENTS_MAX)),
        // Who repairs waits for it, and nobody else uses the database meanwhile.
        background_rate: Arc::default(),
        keyspace_name: Bytes::copy_of(name.as_bytes()),
        database_id: None,
        sources: Arc::default(),
        snapshots: Arc::default(),
    }
}

/// Writes everything under `cursor`, and `range_deletes`, as one run.
///
/// Of entries with the same key and sequence number one counts: they are the same write, which
/// lies in two files when a flush or a compaction was cut short. A merge operand and a value are
/// the same where the value is what the operand and all older ones were folded to; then it counts.
pub fn write_run(
    cursor: &mut dyn Cursor,
    mut range_deletes: Vec<RangeDelete>,
    settings: OutputSettings,
) -> Result<Vec<FileRecord>> {
    let comparator = settings.comparator.clone();
    range_deletes.sort_by(|left, right| {
        let by_start = comparator.compare(&left.start, &right.start);
        by_start.then_with(|| (&left.end, left.seqno).cmp(&(&right.end, right.seqno)))
    });
    range_deletes.dedup();
    let mut output = Output::new(settings, range_deletes);
    let mut last: Option<(Vec<u8>, Trailer)> = None;
    // Held back until it is known that no value takes its place.
    let mut operand: Option<(Vec<u8>, Vec<u8>)> = None;
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        let (user_key, trailer) = key::split(cursor.key());
        let is_again = last.as_ref().is_some_and(|(last_key, last)| {
            last.seqno() == trailer.seqno() && last_key == user_key
        });
        let is_operand = trailer.kind() == Kind::Merge;
        if is_again && !is_operand && operand.is_some() {
            operand = None;
            output.add(cursor.key(), cursor.value()?)?;
        } else if !is_again {
            if let Some((key, value)) = operand.take() {
                output.add(&key, &value)?;
            }
            match is_operand {
                true => operand = Some((cursor.key().to_vec(), cursor.value()?.to_vec())),
                false => output.add(cursor.key(), cursor.value()?)?,
            }
            let (last_key, last_trailer) = last.get_or_insert_with(|| (Vec::new(), trailer));
            last_key.clear();
            last_key.extend_from_slice(user_key);
            *last_trailer = trailer;
        }
        is_on = cursor.next()?;
    }
    if let Some((key, value)) = operand {
        output.add(&key, &value)?;
    }
    output.finish()
}
