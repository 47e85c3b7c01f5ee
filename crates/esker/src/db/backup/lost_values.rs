//! Values that are lost, as a report tells of them: neighbours together.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Error;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::db::backup::report::LostValues;
use crate::store::names::FileName;

/// One value that is lost.
pub struct LostValue<'a> {
    /// Whose it was.
    pub keyspace: KeyspaceId,
    /// Name of the keyspace.
    pub name: &'a str,
    /// The order of its keys.
    pub comparator: &'a Comparator,
    /// The key.
    pub key: &'a [u8],
    /// The segment in which the value lay.
    pub segment: FileNumber,
    /// Why it is lost.
    pub error: &'a Error,
}

/// The values that are lost of what is read in some order. Those of one segment that no entry of
/// their keyspace lies between are told together: of a segment that is gone there may be millions.
#[derive(Default)]
pub struct LostValueList {
    told: Vec<LostValues>,
    /// Where the entry of that keyspace that was read last is told, if its value is lost.
    open: BTreeMap<KeyspaceId, usize>,
}

impl LostValueList {
    /// Notes that the value of the next entry of a keyspace is there.
    pub fn pass(&mut self, keyspace: KeyspaceId) {
        self.open.remove(&keyspace);
    }

    /// Notes that the value of the next entry is lost.
    pub fn add(&mut self, lost: &LostValue<'_>) {
        let name = FileName::Vlog(lost.segment).to_string();
        let key = Bytes::copy_of(lost.key);
        let last = self.open.get(&lost.keyspace);
        let last = last.and_then(|index| self.told.get_mut(*index));
        if let Some(last) = last.filter(|last| last.file == name) {
            last.count += 1;
            let (first, end) = &mut last.keys;
            // A log has them in the order in which they were written.
            if lost.comparator.compare(&key, first) == Ordering::Less {
                *first = key;
            } else if lost.comparator.compare(&key, end) == Ordering::Greater {
                *end = key;
            }
            return;
        }
        self.open.insert(lost.keyspace, self.told.len());
        self.told.push(LostValues {
            file: name,
            keyspace: lost.name.to_owned(),
            keys: (key.clone(), key),
            count: 1,
            cause: lost.error.to_string(),
        });
    }

    /// All of them.
    pub fn finish(self) -> Vec<LostValues> {
        self.told
    }
}
