//! Tests of `lock`.

use std::fs;

use super::*;

#[test]
fn what_an_earlier_holder_wrote_means_nothing() {
    // A crash leaves a lock file with a dead process in it, longer than ours will be.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("LOCK");
    fs::write(&path, "4294967295 and some more\n").unwrap();
    let held = RealLock::take(&*path).unwrap();
    let expected = format!("{}\n", std::process::id());
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    drop(held);
    RealLock::take(&*path).unwrap();
}

#[test]
fn an_unreadable_holder_is_another_process() {
    // The holder may be between locking and writing its name.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("LOCK");
    let _held = RealLock::take(&*path).unwrap();
    for text in ["", "12", "no number\n"] {
        fs::write(&path, text).unwrap();
        let error = RealLock::take(&*path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.message().contains("another process"), "{error}");
    }
    fs::write(&path, "77\n").unwrap();
    let error = RealLock::take(&*path).unwrap_err();
    assert!(error.message().contains("process 77;"), "{error}");
}

#[test]
fn a_replaced_lock_file_is_not_the_lock() {
    // Somebody removed the file under the holder: the next opener finds another file, and
    // the check after locking sees the difference.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("LOCK");
    let held = RealLock::take(&*path).unwrap();
    assert!(is_still_at(held.file.file(), (&*path).into()).unwrap());
    fs::remove_file(&path).unwrap();
    assert!(!is_still_at(held.file.file(), (&*path).into()).unwrap());
    fs::write(&path, "").unwrap();
    assert!(!is_still_at(held.file.file(), (&*path).into()).unwrap());
}
