//! Tests of writing and reading segments on a simulated disk.

use std::path::PathBuf;

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
