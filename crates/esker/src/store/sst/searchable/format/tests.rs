//! Tests of `format`.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::store::sst::format;

fn footer() -> Footer {
    let handle = |offset| BlockHandle {
        offset,
        compressed_len: 10,
        plain_len: 20,
    };
    Footer {
        index: handle(100),
        dictionary: Some(handle(115)),
        props: handle(200),
        range_deletes: None,
        number: FileNumber(7),
        value_bytes_max: 1 << 20,
    }
}

fn bytes() -> [u8; FOOTER_BYTES] {
    footer().encode(1000).try_into().unwrap()
}

#[test]
fn a_footer_comes_back() {
    // What is written at an offset is read at that offset.
    let back = Footer::decode(&bytes(), FileNumber(7), 1000).unwrap();
    assert_eq!(back, footer());
}

#[test]
fn a_footer_elsewhere_or_of_another_file_is_not_believed() {
    // A file inside a value of a file; two files that changed places.
    let elsewhere = Footer::decode(&bytes(), FileNumber(7), 1001).unwrap_err();
    assert_eq!(elsewhere.kind(), ErrorKind::Corruption);
    let another = Footer::decode(&bytes(), FileNumber(8), 1000).unwrap_err();
    assert!(another.message().contains("000008"), "{another}");
}

#[test]
fn every_flipped_bit_of_a_footer_is_noticed() {
    // Each of its 768 bits.
    for bit in 0..FOOTER_BYTES * 8 {
        let mut bad = bytes();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Footer::decode(&bad, FileNumber(7), 1000).is_err(), "{bit}");
    }
}

#[test]
fn the_two_kinds_refuse_each_other() {
    // A reader that was given the wrong kind says so, and does not call the file damaged.
    let error = format::Footer::decode(&bytes(), FileNumber(7), 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let blocks = format::Footer {
        index: footer().index,
        filter: None,
        props: footer().props,
        range_deletes: None,
        number: FileNumber(7),
        is_index_partitioned: false,
    };
    let blocks = blocks.encode(1000).try_into().unwrap();
    let error = Footer::decode(&blocks, FileNumber(7), 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
