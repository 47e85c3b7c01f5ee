//! What every file system must do, run against each of them by its own tests.

use std::path::Path;

use crate::base::types::error::ErrorKind;
use crate::env::fs::{Fs, ReadFile, Unchanging};

type Check = fn(&dyn Fs, &Path);

/// Runs every check, each in an empty directory of its own below `dir`.
pub(crate) fn check_all(fs: &dyn Fs, dir: &Path) {
    let checks: [(&str, Check); 15] = [
        ("append", appended_bytes_are_read_back),
        ("short", reading_beyond_the_end_is_corruption),
        ("empty", create_empties_what_was_there),
        ("missing", a_missing_file_is_said_to_be_missing),
        ("rename", rename_replaces_its_target),
        ("link", a_linked_file_outlives_its_first_name),
        ("open", an_open_file_outlives_its_name),
        ("map", a_map_has_the_file_and_nothing_else),
        ("dirs", directories_come_and_go),
        ("log", a_log_is_zeros_and_what_was_written),
        ("recycle", a_recycled_log_keeps_its_bytes_and_grows),
        ("extent", an_extent_is_filled_in_any_order_and_trimmed),
        ("lock", a_lock_is_held_once),
        ("look", a_lock_is_held_without_a_word),
        ("free", free_space_is_known),
    ];
    for (name, check) in checks {
        let own_dir = dir.join(name).join("inner");
        fs.create_dir_all(&own_dir).unwrap();
        check(fs, &own_dir);
    }
}

/// Writes a whole file and syncs it, but not its directory.
pub(crate) fn write_file(fs: &dyn Fs, path: &Path, bytes: &[u8]) {
    let mut file = fs.create(path).unwrap();
    file.append(bytes).unwrap();
    file.sync().unwrap();
}

/// Reads a whole file.
pub(crate) fn read_file(fs: &dyn Fs, path: &Path) -> Vec<u8> {
    let file = fs.open_read(path).unwrap();
    read_range(&*file, 0, usize::try_from(file.size_bytes()).unwrap())
}

/// Reads a part of an open file.
pub(crate) fn read_range(file: &dyn ReadFile, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; len];
    file.read_at(offset, &mut bytes).unwrap();
    bytes
}

/// The sorted names in a directory.
pub(crate) fn names(fs: &dyn Fs, dir: &Path) -> Vec<String> {
    let mut names = fs.list(dir).unwrap();
    names.sort();
    names
}

// Pieces of many sizes, smaller and larger than any buffer, come back in order.
fn appended_bytes_are_read_back(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("a");
    let mut file = fs.create(&path).unwrap();
    let mut expected = Vec::new();
    for (index, len) in [1_usize, 0, 511, 4096, 300_000, 7, 131_072, 131_071, 2]
        .into_iter()
        .enumerate()
    {
        let piece = vec![u8::try_from(index).unwrap() + 1; len];
        file.append(&piece).unwrap();
        expected.extend_from_slice(&piece);
        assert_eq!(file.size_bytes(), expected.len() as u64);
    }
    file.sync().unwrap();
    assert!(read_file(fs, &path) == expected);
    assert_eq!(fs.file_size(&path).unwrap(), expected.len() as u64);
    let reader = fs.open_read(&path).unwrap();
    reader.prefetch(0, 1 << 40);
    reader.prefetch(1 << 40, 0);
    assert_eq!(read_range(&*reader, 510, 4), [3, 3, 4, 4]);
}

// A file that is too short was cut: the error says which file and where.
fn reading_beyond_the_end_is_corruption(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("short.sst");
    write_file(fs, &path, b"12345");
    let reader = fs.open_read(&path).unwrap();
    assert_eq!(read_range(&*reader, 2, 3), b"345");
    assert_eq!(read_range(&*reader, 5, 0), b"");
    for (offset, len) in [(3, 3), (5, 1), (u64::MAX >> 2, 1)] {
        let error = reader.read_at(offset, &mut vec![0; len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert_eq!(error.offset(), Some(offset));
        assert!(error.file().unwrap().ends_with("short.sst"));
    }
}

// Creating over a file starts it anew.
fn create_empties_what_was_there(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("a");
    write_file(fs, &path, b"old and long");
    write_file(fs, &path, b"new");
    assert_eq!(read_file(fs, &path), b"new");
    assert_eq!(names(fs, dir), ["a"]);
    let error = fs.create_new(&path).err().unwrap();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
    assert_eq!(read_file(fs, &path), b"new");
    drop(fs.create_new(&dir.join("b")).unwrap());
    assert_eq!(read_file(fs, &dir.join("b")), b"");
}

// Recovery tells a missing file from a broken disk.
fn a_missing_file_is_said_to_be_missing(fs: &dyn Fs, dir: &Path) {
    let absent = dir.join("absent");
    let deep = absent.join("deeper");
    let errors = [
        fs.open_read(&absent).err().unwrap(),
        fs.file_size(&absent).unwrap_err(),
        fs.remove_file(&absent).unwrap_err(),
        fs.remove_dir(&absent).unwrap_err(),
        fs.rename(&absent, &dir.join("x")).unwrap_err(),
        fs.hard_link(&absent, &dir.join("x")).unwrap_err(),
        fs.list(&absent).unwrap_err(),
        fs.sync_dir(&absent).unwrap_err(),
        fs.create(&deep).err().unwrap(),
        fs.open_log(&deep, 512).err().unwrap(),
        fs.create_extent(&deep, 512).err().unwrap(),
    ];
    for error in errors {
        assert!(error.is_missing_file(), "{error}");
        assert!(error.to_string().contains("absent"), "{error}");
    }
    assert!(!fs.exists(&absent).unwrap());
    assert!(fs.exists(dir).unwrap());
}

// The way CURRENT is replaced: the name never stands for nothing.
fn rename_replaces_its_target(fs: &dyn Fs, dir: &Path) {
    let (source, target) = (dir.join("CURRENT.tmp"), dir.join("CURRENT"));
    write_file(fs, &target, b"1");
    write_file(fs, &source, b"2");
    fs.rename(&source, &target).unwrap();
    fs.sync_dir(dir).unwrap();
    assert_eq!(names(fs, dir), ["CURRENT"]);
    assert_eq!(read_file(fs, &target), b"2");
}

// A checkpoint links files which the database removes later.
fn a_linked_file_outlives_its_first_name(fs: &dyn Fs, dir: &Path) {
    let (first, second) = (dir.join("first"), dir.join("second"));
    write_file(fs, &first, b"bytes");
    fs.hard_link(&first, &second).unwrap();
    let error = fs.hard_link(&first, &second).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
    fs.remove_file(&first).unwrap();
    assert!(!fs.exists(&first).unwrap());
    assert_eq!(read_file(fs, &second), b"bytes");
}

// A reader keeps its file while it is removed.
fn an_open_file_outlives_its_name(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("a");
    write_file(fs, &path, b"bytes");
    let reader = fs.open_read(&path).unwrap();
    fs.remove_file(&path).unwrap();
    write_file(fs, &path, b"other");
    assert_eq!(read_range(&*reader, 0, 5), b"bytes");
}

// A map shows what reads show, none of what lies behind the end, and outlives name and handle.
fn a_map_has_the_file_and_nothing_else(fs: &dyn Fs, dir: &Path) {
    let (path, empty) = (dir.join("a"), dir.join("empty"));
    let bytes: Vec<u8> = (0..10_000_u32).map(|byte| (byte % 251) as u8).collect();
    write_file(fs, &path, &bytes);
    write_file(fs, &empty, b"");
    assert!(
        fs.open_read(&empty)
            .unwrap()
            .map(Unchanging::word())
            .is_none()
    );
    let reader = fs.open_read(&path).unwrap();
    let map = reader.map(Unchanging::word()).unwrap();
    let other = reader.map(Unchanging::word()).unwrap();
    drop(reader);
    fs.remove_file(&path).unwrap();
    assert!(map.bytes(0, 10_000).unwrap() == bytes);
    assert!(other.bytes(4_095, 3).unwrap() == &bytes[4_095..4_098]);
    assert_eq!(map.bytes(10_000, 0), Some(&[][..]));
    for (offset, len) in [(9_999, 2), (10_001, 0), (0, usize::MAX), (u64::MAX, 1)] {
        assert_eq!(map.bytes(offset, len), None);
    }
}

// Directories are made with their parents, and removed only when empty.
fn directories_come_and_go(fs: &dyn Fs, dir: &Path) {
    let deep = dir.join("x/y");
    fs.create_dir_all(&deep).unwrap();
    fs.create_dir_all(&deep).unwrap();
    write_file(fs, &deep.join("f"), b"");
    assert_eq!(names(fs, dir), ["x"]);
    assert_eq!(names(fs, &deep), ["f"]);
    assert!(fs.remove_dir(&deep).is_err());
    assert!(fs.remove_file(&deep).is_err());
    assert!(fs.create(&deep).is_err());
    assert!(fs.create_dir_all(&deep.join("f")).is_err());
    fs.remove_file(&deep.join("f")).unwrap();
    fs.remove_dir(&deep).unwrap();
    fs.sync_dir(&dir.join("x")).unwrap();
    assert!(!fs.exists(&deep).unwrap());
}

// A fresh log has its whole size, reads as zeros, and shows what is written at once.
fn a_log_is_zeros_and_what_was_written(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("1.wal");
    let mut log = fs.open_log(&path, 10_000).unwrap();
    assert_eq!(log.capacity_bytes(), 10_000);
    assert_eq!(fs.file_size(&path).unwrap(), 10_000);
    log.write_at(9_998, b"yz").unwrap();
    log.write_at(4_090, b"0123456789").unwrap();
    log.write_at(0, b"").unwrap();
    let mut expected = vec![0; 10_000];
    expected[9_998..].copy_from_slice(b"yz");
    expected[4_090..4_100].copy_from_slice(b"0123456789");
    assert!(read_file(fs, &path) == expected);
    let syncer = log.syncer();
    syncer.sync().unwrap();
    drop(log);
    syncer.sync().unwrap();
    assert!(read_file(fs, &path) == expected);
}

// An old segment under a new name: its bytes stay until overwritten, new room is zero.
fn a_recycled_log_keeps_its_bytes_and_grows(fs: &dyn Fs, dir: &Path) {
    let (old, new) = (dir.join("1.wal"), dir.join("2.wal"));
    fs.open_log(&old, 600)
        .unwrap()
        .write_at(0, &[7; 600])
        .unwrap();
    fs.rename(&old, &new).unwrap();
    let mut log = fs.open_log(&new, 1_000).unwrap();
    assert_eq!(log.capacity_bytes(), 1_000);
    log.write_at(100, &[8; 100]).unwrap();
    let bytes = read_file(fs, &new);
    assert!(bytes[..100] == [7; 100] && bytes[100..200] == [8; 100]);
    assert!(bytes[200..600] == [7; 400] && bytes[600..] == [0; 400]);
    drop(log);
    let log = fs.open_log(&new, 10).unwrap();
    assert_eq!(log.capacity_bytes(), 1_000);
}

// Values come from several threads: a later part may be there before an earlier one.
fn an_extent_is_filled_in_any_order_and_trimmed(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("1.vlog");
    write_file(fs, &path, b"something older");
    assert!(fs.create_extent(&path, 10_000).is_err());
    assert_eq!(read_file(fs, &path), b"something older");
    fs.remove_file(&path).unwrap();
    let extent = fs.create_extent(&path, 10_000).unwrap();
    assert_eq!(fs.file_size(&path).unwrap(), 10_000);
    assert!(read_file(fs, &path) == [0; 10_000]);
    extent.write_at(5_000, &[b"later", b"", b" part"]).unwrap();
    extent.write_at(0, &[&[7; 4_090], b"ab"]).unwrap();
    extent.write_at(9_999, &[]).unwrap();
    let mut expected = vec![0; 10_000];
    expected[5_000..5_010].copy_from_slice(b"later part");
    expected[..4_090].fill(7);
    expected[4_090..4_092].copy_from_slice(b"ab");
    assert!(read_file(fs, &path) == expected);
    extent.sync().unwrap();
    extent.trim(5_010).unwrap();
    extent.sync().unwrap();
    assert!(read_file(fs, &path) == expected[..5_010]);
    assert!(fs.create_extent(&dir.join("absent/1"), 10).is_err());
    much_is_written_whole(fs, &dir.join("much"));
}

// More than the system is given at once, in pieces that end anywhere.
fn much_is_written_whole(fs: &dyn Fs, path: &Path) {
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|byte| (byte % 251) as u8).collect();
    let extent = fs.create_extent(path, 2_000_000).unwrap();
    let (front, long) = bytes.split_at(800_000);
    let mut pieces: Vec<&[u8]> = front.chunks(70_030).collect();
    pieces.extend([&[][..], long]);
    extent.write_at(77, &pieces).unwrap();
    assert!(read_file(fs, path)[77..1_500_077] == bytes);
}

// The second opener is told who holds the directory; the lock ends with its handle.
fn a_lock_is_held_once(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("LOCK");
    let held = fs.lock(&path).unwrap();
    let error = fs.lock(&path).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let own_id = std::process::id().to_string();
    assert!(error.message().contains(&own_id), "{error}");
    assert!(error.message().contains("for reading only"), "{error}");
    assert_eq!(names(fs, dir), ["LOCK"]);
    drop(held);
    let _held = fs.lock(&path).unwrap();
    fs.lock(&dir.join("OTHER")).unwrap();
}

// Whoever looks keeps writers away, writes nothing, and lets others look.
fn a_lock_is_held_without_a_word(fs: &dyn Fs, dir: &Path) {
    let path = dir.join("LOCK");
    assert!(fs.lock_unwritten(&path).unwrap().is_none());
    assert!(names(fs, dir).is_empty());
    write_file(fs, &path, b"as it was");
    let first = fs.lock_unwritten(&path).unwrap();
    let second = fs.lock_unwritten(&path).unwrap();
    assert!(first.is_some() && second.is_some());
    for look in [first, second] {
        assert_eq!(fs.lock(&path).err().unwrap().kind(), ErrorKind::Locked);
        drop(look);
    }
    assert_eq!(read_file(fs, &path), b"as it was");
    let _held = fs.lock(&path).unwrap();
    let error = fs.lock_unwritten(&path).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
}

// The engine keeps a reserve, so it asks.
fn free_space_is_known(fs: &dyn Fs, dir: &Path) {
    assert!(fs.free_bytes(dir).unwrap() > 0);
}
