//! Any bytes as a log segment, and any damage to a segment that was written.
//!
//! The first byte chooses: 0 reads the rest as a segment; others write a log first. Then each
//! two bytes give a record's length, a 0 among them a sync, and what lies behind byte 0xff the
//! damage: offset (u16) and new byte, three by three.

use std::sync::{Arc, Mutex};

use esker::internals::base::types::error::{Error, ErrorKind, Result};
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::{LogFile, LogSync, ReadFile};
use esker::internals::store::names::FileName;
use esker::internals::store::wal::writer::WalWriter;
use esker::internals::store::wal::{Salvaged, WalReader};

const NUMBER: FileNumber = FileNumber(9);

/// Two blocks, so that offsets of damage fit 16 bits.
const CAPACITY: usize = 64 << 10;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((0, rest)) => {
            read(rest.to_vec());
        }
        Some((_, rest)) => write_damage_read(rest),
        None => {}
    }
}

fn write_damage_read(rest: &[u8]) {
    let border = rest
        .iter()
        .position(|&byte| byte == 0xff)
        .unwrap_or(rest.len());
    let (plan, damage) = rest.split_at(border);
    let file = MemoryFile(Arc::new(Mutex::new(vec![0; CAPACITY])));
    let mut writer = WalWriter::new(Box::new(file.clone()), NUMBER);
    let mut records = Vec::new();
    for step in plan.chunks_exact(2) {
        let len = usize::from(u16::from_le_bytes([step[0], step[1]]));
        if len == 0 {
            writer.set_synced(writer.end_offset());
        } else if writer.fits(len) {
            let byte = u8::try_from(records.len() % 251).expect("a remainder fits") + 1;
            records.push(vec![byte; len]);
            writer
                .append(&vec![byte; len])
                .expect("memory does not fail");
        }
    }
    let mut bytes = file.0.lock().expect("no one panicked").clone();
    for change in damage.get(1..).unwrap_or(&[]).chunks_exact(3) {
        bytes[usize::from(u16::from_le_bytes([change[0], change[1]]))] = change[2];
    }
    assert!(records.starts_with(&read(bytes)));
}

// What a reader yields; salvage must yield at least that.
fn read(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let file = Arc::new(MemoryFile(Arc::new(Mutex::new(bytes))));
    let mut reader = WalReader::new(file.clone(), NUMBER);
    let mut records = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => {
                let _tail = reader.tail();
                break;
            }
            Err(error) => {
                assert!(error.kind() == ErrorKind::Corruption);
                break;
            }
        }
    }
    let mut salvage = WalReader::salvage(file, FileName::Wal(NUMBER));
    let mut salvaged = Vec::new();
    let mut end = 0;
    while let Some(found) = salvage.next().expect("memory does not fail") {
        let offset = match found {
            Salvaged::Record { offset, payload } => {
                salvaged.push(payload.to_vec());
                offset
            }
            Salvaged::Gap(gap) => gap.offset,
        };
        assert!(offset >= end);
        end = salvage.end_offset();
    }
    assert!(salvaged.starts_with(&records));
    records
}

#[derive(Clone)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl LogFile for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = usize::try_from(offset).expect("within the capacity");
        let mut held = self.0.lock().expect("no one panicked");
        held[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn capacity_bytes(&self) -> u64 {
        self.size_bytes()
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(self.clone())
    }
}

impl LogSync for MemoryFile {
    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl ReadFile for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let held = self.0.lock().expect("no one panicked");
        let start = usize::try_from(offset).expect("within memory");
        let found = held.get(start..start + buffer.len());
        buffer.copy_from_slice(found.ok_or_else(|| Error::corruption("the file ends"))?);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.lock().expect("no one panicked").len() as u64
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}
