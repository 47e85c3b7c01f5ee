//! Tests of the value log's byte layout.

use super::*;

const NUMBER: FileNumber = FileNumber(7);

fn head() -> SegmentHead {
    SegmentHead {
        number: NUMBER,
        database_id: *b"0123456789abcdef",
    }
}

#[test]
fn a_head_reads_back_and_every_changed_bit_is_noticed() {
    // Magic, version, number and id are all under the checksum.
    let bytes = head().encode();
    assert_eq!(SegmentHead::decode(&bytes, NUMBER).unwrap(), head());
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = SegmentHead::decode(&damaged, NUMBER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
    for len in 0..bytes.len() {
        assert!(SegmentHead::decode(&bytes[..len], NUMBER).is_err());
    }
    assert!(SegmentHead::decode(&bytes, FileNumber(8)).is_err());
}

#[test]
fn a_newer_segment_is_refused_with_a_clear_message() {
    // Another version with a checksum that matches.
    let mut bytes = head().encode();
    bytes[8] = 2;
    let crc = mask(crc32c(&bytes[..36]));
    bytes[36..].copy_from_slice(&crc.to_le_bytes());
    let error = SegmentHead::decode(&bytes, NUMBER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("format 2"), "{error}");
}

#[test]
fn a_record_belongs_to_its_place_and_its_key() {
    // The same bytes at another offset, in another segment or under another key are no record.
    let record = RecordHead {
        value_crc: 9,
        keyspace: KeyspaceId(3),
        key_len: 3,
        value_len: 1000,
    };
    let bytes = record.encode(NUMBER, 40, b"key");
    assert_eq!(RecordHead::parse(&bytes), Some(record));
    assert!(RecordHead::matches(&bytes, NUMBER, 40, b"key"));
    assert!(!RecordHead::matches(&bytes, NUMBER, 41, b"key"));
    assert!(!RecordHead::matches(&bytes, FileNumber(8), 40, b"key"));
    assert!(!RecordHead::matches(&bytes, NUMBER, 40, b"kez"));
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!RecordHead::matches(&damaged, NUMBER, 40, b"key"));
    }
    assert_eq!(record.record_bytes(), 18 + 3 + 1000);
    assert_eq!(RecordHead::parse(&[0xff; RECORD_HEAD_BYTES]), None);
    assert_eq!(RecordHead::parse(&bytes[..17]), None);
}
