//! Tests of `log`.
#![allow(
    clippy::disallowed_methods,
    reason = "the files are looked at from outside"
)]

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::env::random::Random;

fn log_path() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("000001.wal");
    (dir, path)
}

// Writes records of random sizes from front to back; returns what the file must hold.
fn fill(log: &mut RealLogFile, random: &mut Random) -> Vec<u8> {
    let capacity = usize::try_from(log.capacity_bytes()).unwrap();
    let mut expected = Vec::with_capacity(capacity);
    while expected.len() < capacity {
        let room = capacity - expected.len();
        let len = usize::try_from(random.below(90_000) + 1).unwrap().min(room);
        let record = random.bytes(len);
        log.write_at(expected.len() as u64, &record).unwrap();
        expected.extend_from_slice(&record);
    }
    expected
}

#[test]
fn records_cross_the_borders_of_the_window() {
    // Three windows and a bit, mapped or not: the file holds what was written, byte for byte.
    for may_map in [true, false] {
        let (_dir, path) = log_path();
        let capacity_bytes = 3 * WINDOW_BYTES + 777;
        let mut log = RealLogFile::open_by((&*path).into(), capacity_bytes, may_map).unwrap();
        let expected = fill(&mut log, &mut Random::new(1));
        assert!(fs::read(&path).unwrap() == expected);
        log.syncer().sync().unwrap();
        assert!(fs::read(&path).unwrap() == expected);
        assert_eq!(fs::metadata(&path).unwrap().len(), capacity_bytes);
    }
}

#[test]
fn one_write_larger_than_the_window_is_whole() {
    // A batch may be larger than any window.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, 4 * WINDOW_BYTES).unwrap();
    let record = Random::new(2).bytes(usize::try_from(2 * WINDOW_BYTES + 5).unwrap());
    log.write_at(WINDOW_BYTES - 3, &record).unwrap();
    let start = usize::try_from(WINDOW_BYTES).unwrap() - 3;
    assert!(fs::read(&path).unwrap()[start..start + record.len()] == record);
}

#[test]
fn a_recycled_file_grows_and_is_rewritten() {
    // A segment of the old size is taken over with a larger one, and every byte replaced.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, WINDOW_BYTES + 10).unwrap();
    let old = fill(&mut log, &mut Random::new(3));
    drop(log);
    let mut log = RealLogFile::open(&*path, 2 * WINDOW_BYTES + 5).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes[..old.len()] == old);
    assert!(bytes[old.len()..].iter().all(|byte| *byte == 0));
    let new = fill(&mut log, &mut Random::new(4));
    assert!(fs::read(&path).unwrap() == new);
}

#[test]
fn blocks_are_there_before_the_first_write() {
    // A store into the mapping must never need a block: the whole file is allocated at once.
    use std::os::unix::fs::MetadataExt;
    let (_dir, path) = log_path();
    let log = RealLogFile::open(&*path, WINDOW_BYTES).unwrap();
    if log.is_mappable {
        assert!(fs::metadata(&path).unwrap().blocks() * 512 >= WINDOW_BYTES);
    }
}

#[test]
fn a_zero_filled_file_reads_as_zeros() {
    // Where the file system cannot allocate ahead, zeros are written, in more than one piece.
    let (_dir, path) = log_path();
    let file = OsFile::open_or_create(&*path).unwrap();
    file.write_all_at(0, b"abc").unwrap();
    file.write_zeros(3, 600_000).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 600_000);
    assert!(bytes.starts_with(b"abc") && bytes[3..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_log_that_does_not_fit_leaves_nothing_behind() {
    // The disk refuses a segment of an exabyte: no half of it may take the room of others.
    let (_dir, path) = log_path();
    assert!(RealLogFile::open(&*path, 1 << 60).is_err());
    assert!(!path.exists());
}

#[test]
#[should_panic(expected = "capacity_bytes")]
fn a_write_beyond_the_capacity_is_our_bug() {
    // Who writes a log asks first whether the record fits.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, 100).unwrap();
    log.write_at(99, b"ab").unwrap();
}
