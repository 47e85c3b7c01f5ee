//! Tests of `props`.

use super::*;
use crate::base::types::ids::FileNumber;

fn props() -> Props {
    Props {
        keyspace: KeyspaceId(3),
        entry_count: 1000,
        delete_count: 10,
        merge_count: 20,
        range_delete_count: 1,
        key_count: 900,
        raw_key_bytes: 24_000,
        raw_value_bytes: u64::MAX,
        smallest: Bytes::copy_of(b"a"),
        largest: Bytes::copy_of(&[0xff; 300]),
        smallest_seqno: SeqNo::ZERO,
        largest_seqno: SeqNo::MAX,
        newest_expiry_s: Some(u32::MAX),
        data_block_count: 30,
        index_bytes: 500,
        filter_bytes: 0,
        comparator_name: Bytes::copy_of(b"bytewise"),
        compression: CompressionType::Zstd,
        values: ValueLiveBytes::default(),
        origin: Origin::default(),
        passing: None,
        has_millis: false,
        created_unix_s: 1_790_000_000,
    }
}

#[test]
fn props_come_back() {
    // With and without the tags that may be missing.
    let mut props = props();
    assert_eq!(Props::decode(&props.encode()).unwrap(), props);
    props.newest_expiry_s = None;
    assert_eq!(Props::decode(&props.encode()).unwrap(), props);
    props.values.add(FileNumber(9), 100);
    props.origin = Origin {
        keyspace_name: Bytes::copy_of(b"logs"),
        lineage: Some(Lineage {
            sources: [FileNumber(3), FileNumber(8)].into(),
            lower: None,
            upper: Some(Bytes::copy_of(b"m")),
        }),
        database_id: Some(*b"0123456789abcdef"),
    };
    assert_eq!(Props::decode(&props.encode()).unwrap(), props);
    let mut passing = Passing::default();
    passing.hold(SeqNo::new(4), 20, false);
    props.passing = Some(passing);
    props.has_millis = true;
    let bytes = props.encode();
    assert_eq!(Props::decode(&bytes).unwrap(), props);
    assert!(Props::decode(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn unknown_tags_are_passed_over() {
    // A later release says something more, behind what we know.
    let mut bytes = props().encode();
    put_text(&mut bytes, 1000, b"from the future");
    assert_eq!(Props::decode(&bytes).unwrap(), props());
}

#[test]
fn milliseconds_are_there_or_not_told_of() {
    // The one number that says so, and no other, under a right checksum.
    for value in [&[][..], &[0], &[2], &[1, 0]] {
        let mut bytes = props().encode();
        put_text(&mut bytes, HAS_MILLIS, value);
        assert!(Props::decode(&bytes).is_err(), "{value:?}");
    }
}

#[test]
fn the_id_of_a_database_has_its_length() {
    // One byte less, under a right checksum.
    let mut bytes = props().encode();
    put_text(&mut bytes, DATABASE_ID, b"0123456789abcde");
    assert!(Props::decode(&bytes).is_err());
}

#[test]
fn every_cut_is_an_error() {
    // Damage that nevertheless carries a right checksum.
    let bytes = props().encode();
    for len in 0..bytes.len() {
        assert!(Props::decode(&bytes[..len]).is_err(), "{len}");
    }
}

#[test]
fn tags_out_of_comparator_are_refused() {
    // One value has one place, so a tag cannot stand there twice.
    let mut bytes = props().encode();
    put_number(&mut bytes, CREATED_UNIX_S, 5);
    assert!(Props::decode(&bytes).is_err());
}
