//! Any text as the name of a file, and any bytes as the small files and records.

use std::str::from_utf8;

use esker::internals::store::names::FileName;
use esker::internals::store::version::format::{decode_current, encode_current};
use esker::internals::store::wal::format::Header;
use esker::internals::store::wal::head::SegmentHead;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    if let Ok(text) = from_utf8(bytes)
        && let Some(name) = FileName::parse(text)
    {
        assert_eq!(name.to_string(), text);
    }
    if let Some(current) = decode_current(bytes) {
        assert!(bytes.starts_with(encode_current(current.manifest).as_bytes()));
    }
    if let Ok(head) = SegmentHead::decode(bytes) {
        assert_eq!(&head.encode()[..], bytes);
    }
    // Any answer will do, as long as there is one.
    let _ = Header::decode(bytes);
}
