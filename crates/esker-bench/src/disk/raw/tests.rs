//! Tests of the raw limits: the loops do what they say, whatever the disk.

use super::*;

#[test]
fn pieces_written_are_read_again() {
    // Forty pieces of 10 000 bytes, then thirty of them anywhere; the file is gone at the end.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("raw.bytes");
    let pieces = Pieces {
        bytes: 10_000,
        count: 40,
    };
    for when in [
        SyncWhen::Never,
        SyncWhen::Behind { bytes: 50_000 },
        SyncWhen::AtEnd,
    ] {
        let wrote = write(&path, pieces, when).unwrap();
        assert_eq!((wrote.ops, wrote.bytes), (40, 400_000));
    }
    let got = read(&path, pieces, 30, true).unwrap();
    assert_eq!((got.ops, got.bytes), (30, 300_000));
    remove(&path).unwrap();
    remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn limits_have_names_of_their_own() {
    // The loop of syncs is run in small; it leaves no file behind.
    let dir = tempfile::tempdir().unwrap();
    let sync = LIMITS.iter().find(|limit| limit.name == "raw-fdatasync");
    let measured = run(sync.unwrap(), dir.path(), 3).unwrap();
    assert_eq!((measured.engine.as_str(), measured.ops), ("limit", 3));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
