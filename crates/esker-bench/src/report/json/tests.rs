//! Tests of records in files.

use super::*;
use crate::report::sample::{record, round};

#[test]
fn what_is_written_is_read_back() {
    // Twice over the same name; nothing else is left in the directory.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    let record = record(vec![round("fillseq", "Esker", 0, 1.5)]);
    write(&path, &record).unwrap();
    write(&path, &record).unwrap();
    assert_eq!(read(&path).unwrap(), record);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
