//! The files of a run, asked about one key after the other in order.

use crate::base::types::order::KeyOrder;
use crate::store::version::file::FileRecord;

/// Files that do not overlap, in order, and how far the keys that were asked have come.
pub struct Row<'a> {
    files: Vec<&'a FileRecord>,
    /// The first file that may hold the key asked next.
    next: usize,
}

impl<'a> Row<'a> {
    /// A row of these files; `None` when there are none.
    pub fn new(files: impl Iterator<Item = &'a FileRecord>) -> Option<Row<'a>> {
        let files: Vec<&FileRecord> = files.collect();
        (!files.is_empty()).then_some(Row { files, next: 0 })
    }

    /// The file whose range has that key. Keys are asked in order, so the row is walked once.
    pub fn at(&mut self, order: &KeyOrder, user_key: &[u8]) -> Option<&'a FileRecord> {
        while let Some(file) = self.files.get(self.next) {
            if !file.ends_before(order, user_key) {
                return (!file.starts_after(order, user_key)).then_some(*file);
            }
            self.next += 1;
        }
        None
    }
}
