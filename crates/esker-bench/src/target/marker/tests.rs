//! Tests of the mark.

use super::*;
use crate::fail::FailureKind;
use crate::target::embedded::Esker;
use crate::target::settings::StoreSettings;
use crate::target::store::WriteHow;

#[test]
fn marked_directories_are_emptied_and_others_are_not() {
    // A fresh directory gets a mark and a store; the second time the store is gone. A file of the
    // user's own survives both, and a directory without the mark is refused untouched.
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("bench");
    make_fresh(&Esker, &dir, false).unwrap();
    let opened = Esker.open(&dir, &StoreSettings::default()).unwrap();
    opened.store.put(b"a", b"1", WriteHow::default()).unwrap();
    opened.store.close().unwrap();
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    assert!(Esker.is_there(&dir));
    make_fresh(&Esker, &dir, false).unwrap();
    assert!(!Esker.is_there(&dir));
    assert!(is_marked(&dir) && dir.join("notes.txt").exists());

    let foreign = root.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("CURRENT"), "somebody's").unwrap();
    let refused = make_fresh(&Esker, &foreign, false).unwrap_err();
    assert_eq!(refused.kind, FailureKind::Usage);
    assert!(foreign.join("CURRENT").exists() && !is_marked(&foreign));
}

#[test]
fn insisting_destroys_the_store_and_makes_no_mark() {
    // A user's own database goes when told twice, and the directory does not become a benchmark's.
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("own");
    fs::create_dir(&dir).unwrap();
    let opened = Esker.open(&dir, &StoreSettings::default()).unwrap();
    opened.store.close().unwrap();
    make_ready(&dir).unwrap();
    assert!(Esker.is_there(&dir) && !is_marked(&dir));
    make_fresh(&Esker, &dir, true).unwrap();
    assert!(!Esker.is_there(&dir) && !is_marked(&dir));
}

#[test]
fn a_store_that_is_destroyed_by_half_is_none() {
    // Folders with names of files stop it somewhere, as a kill would: what is left is no database
    // that lacks files, because the file that every opening begins with went first.
    let root = tempfile::tempdir().unwrap();
    let opened = Esker.open(root.path(), &StoreSettings::default()).unwrap();
    opened.store.close().unwrap();
    for number in 900..950 {
        fs::create_dir(root.path().join(format!("{number:06}.sst"))).unwrap();
    }
    assert!(Esker.destroy(root.path()).is_err());
    assert!(!Esker.is_there(root.path()));
}
