//! Any bytes as a segment of the value log, as a pointer into one, and as live bytes of some.
//!
//! The first byte chooses: 0 the rest is records behind a right head, 1 the whole segment, 2 a
//! pointer, 3 live bytes.

use std::sync::Arc;

use esker::internals::base::codec::reader::ByteReader;
use esker::internals::base::types::error::{Error, ErrorKind, Result};
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::ReadFile;
use esker::internals::store::vlog::format::SegmentHead;
use esker::internals::store::vlog::reader::VlogReader;
use esker::internals::store::vlog::{ValueLiveBytes, ValuePointer};

const NUMBER: FileNumber = FileNumber(9);

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((0, rest)) => {
            let head = SegmentHead {
                number: NUMBER,
                database_id: [1; 16],
            };
            walk([&head.encode()[..], rest].concat());
        }
        Some((1, rest)) => walk(rest.to_vec()),
        Some((2, rest)) => {
            if let Ok(pointer) = ValuePointer::decode(rest) {
                assert!(pointer.encode() == rest);
            }
        }
        Some((_, rest)) => {
            let mut reader = ByteReader::new(rest);
            if let Some(live) = ValueLiveBytes::take(&mut reader) {
                let taken = rest.len() - reader.rest().len();
                let mut again = Vec::new();
                live.put(&mut again);
                assert!(again == rest[..taken]);
            }
        }
        None => {}
    }
}

// Every record lies inside the file, behind the one before; a value is what was summed up.
fn walk(bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let reader = match VlogReader::of(Arc::new(MemoryFile(bytes)), NUMBER) {
        Ok(reader) => reader,
        Err(error) => {
            let kinds = [ErrorKind::Corruption, ErrorKind::Unsupported];
            assert!(kinds.contains(&error.kind()));
            return;
        }
    };
    let mut records = reader.records();
    let mut before = records.offset();
    while let Some(record) = records.next() {
        let record = record.expect("memory does not fail");
        assert!(record.offset == before && records.offset() <= len);
        before = records.offset();
        match reader.value(&record.pointer) {
            Ok(value) => assert!(value.len() == record.pointer.len as usize),
            Err(error) => assert!(error.kind() == ErrorKind::Corruption),
        }
    }
}

struct MemoryFile(Vec<u8>);

impl ReadFile for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = self
            .0
            .get(start..)
            .and_then(|rest| rest.get(..buffer.len()));
        let part = part.ok_or_else(|| Error::corruption("the file ends"))?;
        buffer.copy_from_slice(part);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}
