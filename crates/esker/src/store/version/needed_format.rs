//! Which format of the database a change to its files needs.

use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;
use crate::store::version::format::{ADOPTED_FORMAT, FORMAT_VERSION, MILLIS_FORMAT};
use crate::store::version::state::has_millis;

/// The first format that may have all files and settings that `edit` adds.
pub fn needed_format(edit: &[Change]) -> u32 {
    let added = edit.iter().map(|change| match change {
        Change::AddFile { record, .. } => format_of(record),
        Change::CreateKeyspace { settings, .. } | Change::ChangeSettings { settings, .. }
            if has_millis(settings) =>
        {
            MILLIS_FORMAT
        }
        _ => FORMAT_VERSION,
    });
    added.max().unwrap_or(FORMAT_VERSION)
}

/// Takes out of an edit that it raises the format of a database of format `current`: as far as it
/// says, and as far as its files need it. `None` where that is no higher. Whoever logs the edit
/// logs what is taken out in one before it, so that an Esker that does not know the format never
/// comes to the files.
pub fn take_format(edit: &mut Edit, current: u32) -> Option<Change> {
    let mut needed = needed_format(edit);
    edit.retain(|change| match change {
        Change::SetFormat { version } => {
            needed = needed.max(*version);
            false
        }
        _ => true,
    });
    (needed > current).then_some(Change::SetFormat { version: needed })
}

fn format_of(record: &FileRecord) -> u32 {
    match (record.has_millis, record.adoption) {
        (true, _) => MILLIS_FORMAT,
        (false, Some(_)) => ADOPTED_FORMAT,
        (false, None) => FORMAT_VERSION,
    }
}

#[cfg(test)]
mod tests;
