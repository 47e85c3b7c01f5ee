//! Scripts of the value log: `put`, damage, then `dump`, `walk`, `get`.

use std::fmt::Write;
use std::path::Path;

use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimFs;
use esker::internals::store::vlog::ValuePointer;
use esker::internals::store::vlog::format::{
    RECORD_HEAD_BYTES, RecordHead, SEGMENT_HEAD_BYTES, SegmentHead,
};
use esker::internals::store::vlog::reader::VlogReader;
use esker::internals::store::vlog::writer::{NewValue, VlogWriter};

use crate::scripts::text::{hex, number, quoted};
use crate::scripts::{Stage, run_scripts};

const DIR: &str = "/db";
const NUMBER: FileNumber = FileNumber(7);
const CAPACITY_BYTES: u64 = 16 << 10;

#[test]
fn value_logs_tell_their_story() {
    // Every script in tests/scripts/vlog*.txt.
    run_scripts("vlog", VlogStage::new);
}

struct VlogStage {
    fs: SimFs,
    writer: VlogWriter,
    end: u64,
    pointers: Vec<ValuePointer>,
}

impl VlogStage {
    fn new() -> VlogStage {
        let fs = SimFs::new(1);
        fs.create_dir_all(Path::new(DIR)).unwrap();
        let head = SegmentHead {
            number: NUMBER,
            database_id: *b"0123456789abcdef",
        };
        VlogStage {
            writer: VlogWriter::create(&fs, Path::new(DIR), head, CAPACITY_BYTES).unwrap(),
            fs,
            end: SEGMENT_HEAD_BYTES,
            pointers: Vec::new(),
        }
    }

    fn put(&mut self, keyspace: u32, key: &str, value: &[u8], out: &mut String) {
        let new = NewValue {
            keyspace: KeyspaceId(keyspace),
            key: key.as_bytes(),
            value,
        };
        let pointer = self.writer.write(self.end, &new).unwrap();
        self.end += new.record_bytes();
        self.pointers.push(pointer);
        writeln!(out, "pointer {}", hex(&pointer.encode())).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        let file = self
            .fs
            .open_read(&Path::new(DIR).join("000007.vlog"))
            .unwrap();
        let mut bytes = vec![0; usize::try_from(self.end).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    fn read(&self, out: &mut String, show: impl FnOnce(VlogReader, &mut String)) {
        match VlogReader::open(&self.fs, Path::new(DIR), NUMBER) {
            Ok(reader) => show(reader, out),
            Err(error) => writeln!(out, "{error}").unwrap(),
        }
    }
}

impl Stage for VlogStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        match words {
            ["put", keyspace, key, value] => {
                self.put(number(keyspace)?, key, value.as_bytes(), out);
            }
            ["put", keyspace, key, len, text] => {
                let value = text.repeat(number(len)?);
                self.put(number(keyspace)?, key, value.as_bytes(), out);
            }
            ["skip", len] => self.end += number::<u64>(len)?,
            ["flip", offset] => {
                let offset: u64 = number(offset)?;
                let byte = self.bytes()[usize::try_from(offset).unwrap()] ^ 1;
                self.writer.file().write_at(offset, &[&[byte]]).unwrap();
            }
            ["dump"] => dump(&self.bytes(), out),
            ["walk"] => self.read(out, |reader, out| walk(&reader, out)),
            ["get", index] => {
                let pointer = self.pointers[number::<usize>(index)?];
                self.read(out, |reader, out| match reader.value(&pointer) {
                    Ok(value) => writeln!(out, "{}", quoted(&value)).unwrap(),
                    Err(error) => writeln!(out, "{error}").unwrap(),
                });
            }
            _ => return Err("no such command".into()),
        }
        Ok(())
    }
}

fn dump(bytes: &[u8], out: &mut String) {
    let (head, mut rest) = bytes.split_at(SEGMENT_HEAD_BYTES as usize);
    for row in head.chunks(20) {
        writeln!(out, "{:>6} {}", "head", hex(row)).unwrap();
    }
    let mut offset = head.len();
    while let Some(head) = RecordHead::parse(rest) {
        let key_end = RECORD_HEAD_BYTES + usize::from(head.key_len);
        let value_end = key_end + head.value_len as usize;
        writeln!(out, "{offset:>6} {}", hex(&rest[..RECORD_HEAD_BYTES])).unwrap();
        let (key, value) = (&rest[RECORD_HEAD_BYTES..key_end], &rest[key_end..value_end]);
        writeln!(out, "       {} = {}", quoted(key), quoted(value)).unwrap();
        rest = &rest[value_end..];
        offset += value_end;
    }
}

fn walk(reader: &VlogReader, out: &mut String) {
    let mut records = reader.records();
    for record in records.by_ref() {
        let record = record.unwrap();
        let (key, len) = (quoted(&record.key), record.head.value_len);
        let keyspace = record.head.keyspace;
        let offset = record.offset;
        writeln!(out, "at {offset}: keyspace {keyspace} {key}, {len} bytes").unwrap();
    }
    writeln!(out, "end at {}", records.offset()).unwrap();
}
