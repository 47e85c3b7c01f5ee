//! The files of a run, asked about one key after the other in order.

use std::collections::BTreeSet;

use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, Level};
use crate::flow::compact::plan::Plan;
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;

/// Files that do not overlap, in order, and how far the keys that were asked have come.
pub struct Row<'a> {
    files: Vec<&'a FileRecord>,
    /// The first file that may hold the key asked next.
    next: usize,
}

impl<'a> Row<'a> {
    /// The files of `levels` that `plan` does not merge and `is_wanted` takes, a row for each run
    /// that has any.
    pub fn beside(
        plan: &Plan,
        levels: &'a Levels,
        is_wanted: impl Fn(Level, &FileRecord) -> bool,
    ) -> Vec<Row<'a>> {
        let inputs: BTreeSet<FileNumber> = plan.numbers().collect();
        let rows = levels.all_runs().map(|(level, run)| {
            let files = run.files().iter().map(|file| &**file);
            let wanted =
                files.filter(|file| is_wanted(level, file) && !inputs.contains(&file.number));
            let files = wanted.collect();
            Row { files, next: 0 }
        });
        rows.filter(|row| !row.files.is_empty()).collect()
    }

    /// The file whose range has that key. Keys are asked in order, so the row is walked once.
    pub fn at(&mut self, comparator: &Comparator, user_key: &[u8]) -> Option<&'a FileRecord> {
        while let Some(file) = self.files.get(self.next) {
            if !file.ends_before(comparator, user_key) {
                return (!file.starts_after(comparator, user_key)).then_some(*file);
            }
            self.next += 1;
        }
        None
    }
}
