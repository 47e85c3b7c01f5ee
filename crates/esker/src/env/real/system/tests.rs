//! Tests of `system`.

use super::*;
use std::os::unix::fs::{FileExt, MetadataExt};

#[test]
fn a_file_has_one_identity_by_either_call() {
    // What holds the lock compares one with the other.
    let file = tempfile::tempfile().unwrap();
    let stat = rustix::fs::fstat(&file).unwrap();
    let metadata = file.metadata().unwrap();
    assert_eq!(identity_of(&stat), (metadata.dev(), metadata.ino()));
}

#[test]
fn allocating_gives_the_size_and_keeps_the_bytes() {
    // Longer first, then as long as it is: nothing is cut off, and nothing is lost.
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(b"before", 0).unwrap();
    for (present_bytes, whole_bytes) in [(6, 100_000), (100_000, 100_000)] {
        if allocate(&file, present_bytes, whole_bytes).unwrap() {
            assert_eq!(file.metadata().unwrap().len(), whole_bytes);
        }
    }
    let mut bytes = [0; 6];
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"before");
    sync_contents(&file).unwrap();
}

#[test]
fn descriptors_are_listed_where_the_system_says() {
    let count = || std::fs::read_dir(DESCRIPTORS).unwrap().count();
    let before = count();
    let files: Vec<File> = (0..50).map(|_| tempfile::tempfile().unwrap()).collect();
    // Other tests open and close files meanwhile, but hardly so many.
    assert!(count() + 25 > before + files.len(), "{before}");
}

#[test]
fn entries_of_a_directory_are_synced() {
    let dir = tempfile::tempdir().unwrap();
    sync_entries(File::open(dir.path()).unwrap()).unwrap();
}
