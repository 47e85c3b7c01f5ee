//! Files that are whole or not there.

use super::*;

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
    // Twice over the same name.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    check_writable(&path).unwrap();
    write(&path, b"old").unwrap();
    write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn places_that_cannot_be_written_are_told_early() {
    // A directory, a folder that is not there, no name at all: usage, each with advice.
    let dir = tempfile::tempdir().unwrap();
    for path in [
        dir.path().to_owned(),
        dir.path().join("no/page.html"),
        PathBuf::from(".."),
    ] {
        let failure = check_writable(&path).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("; name a file"), "{failure}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn one_file_has_many_names() {
    // With a dot in the path it is the same file; two that are not there are not.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, b"").unwrap();
    assert!(is_same(&path, &dir.path().join("./a")));
    assert!(!is_same(&path, &dir.path().join("b")));
    assert!(!is_same(&dir.path().join("b"), &dir.path().join("c")));
}
