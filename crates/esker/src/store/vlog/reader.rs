//! Reads values out of a segment, each held against its checksum.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::base::codec::checksum::crc32c;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::{Fs, ReadFile};
use crate::store::names::FileName;
use crate::store::vlog::ahead::Ahead;
use crate::store::vlog::format::{RECORD_HEAD_BYTES, RecordHead, SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::vlog::pointer::ValuePointer;

/// One segment open for reading. Any thread may call anything.
pub struct VlogReader {
    number: FileNumber,
    head: SegmentHead,
    file: Arc<dyn ReadFile>,
    ahead: Ahead,
}

impl VlogReader {
    /// Opens a segment of `dir`, whose values will be read anywhere, and checks its head.
    ///
    /// Errors: `Corruption`, also when the file is not there: only segments that belong to the
    /// database are asked for. `Unsupported` for a newer format. All name the file.
    pub fn open(fs: &dyn Fs, dir: &Path, number: FileNumber) -> Result<VlogReader> {
        let name = FileName::Vlog(number);
        let file = fs.open_read(&dir.join(name.to_string()));
        let file = file.map_err(|error| match error.is_missing_file() {
            true => Error::corruption("a segment of the value log is missing")
                .in_file(name)
                .caused_by(error),
            false => error.in_file(name),
        })?;
        // Left to itself, the system takes a value whose neighbour it has cached for part of a
        // scan: of 100 KB values read anywhere it read half as much again as was asked for.
        file.expect_random();
        VlogReader::of(file, number)
    }

    /// A reader of the segment that `file` is.
    pub fn of(file: Arc<dyn ReadFile>, number: FileNumber) -> Result<VlogReader> {
        let name = FileName::Vlog(number);
        let mut bytes = [0; SEGMENT_HEAD_BYTES as usize];
        file.read_at(0, &mut bytes)
            .map_err(|error| error.in_file(name))?;
        let head = SegmentHead::decode(&bytes, number).map_err(|error| error.in_file(name))?;
        Ok(VlogReader {
            number,
            head,
            file,
            ahead: Ahead::default(),
        })
    }

    /// What the segment says of itself.
    pub fn head(&self) -> &SegmentHead {
        &self.head
    }

    /// Size of the file when it was opened, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// The value at `pointer`, by one read.
    ///
    /// Errors: `Corruption` with file and offset when it is not the value that was pointed to.
    pub fn value(&self, pointer: &ValuePointer) -> Result<Bytes> {
        let len = pointer.len as usize;
        let offset = u64::from(pointer.offset);
        // Held against the file's size first, which never grows: a damaged pointer must not become
        // an allocation.
        if offset + u64::from(pointer.len) > self.size_bytes() {
            let message =
                format!("the file ends before the value of {len} bytes that should be here");
            return Err(self.at(Error::corruption(message), offset));
        }
        self.ahead
            .reads(&*self.file, offset, u64::from(pointer.len));
        let mut value = Vec::with_capacity(len);
        self.file
            .read_onto(offset, len, &mut value)
            .map_err(|error| self.at(error, offset))?;
        if crc32c(&value) != pointer.crc {
            let message = format!("a value of {len} bytes does not match its checksum");
            return Err(self.at(Error::corruption(message), offset));
        }
        Ok(Bytes::from(value))
    }

    /// Says that the value at `pointer` will be read soon.
    pub fn announce(&self, pointer: &ValuePointer) {
        let (offset, len) = (u64::from(pointer.offset), u64::from(pointer.len));
        self.file.prefetch(offset, len);
    }

    /// A walk over the records, from the front.
    pub fn records(&self) -> VlogRecords<'_> {
        VlogRecords {
            reader: self,
            offset: SEGMENT_HEAD_BYTES,
        }
    }

    fn at(&self, error: Error, offset: u64) -> Error {
        error.in_file(FileName::Vlog(self.number)).at_offset(offset)
    }
}

impl fmt::Debug for VlogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VlogReader({})", FileName::Vlog(self.number))
    }
}

/// One record as a walk meets it; its value is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlogRecord {
    /// Where the record begins.
    pub offset: u64,
    /// What stands before its key.
    pub head: RecordHead,
    /// The user's key.
    pub key: Vec<u8>,
    /// Where its value lies.
    pub pointer: ValuePointer,
}

/// The records of a segment, one behind the other, up to the first place where none is.
///
/// That need not be the end of what was written: a process that was killed may have left a record
/// out that others lie behind.
pub struct VlogRecords<'a> {
    reader: &'a VlogReader,
    offset: u64,
}

impl VlogRecords<'_> {
    /// Where the next record would begin.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    fn read(&mut self) -> Result<Option<VlogRecord>> {
        let (file, offset) = (&self.reader.file, self.offset);
        let size_bytes = file.size_bytes();
        let mut bytes = [0; RECORD_HEAD_BYTES];
        if offset + bytes.len() as u64 > size_bytes {
            return Ok(None);
        }
        file.read_at(offset, &mut bytes)
            .map_err(|error| self.reader.at(error, offset))?;
        let Some(head) = RecordHead::parse(&bytes) else {
            return Ok(None);
        };
        if offset + head.record_bytes() > size_bytes {
            return Ok(None);
        }
        let mut key = vec![0; usize::from(head.key_len)];
        let key_offset = offset + RECORD_HEAD_BYTES as u64;
        file.read_at(key_offset, &mut key)
            .map_err(|error| self.reader.at(error, key_offset))?;
        let number = self.reader.number;
        let value_offset = u32::try_from(key_offset + key.len() as u64);
        let (true, Ok(value_offset)) = (
            RecordHead::matches(&bytes, number, offset, &key),
            value_offset,
        ) else {
            return Ok(None);
        };
        self.offset += head.record_bytes();
        let pointer = ValuePointer {
            segment: number,
            offset: value_offset,
            len: head.value_len,
            crc: head.value_crc,
        };
        Ok(Some(VlogRecord {
            offset,
            head,
            key,
            pointer,
        }))
    }
}

impl Iterator for VlogRecords<'_> {
    type Item = Result<VlogRecord>;

    fn next(&mut self) -> Option<Result<VlogRecord>> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests;
