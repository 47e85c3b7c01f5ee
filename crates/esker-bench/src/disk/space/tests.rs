//! Tests of bytes on the disk.

use super::*;

#[test]
fn files_in_folders_count_too() {
    // Two files of 8 KiB, one of them in a folder: at least so much lies there.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("inner")).unwrap();
    for name in ["one", "inner/two"] {
        fs::write(dir.path().join(name), vec![7; 8192]).unwrap();
    }
    // Some file systems give blocks out late, and some pack.
    assert!(disk_bytes(dir.path()).unwrap() <= 4 * 8192);
    assert!(disk_bytes(&dir.path().join("none")).is_err());
}

#[test]
fn what_is_removed_meanwhile_takes_nothing() {
    // An engine tidies up behind the one who counts: a file and a folder that were listed are gone.
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), b"bytes").unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let listed = fs::read_dir(dir.path()).unwrap();
    let listed: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    fs::remove_file(dir.path().join("file")).unwrap();
    fs::remove_dir(dir.path().join("folder")).unwrap();
    assert_eq!(listed.len(), 2);
    for path in listed {
        visit(&path, &mut |_, _| panic!("it is gone")).unwrap();
    }
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers() {
    // A directory that is still to be made has the room of the one above it.
    let dir = tempfile::tempdir().unwrap();
    let later = dir.path().join("a/b");
    assert!(free_bytes(&later).unwrap() > 0);
    check_room(&later, 1, "").unwrap();
    let refused = check_room(&later, u64::MAX, " or take --size small").unwrap_err();
    assert!(
        refused.message.contains("of disk") && refused.message.ends_with("--size small"),
        "{refused}"
    );
}
