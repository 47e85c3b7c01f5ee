//! Tests of `fs`.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::*;
use crate::env::fs::contract;

#[test]
fn the_real_file_system_keeps_the_contract() {
    // What the simulation promises, the operating system does too.
    let dir = tempfile::tempdir().unwrap();
    contract::check_all(&RealFs, dir.path());
}

#[test]
fn new_files_and_directories_are_their_owners_alone() {
    // Nobody else on the machine may read a database.
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a/b");
    RealFs.create_dir_all(&inner).unwrap();
    contract::write_file(&RealFs, &inner.join("1.sst"), b"x");
    drop(RealFs.open_log(&inner.join("1.wal"), 512).unwrap());
    drop(RealFs.lock(&inner.join("LOCK")).unwrap());
    let mode = |path: PathBuf| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(dir.path().join("a")), 0o700);
    assert_eq!(mode(inner.clone()), 0o700);
    for name in ["1.sst", "1.wal", "LOCK"] {
        assert_eq!(mode(inner.join(name)), 0o600);
    }
}

#[test]
fn a_directory_without_a_parent_part_is_made_in_place() {
    // A user may well open "mydb" relative to where he stands.
    assert_eq!(parent_of(Path::new("mydb")), Path::new("."));
    assert_eq!(parent_of(Path::new("a/mydb")), Path::new("a"));
    assert_eq!(parent_of(Path::new("/")), Path::new("."));
}

#[test]
fn a_pipe_in_place_of_a_file_keeps_nobody_waiting() {
    // Its other end is never opened: whoever opens it gets no bytes, or an error, at once.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("000001.sst");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let read = RealFs.open_read(&path);
    assert!(read.is_err() || read.unwrap().read_at(0, &mut [0]).is_err());
    let written = RealFs.create(&path).and_then(|mut file| {
        file.append(b"x")?;
        file.sync()
    });
    assert!(written.is_err());
}

#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
#[test]
fn a_full_disk_is_out_of_space() {
    // /dev/full refuses every write as a full disk does.
    let mut file = RealFs.create(Path::new("/dev/full")).unwrap();
    file.append(b"x").unwrap();
    let error = file.sync().unwrap_err();
    assert_eq!(
        error.kind(),
        crate::base::types::error::ErrorKind::OutOfSpace
    );
    assert!(error.to_string().contains("/dev/full"), "{error}");
}
