//! Tests of `block`.

use super::*;

#[test]
fn a_stored_filter_answers() {
    // Hashes in, bytes to disk, bytes back.
    let mut builder = FilterBuilder::new(10.0).unwrap();
    let hashes: Vec<u64> = (1..1000u64)
        .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    hashes.iter().for_each(|hash| builder.add(*hash));
    let estimate = builder.size_estimate();
    let bytes = builder.finish();
    assert_eq!(bytes.len(), estimate + 2);
    let bloom = read_filter(&bytes).unwrap();
    assert!(hashes.iter().all(|hash| bloom.may_contain(*hash)));
}

#[test]
fn no_bits_no_filter() {
    // The setting that turns filters off.
    assert!(FilterBuilder::new(0.0).is_none());
}

#[test]
fn a_strange_filter_is_refused() {
    // A later kind, a cut, and nothing at all.
    let mut bytes = FilterBuilder::new(10.0).unwrap().finish();
    bytes[64] = 9;
    assert_eq!(
        read_filter(&bytes).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    bytes[64] = 1;
    assert!(read_filter(&bytes).is_ok());
    assert!(read_filter(&bytes[1..]).is_err());
    assert!(read_filter(&[]).is_err());
}
