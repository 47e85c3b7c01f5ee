//! The record of a file with nothing special about it, for tests.

use crate::base::types::bytes::Bytes;
use crate::base::types::ids::FileNumber;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::passing::Passing;
use crate::store::version::file::FileRecord;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// The record of a file with that number between two keys, both of which it has. Files with
/// higher numbers are newer. A test changes what it is about.
pub fn record(number: u64, smallest: &[u8], largest: &[u8]) -> FileRecord {
    FileRecord {
        number: FileNumber(number),
        size_bytes: 1_000,
        smallest: Bytes::copy_of(smallest),
        largest: Bytes::copy_of(largest),
        is_largest_exclusive: false,
        smallest_seqno: SeqNo::new(number * 10),
        largest_seqno: SeqNo::new(number * 10 + 9),
        entry_count: 10,
        delete_count: 0,
        range_delete_count: 0,
        newest_expiry_s: None,
        values: ValueLiveBytes::default(),
        is_searchable: false,
        raw_bytes: 0,
        passing: Some(Passing::default()),
        adoption: None,
        has_millis: false,
    }
}
