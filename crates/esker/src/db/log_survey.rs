//! Looks at a log without taking anything over: what is whole, what is torn, what is damaged.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::db::older_values::is_in_files;
use crate::env::fs::Fs;
use crate::flow::write::replay::{ReplayReport, ReplaySource, ReplayTarget, replay};
use crate::store::names::{FileName, LOST_DIR, TORN_DIR};
use crate::store::version::numbers::is_given_out;
use crate::store::version::state::Version;
use crate::store::vlog::open_values::OpenValues;

/// What opening the database of `version` for writing would make of its log, which is made of
/// `segments`, oldest first. Nothing is written, and no entry is kept. In the report, `torn_bytes`
/// would be cut off, and of these the intact records `torn_records` be kept aside.
///
/// Errors: `Corruption` with file and offset where opening would be refused: a segment is missing,
/// or records are damaged that were durable; what reading the files gives.
pub fn survey_log(
    fs: &Arc<dyn Fs>,
    dir: &Path,
    version: &Version,
    segments: &[FileNumber],
) -> Result<ReplayReport> {
    check_first(version.first_log, segments)?;
    // Only the segments from the first needed one on are read when the database is opened.
    let needed = segments.iter().copied();
    let needed: Vec<FileNumber> = needed
        .filter(|number| *number >= version.first_log)
        .collect();
    let states = version.keyspaces.values();
    let mut targets: BTreeMap<_, _> = states
        .map(|state| (state.id, ReplayTarget::nowhere(state.flushed)))
        .collect();
    let source = ReplaySource {
        fs: &**fs,
        dir,
        segments: &needed,
        first_log: version.first_log,
        next_keyspace: version.next_keyspace,
        values: &OpenValues::new(Arc::clone(fs), dir, 1),
        is_in_files: &|keyspace, key, pointer| {
            is_in_files(fs, dir, version, (keyspace, key), pointer)
        },
    };
    replay(&source, &mut targets, version.last_seqno)
}

/// Whether the segment with that number may be part of the log of `version`: it is needed, and no
/// stranger's, whom everybody leaves alone.
pub fn may_be_of_log(number: FileNumber, version: &Version) -> bool {
    number >= version.first_log && is_given_out(number, version.next_file)
}

/// The segments in `dir` that may be part of the log of `version`, oldest first.
///
/// Errors: `Corruption` when the first that is needed is not there; what listing gives.
pub fn segments_of(fs: &dyn Fs, dir: &Path, version: &Version) -> Result<Vec<FileNumber>> {
    let mut segments = Vec::new();
    for name in fs.list(dir)? {
        if let Some(FileName::Wal(number)) = FileName::parse(&name)
            && may_be_of_log(number, version)
        {
            segments.push(number);
        }
    }
    segments.sort_unstable();
    check_first(version.first_log, &segments)?;
    Ok(segments)
}

/// `Corruption` when the first segment that the manifest needs is not there.
pub fn check_first(first_log: FileNumber, segments: &[FileNumber]) -> Result<()> {
    if first_log.0 == 0 || segments.contains(&first_log) {
        return Ok(());
    }
    let message = "a segment of the log is missing; `esker repair --dry-run` tells what would be \
                   lost";
    Err(Error::corruption(message).in_file(FileName::Wal(first_log)))
}

/// What is told of records that a recovery cut off though they are intact; `None` where there are
/// none of them.
pub fn torn_damage(report: &ReplayReport) -> Option<Error> {
    let (number, offset) = report.torn_at.filter(|_| report.torn_records > 0)?;
    let message = format!(
        "the log ends here, and behind it lie intact records: {}. A power cut leaves that, and so \
         does damage; opening the database for writing cuts {} bytes off and keeps the segments \
         with them in `{LOST_DIR}/{TORN_DIR}`",
        report.torn_records, report.torn_bytes
    );
    let error = Error::corruption(message);
    Some(error.in_file(FileName::Wal(number)).at_offset(offset))
}
