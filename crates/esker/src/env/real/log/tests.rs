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
    for is_synced_often in [false, true] {
        let (_dir, path) = log_path();
        let capacity_bytes = 3 * WINDOW_BYTES + 777;
        let mut log = RealLogFile::open(&*path, capacity_bytes).unwrap();
        if is_synced_often {
            log.expect_syncs();
        }
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
    drop(log);
    let mut log = RealLogFile::open(&*path, 2 * WINDOW_BYTES + 5).unwrap();
    log.expect_syncs();
    let new = fill(&mut log, &mut Random::new(5));
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
fn a_log_that_somebody_cuts_is_an_error() {
    // Its pages are gone: the write that meets that says so, no sync is believed any more, and what
    // is written afterwards is no signal either.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, WINDOW_BYTES).unwrap();
    if !log.is_mappable {
        println!("passed over: logs are not mapped on this file system");
        return;
    }
    log.write_at(0, b"record").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    let error = log.write_at(6, b"record").unwrap_err();
    assert!(error.to_string().contains("cut it"), "{error}");
    log.syncer().sync().unwrap_err();
    log.write_at(12, b"record").unwrap();
}

#[test]
fn a_store_that_fails_once_is_made_by_a_call() {
    // The pages are there again when the handler has noted the failure: nothing was lost, so the
    // record is written all the same, and so are those behind it.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, WINDOW_BYTES).unwrap();
    if !log.is_mappable {
        println!("passed over: logs are not mapped on this file system");
        return;
    }
    log.write_at(0, b"first ").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    // A window over pages that the file does not have: they come back in front of the next write.
    file.set_len(6).unwrap();
    let window = log.window.as_mut().unwrap();
    window.write(8_192, b"lost").unwrap_err();
    file.set_len(WINDOW_BYTES).unwrap();
    log.write_at(6, b"second").unwrap();
    log.write_at(12, b"third").unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"first secondthird"));
    log.syncer().sync().unwrap();
}

#[test]
#[should_panic(expected = "capacity_bytes")]
fn a_write_beyond_the_capacity_is_our_bug() {
    // Who writes a log asks first whether the record fits.
    let (_dir, path) = log_path();
    let mut log = RealLogFile::open(&*path, 100).unwrap();
    log.write_at(99, b"ab").unwrap();
}
