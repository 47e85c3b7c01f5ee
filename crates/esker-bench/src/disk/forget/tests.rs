//! Tests of forgetting.

use super::*;

#[test]
fn every_file_is_dropped_and_told() {
    // Two files, one of them in a folder; what was done is said in words.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("inner")).unwrap();
    for name in ["one", "inner/two"] {
        fs::write(dir.path().join(name), vec![7; 500_000]).unwrap();
    }
    let forgotten = forget(dir.path()).unwrap();
    assert_eq!((forgotten.files, forgotten.bytes), (2, 1_000_000));
    assert_eq!(
        forgotten.text(),
        "2 files of 1.00 MB dropped from the page cache by advice"
    );
    let by = |is_all| Forgotten {
        is_all: Some(is_all),
        ..forgotten
    };
    assert!(by(true).text().contains("then the whole cache by"));
    assert!(by(false).text().ends_with("may not be written"));
    assert!(forget(&dir.path().join("none")).is_err());
}
