//! Writes records into a segment, each at the place that was set aside for it.

use std::path::Path;
use std::sync::Arc;

use crate::base::codec::checksum::crc32c;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::env::fs::{ExtentFile, Fs};
use crate::store::names::FileName;
use crate::store::vlog::format::{
    RECORD_HEAD_BYTES, RecordHead, SEGMENT_BYTES_MAX, SEGMENT_HEAD_BYTES, SegmentHead, record_len,
};
use crate::store::vlog::pointer::ValuePointer;

/// One segment that is being filled. Clones are the same; any thread may call anything.
///
/// Which part belongs to whom is the owner's to say: records must not overlap.
#[derive(Clone)]
pub struct VlogWriter {
    number: FileNumber,
    capacity_bytes: u64,
    file: Arc<dyn ExtentFile>,
}

/// A value on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct NewValue<'a> {
    /// Whose it is.
    pub keyspace: KeyspaceId,
    /// The user's key.
    pub key: &'a [u8],
    /// The user's value.
    pub value: &'a [u8],
}

impl NewValue<'_> {
    /// Bytes of its record.
    pub fn record_bytes(&self) -> u64 {
        record_len(self.key.len(), self.value.len())
    }
}

impl VlogWriter {
    /// Creates the segment in `dir` with room for `capacity_bytes`, head included. Its directory
    /// entry is the caller's to sync.
    pub fn create(
        fs: &dyn Fs,
        dir: &Path,
        head: SegmentHead,
        capacity_bytes: u64,
    ) -> Result<VlogWriter> {
        assert!((SEGMENT_HEAD_BYTES..=SEGMENT_BYTES_MAX).contains(&capacity_bytes));
        let path = dir.join(FileName::Vlog(head.number).to_string());
        let file = fs.create_extent(&path, capacity_bytes)?;
        if let Err(error) = file.write_at(0, &[&head.encode()]) {
            // Nobody will name it; one that cannot be removed is found by the next open.
            let _ = fs.remove_file(&path);
            return Err(error);
        }
        Ok(VlogWriter {
            number: head.number,
            capacity_bytes,
            file,
        })
    }

    /// The segment's number.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    /// Bytes that the segment has room for, its head included.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The file, to sync and to trim it.
    pub fn file(&self) -> &Arc<dyn ExtentFile> {
        &self.file
    }

    /// Writes a record at `offset`, where its bytes were set aside. When this returns it is in
    /// the page cache. An error means that any part may be missing.
    ///
    /// # Panics
    /// When key or value are beyond their limits, or the record beyond the segment.
    pub fn write(&self, offset: u64, new: &NewValue<'_>) -> Result<ValuePointer> {
        let (head, pointer) = self.place(offset, new, crc32c(new.value));
        self.file.write_at(offset, &[&head, new.key, new.value])?;
        Ok(pointer)
    }

    /// What stands before the key of a record at `offset`, and the pointer to its value, whose
    /// CRC32C the caller knows.
    ///
    /// # Panics
    /// As [`VlogWriter::write`].
    pub fn place(
        &self,
        offset: u64,
        new: &NewValue<'_>,
        value_crc: u32,
    ) -> ([u8; RECORD_HEAD_BYTES], ValuePointer) {
        assert!(new.key.len() <= KEY_BYTES_MAX && new.value.len() <= VALUE_BYTES_MAX);
        assert!(offset >= SEGMENT_HEAD_BYTES);
        assert!(offset + new.record_bytes() <= self.capacity_bytes);
        let length = |len: usize| u32::try_from(len).expect("limits are below 4 GiB");
        let head = RecordHead {
            value_crc,
            keyspace: new.keyspace,
            key_len: u16::try_from(new.key.len()).expect("keys are shorter than 64 KiB"),
            value_len: length(new.value.len()),
        };
        let value_offset = offset + (RECORD_HEAD_BYTES + new.key.len()) as u64;
        let pointer = ValuePointer {
            segment: self.number,
            offset: u32::try_from(value_offset).expect("segments are shorter than 4 GiB"),
            len: length(new.value.len()),
            crc: value_crc,
        };
        (head.encode(self.number, offset, new.key), pointer)
    }
}

impl std::fmt::Debug for VlogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VlogWriter({})", FileName::Vlog(self.number))
    }
}
