//! What a recovery cuts off the log is kept aside, where anything of it is intact.
//!
//! A power cut leaves intact records behind a hole, where it let later pages through and earlier
//! ones not, and so does damage to the medium. Nothing tells the two apart, and the log has to end
//! at the hole. So before anything is removed or written over, each segment with such records is
//! copied to `lost`, as far as there is anything in it; nothing ever reads it there but who looks
//! for what was lost (`esker inspect`).

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::db::assemble::Parts;
use crate::env::fs::Fs;
use crate::flow::write::replay::ReplayReport;
use crate::store::names::{FileName, LOST_DIR};

/// Bytes that are copied at a time.
const COPY_BYTES: u64 = 1 << 20;

/// Copies the segments with intact records among what was torn off. A copy of the same segment that
/// an earlier recovery began is replaced: until the log has ended behind the cut, it is the same.
pub fn keep_torn(parts: &Parts, replayed: &ReplayReport) -> Result<()> {
    if replayed.torn_segments.is_empty() {
        return Ok(());
    }
    let fs = &*parts.env.fs;
    let folder = parts.dir.join(LOST_DIR);
    fs.create_dir_all(&folder)?;
    for &(number, end) in &replayed.torn_segments {
        copy_front(fs, parts, (number, end))?;
    }
    fs.sync_dir(&folder)?;
    fs.sync_dir(&parts.dir)
}

fn copy_front(fs: &dyn Fs, parts: &Parts, (number, end): (FileNumber, u64)) -> Result<()> {
    let name = FileName::Wal(number).to_string();
    let source = fs.open_read(&parts.dir.join(&name))?;
    let mut target = fs.create(&parts.dir.join(LOST_DIR).join(&name))?;
    let end = end.min(source.size_bytes());
    let mut buffer = Vec::new();
    let mut offset = 0;
    while offset < end {
        let len = COPY_BYTES.min(end - offset);
        buffer.resize(
            usize::try_from(len).expect("at most what is copied at a time"),
            0,
        );
        source.read_at(offset, &mut buffer)?;
        target.append(&buffer)?;
        offset += len;
    }
    target.sync()
}
