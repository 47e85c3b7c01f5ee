//! Tests of `append`.

use std::path::Path;

use super::*;

#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
#[test]
fn a_file_that_failed_once_fails_for_ever() {
    // After a refused write nobody knows where the file ends, so a later sync must not succeed.
    let mut file = RealAppendFile::create(Path::new("/dev/full")).unwrap();
    assert!(file.append(&[1; BUFFER_BYTES]).is_err());
    assert_eq!(file.append(b"x").unwrap_err().kind(), ErrorKind::Faulted);
    let error = file.sync().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Faulted);
    assert!(
        error.to_string().contains("write"),
        "the first cause: {error}"
    );
}
