//! Whether a sorted file is the one that the database wrote.
//!
//! Every checksum of a file that another database, or an older state of this one, left under a
//! number may hold. So whoever opens a file holds what it says of itself against the manifest.

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::range_delete::RangeDelete;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::contract::FinishedSst;
use crate::store::version::file::FileRecord;

/// What the manifest says of one file.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Whose it is.
    pub keyspace: KeyspaceId,
    /// What it is like.
    pub record: &'a FileRecord,
}

impl Known<'_> {
    /// Refuses an open file that is another than the one that is meant: `Corruption`.
    pub fn check(&self, reader: &AnyReader, comparator: &Comparator) -> Result<()> {
        let number = self.record.number;
        let found = record_of(
            number,
            reader.finished(),
            reader.range_deletes(),
            comparator,
        );
        self.check_record(reader.props().keyspace, found)
    }

    /// As [`Known::check`], of what was found in a file.
    pub fn check_record(&self, keyspace: KeyspaceId, mut found: FileRecord) -> Result<()> {
        let record = self.record;
        if record.raw_bytes == 0 {
            // Written before records told it.
            found.raw_bytes = 0;
        }
        if record.passing.is_none() {
            found.passing = None;
        }
        // What was written elsewhere names a keyspace of that place.
        found.adoption = record.adoption;
        let is_of_keyspace = keyspace == self.keyspace || record.adoption.is_some();
        if is_of_keyspace && found == *record {
            return Ok(());
        }
        Err(Error::corruption(format!(
            "this is another file than the database wrote: it is of {}, the manifest names one of \
             {}; put the right one back, or save what there is with `esker repair`",
            told(keyspace, &found),
            told(self.keyspace, record)
        )))
    }
}

/// What the tree keeps of a finished file: its range covers points and range deletes.
pub fn record_of(
    number: FileNumber,
    finished: FinishedSst,
    range_deletes: &[RangeDelete],
    comparator: &Comparator,
) -> FileRecord {
    let props = finished.props;
    let has_points = props.entry_count > 0;
    let mut record = FileRecord {
        raw_bytes: props.raw_bytes(),
        number,
        size_bytes: finished.size_bytes,
        smallest: props.smallest,
        largest: props.largest,
        is_largest_exclusive: false,
        smallest_seqno: props.smallest_seqno,
        largest_seqno: props.largest_seqno,
        entry_count: props.entry_count,
        delete_count: props.delete_count,
        range_delete_count: props.range_delete_count,
        newest_expiry_s: props.newest_expiry_s,
        values: props.values,
        passing: props.passing,
        adoption: None,
        has_millis: props.has_millis,
        is_searchable: finished.is_searchable,
    };
    let mut is_empty = !has_points;
    for range_delete in range_deletes {
        if is_empty
            || comparator
                .compare(&range_delete.start, &record.smallest)
                .is_lt()
        {
            record.smallest = range_delete.start.clone();
        }
        if is_empty
            || comparator
                .compare(&range_delete.end, &record.largest)
                .is_gt()
        {
            record.largest = range_delete.end.clone();
            record.is_largest_exclusive = true;
        }
        is_empty = false;
    }
    record
}

// What tells two files apart, for people.
fn told(keyspace: KeyspaceId, record: &FileRecord) -> String {
    format!(
        "keyspace {keyspace} with {} bytes, {} entries and {} range deletes, from \"{}\" to \
         \"{}\", and sequence numbers {} to {}",
        record.size_bytes,
        record.entry_count,
        record.range_delete_count,
        record.smallest.escape_ascii(),
        record.largest.escape_ascii(),
        record.smallest_seqno.get(),
        record.largest_seqno.get()
    )
}
