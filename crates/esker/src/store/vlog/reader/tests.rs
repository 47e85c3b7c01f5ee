//! Tests of writing and reading segments on a simulated disk.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::KeyspaceId;
use crate::env::random::Random;
use crate::env::sim::{CrashMode, SimFs};
use crate::store::vlog::writer::{NewValue, VlogWriter};

const NUMBER: FileNumber = FileNumber(5);
const CAPACITY: u64 = 64 << 10;

fn dir() -> PathBuf {
    PathBuf::from("/db")
}

fn begin(fs: &SimFs) -> VlogWriter {
    fs.create_dir_all(&dir()).unwrap();
    let head = SegmentHead {
        number: NUMBER,
        database_id: [1; 16],
    };
    VlogWriter::create(fs, &dir(), head, CAPACITY).unwrap()
}

fn write(writer: &VlogWriter, at: &mut u64, key: &[u8], value: &[u8]) -> ValuePointer {
    let new = NewValue {
        keyspace: KeyspaceId(2),
        key,
        value,
    };
    let pointer = writer.write(*at, &new).unwrap();
    *at += new.record_bytes();
    pointer
}

// Values of many lengths, and where they went.
fn fill(writer: &VlogWriter, seed: u64) -> Vec<(ValuePointer, Vec<u8>, Vec<u8>)> {
    let mut random = Random::new(seed);
    let mut at = SEGMENT_HEAD_BYTES;
    (0..20_u32)
        .map(|index| {
            let len = usize::try_from(random.below(3_000)).unwrap();
            let (key, value) = (index.to_be_bytes().to_vec(), random.bytes(len));
            (write(writer, &mut at, &key, &value), key, value)
        })
        .collect()
}

#[test]
fn values_read_back_by_pointer_and_by_walking() {
    // While the segment is still being filled, too; the walk ends where nothing was written.
    let fs = SimFs::new(1);
    let writer = begin(&fs);
    let reader = VlogReader::open(&fs, &dir(), NUMBER).unwrap();
    let written = fill(&writer, 1);
    for (pointer, _, value) in &written {
        assert_eq!(reader.value(pointer).unwrap(), value[..]);
    }
    let mut walk = reader.records();
    for (pointer, key, _) in &written {
        let record = walk.next().unwrap().unwrap();
        assert_eq!((&record.key, record.pointer), (key, *pointer));
        assert_eq!(record.head.keyspace, KeyspaceId(2));
    }
    assert!(walk.next().is_none());
    writer.file().trim(walk.offset()).unwrap();
    assert!(
        VlogReader::open(&fs, &dir(), NUMBER)
            .unwrap()
            .records()
            .count()
            == 20
    );
    assert_eq!(reader.head().database_id, [1; 16]);
}

#[test]
fn a_flipped_bit_is_corruption_with_its_place() {
    // One value is lost, its neighbours are not.
    let fs = SimFs::new(2);
    let writer = begin(&fs);
    let mut at = SEGMENT_HEAD_BYTES;
    let first = write(&writer, &mut at, b"a", &[7; 900]);
    let second = write(&writer, &mut at, b"b", &[8; 900]);
    let hit = u64::from(first.offset) + 500;
    writer.file().write_at(hit, &[&[6]]).unwrap();
    let reader = VlogReader::open(&fs, &dir(), NUMBER).unwrap();
    let error = reader.value(&first).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert_eq!(error.file(), Some("000005.vlog"));
    assert_eq!(error.offset(), Some(u64::from(first.offset)));
    assert_eq!(reader.value(&second).unwrap(), [8; 900][..]);
}

#[test]
fn a_pointer_beyond_the_file_or_to_no_segment_is_corruption() {
    // Whatever a damaged tree may hold.
    let fs = SimFs::new(3);
    let writer = begin(&fs);
    let mut at = SEGMENT_HEAD_BYTES;
    let pointer = write(&writer, &mut at, b"a", &[7; 10]);
    let reader = VlogReader::open(&fs, &dir(), NUMBER).unwrap();
    let beyond = ValuePointer {
        offset: u32::MAX,
        ..pointer
    };
    assert_eq!(
        reader.value(&beyond).unwrap_err().kind(),
        ErrorKind::Corruption
    );
    let error = VlogReader::open(&fs, &dir(), FileNumber(6)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("000006.vlog"), "{error}");
}

#[test]
fn after_a_power_cut_a_value_is_whole_or_corruption() {
    // Torn, reordered and lost writes: what was synced is there, nothing reads as something else.
    for mode in CrashMode::ALL {
        for seed in 0..20 {
            let fs = SimFs::new(seed);
            let writer = begin(&fs);
            let synced = fill(&writer, seed);
            writer.file().sync().unwrap();
            fs.sync_dir(&dir()).unwrap();
            let mut at = 60_000;
            let unsynced = write(&writer, &mut at, b"late", &[9; 4_000]);
            let image = fs.crash(mode, seed);
            let reader = VlogReader::open(&image, &dir(), NUMBER).unwrap();
            for (pointer, _, value) in &synced {
                assert_eq!(reader.value(pointer).unwrap(), value[..]);
            }
            match reader.value(&unsynced) {
                Ok(value) => assert_eq!(value, [9; 4_000][..]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corruption),
            }
        }
    }
}

/// Passes on what lies in the file, and remembers the longest read that it was asked for.
struct Longest(Arc<dyn ReadFile>, AtomicUsize);

impl ReadFile for Longest {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.1.fetch_max(buffer.len(), Ordering::Relaxed);
        self.0.read_at(offset, buffer)
    }

    fn read_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        // Room was made for the value before this was called.
        let len_max = len.max(buffer.capacity());
        self.1.fetch_max(len_max, Ordering::Relaxed);
        match len_max as u64 > self.0.size_bytes() {
            true => Err(Error::corruption("more than there is")),
            false => self.0.read_onto(offset, len, buffer),
        }
    }

    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}

#[test]
fn a_pointer_behind_the_end_takes_no_memory() {
    // A pointer may be damaged, or a segment cut short: before room is made for up to 1 GiB, the
    // pointer is held against the file's size.
    let fs = SimFs::new(1);
    let writer = begin(&fs);
    let whole = fill(&writer, 1).swap_remove(3).0;
    let file = fs.open_read(&dir().join(FileName::Vlog(NUMBER).to_string()));
    let file = Arc::new(Longest(file.unwrap(), AtomicUsize::new(0)));
    let reader = VlogReader::of(Arc::clone(&file) as Arc<dyn ReadFile>, NUMBER).unwrap();
    let size_bytes = u32::try_from(CAPACITY).unwrap();
    for (offset, len) in [
        (whole.offset, 1 << 30),
        (whole.offset, size_bytes - whole.offset + 1),
        (size_bytes, 1),
        (u32::MAX, u32::MAX),
    ] {
        let damaged = ValuePointer {
            offset,
            len,
            ..whole
        };
        let error = reader.value(&damaged).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.to_string().contains("000005.vlog"), "{error}");
        assert!(error.to_string().contains("ends before"), "{error}");
    }
    assert!(file.1.load(Ordering::Relaxed) <= SEGMENT_HEAD_BYTES as usize);
    assert!(reader.value(&whole).is_ok());
}
