//! Tests of `raw_keys`.

use esker_rpc::keys::{HASH_KEY_LEN_MAX, raw_key};

use super::*;

#[test]
fn each_is_the_raw_key_of_its_own() {
    let longest = vec![7; HASH_KEY_LEN_MAX];
    let too_long = vec![7; HASH_KEY_LEN_MAX + 1];
    let pairs: [(&[u8], &[u8]); 5] = [
        (b"hash", b"a"),
        (b"", b""),
        (&too_long, b"b"),
        (&longest, b"c"),
        (b"hash", b""),
    ];
    let mut keys = RawKeys::default();
    assert!(keys.slices().is_empty());
    pairs.iter().for_each(|(hash, sort)| keys.push(hash, sort));
    let alone = pairs.map(|(hash, sort)| raw_key(hash, sort).unwrap_or_default());
    assert_eq!(keys.slices(), alone);
    assert!(alone[2].is_empty(), "no row has that key");
}
