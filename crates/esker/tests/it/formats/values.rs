//! Segments of the value log, pointers into them, and shares of them.

use std::collections::BTreeMap;

use super::bytes::{Front, crc32c, masked, size};

/// The id of the database that wrote the segment with that number.
pub fn segment_head(bytes: &[u8], number: u64) -> Vec<u8> {
    let mut front = Front(&bytes[..40]);
    assert_eq!(front.take(8), b"eskervl\n");
    assert_eq!(front.u32(), 1);
    assert_eq!(front.u64(), number);
    let id = front.take(16).to_vec();
    assert_eq!(front.u32(), masked(crc32c(&[&bytes[..36]])));
    id
}

/// How many records lie in a segment one behind the other from its head on, each with the right
/// checksums, and where the last one ends.
pub fn segment_records(bytes: &[u8], number: u64) -> (usize, usize) {
    let mut count = 0;
    let mut at = 40;
    while at + 18 <= bytes.len() && bytes[at..at + 18].iter().any(|byte| *byte != 0) {
        let mut front = Front(&bytes[at..]);
        let checksum = front.u32();
        let value_crc = front.u32();
        front.u32();
        let (key_len, value_len) = (usize::from(front.u16()), size(front.u32()));
        front.take(key_len);
        let value = front.take(value_len);
        let offset = u64::try_from(at).unwrap();
        let covered = &bytes[at + 4..at + 18 + key_len];
        let crc = crc32c(&[&number.to_le_bytes(), &offset.to_le_bytes(), covered]);
        assert_eq!(checksum, masked(crc));
        assert_eq!(value_crc, crc32c(&[value]));
        count += 1;
        at += 18 + key_len + value_len;
    }
    (count, at)
}

/// The segment that a pointer leads to, and the value there, whose record is that of the key.
pub fn follow(
    segments: &BTreeMap<u64, Vec<u8>>,
    pointer: &[u8],
    keyspace: u64,
    key: &[u8],
) -> (u64, Vec<u8>) {
    assert_eq!(pointer.len(), 20);
    let mut front = Front(pointer);
    let segment = front.u64();
    let (offset, len, crc) = (size(front.u32()), size(front.u32()), front.u32());
    let bytes = &segments[&segment];
    let value = &bytes[offset..offset + len];
    assert_eq!(crc, crc32c(&[value]));
    let mut record = Front(&bytes[offset - key.len() - 18..]);
    record.u32();
    assert_eq!(record.u32(), crc);
    assert_eq!(u64::from(record.u32()), keyspace);
    assert_eq!(usize::from(record.u16()), key.len());
    assert_eq!(size(record.u32()), len);
    assert_eq!(record.take(key.len()), key);
    (segment, value.to_vec())
}

/// Bytes of records by segment.
pub fn shares(front: &mut Front<'_>) -> BTreeMap<u64, u64> {
    let mut shares = BTreeMap::new();
    let mut segment = 0;
    let count = front.varint();
    assert!(
        count > 0,
        "shares are there only where something is pointed to"
    );
    for _ in 0..count {
        segment += front.varint();
        let bytes = front.varint();
        assert!(bytes > 0);
        assert!(shares.insert(segment, bytes).is_none());
    }
    shares
}
