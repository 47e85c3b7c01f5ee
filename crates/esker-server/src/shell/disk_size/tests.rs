//! What a real disk says.

use super::*;

#[test]
fn a_disk_has_a_size_and_one_that_is_not_there_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let stat = statvfs(dir.path()).unwrap();
    let free = stat.f_bavail * stat.f_frsize;
    assert!(disk_bytes(dir.path()) >= free);
    assert_eq!(disk_bytes(&dir.path().join("nowhere")), 0);
}
