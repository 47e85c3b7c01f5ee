//! A segment of the log that holds prepared transactions alone, for a database in the making.

use std::path::Path;

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::batch::prepared_log::LoggedPrepare;
use crate::store::batch::two_phases::copy_of;
use crate::store::names::FileName;
use crate::store::wal::head::{SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::wal::writer::WalWriter;

/// Bytes of records from which another segment is begun: far below what offsets in one can say, and
/// as many as one record may have.
const SEGMENT_BYTES: u64 = 1 << 31;

/// Writes segments with copies of `prepared`, the first of which begins a log, numbered by `next`,
/// and makes them durable, but for their names in the directory. Returns the number of the first;
/// `None` where nothing is prepared.
pub fn write_prepared(
    fs: &dyn Fs,
    dir: &Path,
    prepared: &[LoggedPrepare],
    mut next: impl FnMut() -> FileNumber,
) -> Result<Option<FileNumber>> {
    let mut rest = prepared;
    let mut first = None;
    let mut previous = None;
    while !rest.is_empty() {
        let framed = |prepared: &LoggedPrepare| WalWriter::framed_len(prepared.record.len());
        let mut bytes = WalWriter::framed_len(SEGMENT_HEAD_BYTES) + WalWriter::framed_len(0);
        let mut count = 0;
        while let Some(one) = rest.get(count)
            && (count == 0 || bytes + framed(one) <= SEGMENT_BYTES)
        {
            bytes += framed(one);
            count += 1;
        }
        let (these, others) = rest.split_at(count);
        let number = next();
        let path = dir.join(FileName::Wal(number).to_string());
        let mut log = WalWriter::new(fs.open_log(&path, bytes)?, number);
        log.append(&SegmentHead { previous }.encode())?;
        for one in these {
            log.append(&copy_of(&one.record, one.place))?;
        }
        log.syncer().sync()?;
        log.set_synced(log.end_offset());
        log.append_mark()?;
        first.get_or_insert(number);
        previous = Some((number, log.end_offset()));
        rest = others;
    }
    Ok(first)
}
