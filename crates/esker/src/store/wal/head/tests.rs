//! Tests of `head`.

use super::*;
use crate::base::types::error::ErrorKind;

#[test]
fn a_head_is_what_its_bytes_say() {
    // With a segment before, and without.
    for previous in [None, Some((FileNumber(7), 4_000))] {
        let head = SegmentHead { previous };
        assert_eq!(SegmentHead::decode(&head.encode()).unwrap(), head);
    }
}

#[test]
fn an_end_without_a_segment_is_refused() {
    // Found by fuzzing: no segment before, yet an offset in it, was read as "the first segment".
    let mut bytes = SegmentHead { previous: None }.encode();
    bytes[9] = 1;
    let error = SegmentHead::decode(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(SegmentHead::decode(&bytes[..15]).is_err());
}
