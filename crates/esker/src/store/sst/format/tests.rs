//! Tests of `format`.

use super::*;

fn footer() -> Footer {
    let handle = |offset| BlockHandle {
        offset,
        compressed_len: 10,
        plain_len: 20,
    };
    Footer {
        index: handle(100),
        filter: None,
        props: handle(200),
        range_deletes: Some(handle(300)),
        number: FileNumber(7),
        is_index_partitioned: true,
    }
}

fn bytes(footer: &Footer, offset: u64) -> [u8; FOOTER_BYTES] {
    footer.encode(offset).try_into().unwrap()
}

#[test]
fn a_footer_comes_back() {
    // What is written at an offset is read at that offset.
    let back = Footer::decode(&bytes(&footer(), 1000), FileNumber(7), 1000).unwrap();
    assert_eq!(back, footer());
}

#[test]
fn a_footer_elsewhere_is_not_believed() {
    // The same bytes at another offset, say at the end of a value that is itself a sorted file.
    let error = Footer::decode(&bytes(&footer(), 1000), FileNumber(7), 1001).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
}

#[test]
fn another_files_footer_names_both() {
    // Somebody copied 000007.sst over 000008.sst.
    let error = Footer::decode(&bytes(&footer(), 1000), FileNumber(8), 1000).unwrap_err();
    assert!(error.message().contains("000007"), "{error}");
    assert!(error.message().contains("000008"), "{error}");
}

#[test]
fn a_newer_format_is_refused_with_a_remedy() {
    // A file written by a later release, whatever its other bytes mean.
    let mut newer = bytes(&footer(), 1000);
    newer[80] = 99;
    let error = Footer::decode(&newer, FileNumber(7), 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("newer release"), "{error}");
}

#[test]
fn every_flipped_bit_is_noticed() {
    // One bit of rot anywhere in the footer.
    let good = bytes(&footer(), 1000);
    for bit in 0..FOOTER_BYTES * 8 {
        let mut bad = good;
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Footer::decode(&bad, FileNumber(7), 1000).is_err(), "{bit}");
    }
}

#[test]
fn handles_behind_the_footer_are_refused() {
    // A footer with a right checksum that claims blocks where the footer is.
    let error = Footer::decode(&bytes(&footer(), 300), FileNumber(7), 300).unwrap_err();
    assert!(error.message().contains("behind"), "{error}");
}
