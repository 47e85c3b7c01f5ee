//! Tests of `error`.

use super::*;

#[test]
fn a_full_disk_is_out_of_space() {
    // The operating system's words for "no room" must reach the caller as one kind.
    let cause = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = Error::io("append to 000001.wal", cause);
    assert_eq!(error.kind(), ErrorKind::OutOfSpace);
    assert!(error.is_retryable());
}

#[test]
fn the_message_names_place_and_cause() {
    // A person reads one line and knows what, where and why.
    let cause = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let error = Error::corruption("block checksum differs")
        .in_file("000007.sst")
        .at_offset(4096)
        .caused_by(Error::io("read", cause));
    let text = error.to_string();
    assert!(text.starts_with("corruption: block checksum differs (file 000007.sst, offset 4096)"));
    assert!(text.contains("permission denied"), "{text}");
}

#[test]
fn the_innermost_place_wins() {
    // A caller that adds its own idea of the place does not hide the first one.
    let error = Error::corruption("x")
        .in_file("inner")
        .in_file("outer")
        .at_offset(1)
        .at_offset(2);
    assert_eq!((error.file(), error.offset()), (Some("inner"), Some(1)));
}

#[test]
fn a_copy_tells_the_same_story() {
    // The gate hands the first failure to every later writer.
    let cause = std::io::Error::from(std::io::ErrorKind::NotFound);
    let first = Error::io("open", cause).in_file("a").at_offset(3);
    let second = first.again();
    assert_eq!(first.to_string(), second.to_string());
    assert!(second.is_missing_file());
}
