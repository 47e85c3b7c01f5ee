//! Scripts of the log: `append`, `sync`, damage, then `dump`, `read`, `salvage`.

use std::fmt::Write;
use std::sync::Arc;

use esker::internals::base::types::ids::FileNumber;
use esker::internals::store::names::FileName;
use esker::internals::store::wal::format::{HEADER_BYTES, Header, next_header};
use esker::internals::store::wal::writer::WalWriter;
use esker::internals::store::wal::{Salvaged, WalReader};

use crate::scripts::memory_file::MemoryFile;
use crate::scripts::text::{hex, number, quoted};
use crate::scripts::{Stage, run_scripts};

#[test]
fn logs_tell_their_story() {
    // Every script in tests/scripts/wal*.txt.
    run_scripts("wal", || {
        WalStage::new(MemoryFile::zeros(64 << 10), FileNumber(1))
    });
}

struct WalStage {
    file: MemoryFile,
    number: FileNumber,
    writer: WalWriter,
}

impl WalStage {
    fn new(file: MemoryFile, number: FileNumber) -> WalStage {
        let writer = WalWriter::new(Box::new(file.clone()), number);
        WalStage {
            file,
            number,
            writer,
        }
    }

    fn append(&mut self, payload: &[u8], out: &mut String) {
        match self.writer.append(payload) {
            Ok(end) => writeln!(out, "appended, ends at {end}").unwrap(),
            Err(error) => writeln!(out, "{error}").unwrap(),
        }
    }
}

impl Stage for WalStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        match words {
            ["segment", capacity] => {
                *self = WalStage::new(MemoryFile::zeros(number(capacity)?), self.number);
            }
            ["recycle", log] => {
                *self = WalStage::new(self.file.clone(), FileNumber(number(log)?));
            }
            ["append", text] => self.append(text.as_bytes(), out),
            ["append", len, text] => self.append(&text.repeat(number(len)?).into_bytes(), out),
            ["sync"] => self.writer.set_synced(self.writer.end_offset()),
            ["flip", offset] => {
                let offset: usize = number(offset)?;
                self.file.damage(|bytes| bytes[offset] ^= 1);
            }
            ["zero", start, end] => {
                let range = number::<usize>(start)?..number(end)?;
                self.file.damage(|bytes| bytes[range].fill(0));
            }
            ["truncate", len] => {
                let len = number(len)?;
                self.file.damage(|bytes| bytes.truncate(len));
            }
            ["dump"] => dump(&self.file.bytes(), out),
            ["read"] => read(&self.file, self.number, out),
            ["salvage"] => salvage(&self.file, self.number, out),
            _ => return Err("no such command".into()),
        }
        Ok(())
    }
}

fn read(file: &MemoryFile, number: FileNumber, out: &mut String) {
    let mut reader = WalReader::new(Arc::new(file.clone()), number);
    loop {
        match reader.next() {
            Ok(Some(record)) => writeln!(out, "record {}", quoted(record)).unwrap(),
            Ok(None) => return writeln!(out, "{:?}", reader.tail()).unwrap(),
            Err(error) => return writeln!(out, "{error}").unwrap(),
        }
    }
}

fn salvage(file: &MemoryFile, number: FileNumber, out: &mut String) {
    let mut walk = WalReader::salvage(Arc::new(file.clone()), FileName::Wal(number));
    while let Some(found) = walk.next().unwrap() {
        match found {
            Salvaged::Record { offset, payload } => {
                writeln!(out, "{offset:>6} record {}", quoted(payload)).unwrap();
            }
            Salvaged::Gap(gap) => {
                let at = gap.damaged_at;
                writeln!(out, "{:>6} gap to {}, damaged at {at}", gap.offset, gap.end).unwrap();
            }
        }
    }
}

// Every byte of the file, as fragments, zeros and anything else.
fn dump(bytes: &[u8], out: &mut String) {
    let mut at = 0;
    while at < bytes.len() {
        let end = match fragment_at(bytes, at) {
            Some((header, payload)) => {
                let (kind, len) = (header.kind, header.payload_len);
                let (log, mark) = (header.log, header.durable_mark);
                let head = hex(&bytes[at..at + HEADER_BYTES]);
                writeln!(
                    out,
                    "{at:>6} {head} | {kind:?} {len}, log {log}, durable {mark}"
                )
                .unwrap();
                let payload_at = at + HEADER_BYTES;
                writeln!(
                    out,
                    "{payload_at:>6} {} | {}",
                    hex(payload),
                    quoted(payload)
                )
                .unwrap();
                payload_at + payload.len()
            }
            None if bytes[at] == 0 => {
                let end = run_end(bytes, at, |at| bytes[at] == 0);
                writeln!(out, "{at:>6} zeros to {end}").unwrap();
                end
            }
            None => {
                let is_rest = |at| bytes[at..].iter().take(HEADER_BYTES).any(|byte| *byte != 0);
                let end = run_end(bytes, at, is_rest);
                writeln!(out, "{at:>6} {} | neither", hex(&bytes[at..end])).unwrap();
                end
            }
        };
        at = end;
    }
}

fn fragment_at(bytes: &[u8], at: usize) -> Option<(Header, &[u8])> {
    let offset = at as u64;
    let header = Header::decode(&bytes[at..])?;
    let payload = bytes
        .get(at + HEADER_BYTES..)?
        .get(..usize::from(header.payload_len))?;
    let is_whole = next_header(offset) == offset && header.is_intact(offset, payload);
    is_whole.then_some((header, payload))
}

// Where a run of bytes ends that starts at `start`: at a fragment or where `goes_on` ends.
fn run_end(bytes: &[u8], start: usize, goes_on: impl Fn(usize) -> bool) -> usize {
    let mut end = start + 1;
    while end < bytes.len() && fragment_at(bytes, end).is_none() && goes_on(end) {
        end += 1;
    }
    end
}
