//! Raw keys, the key behind a prefix, and hashes against vectors of other clients.

use super::{
    HASH_KEY_LEN_MAX, hash, hash_key_prefix, key_hash, next_key, partition_of, raw_key,
    split_raw_key,
};
use crate::dice::Dice;

#[test]
fn hashes_are_those_of_other_clients() {
    // Computed by the clients in Go, Python and Node, which agree.
    let all: Vec<u8> = (0..=255).collect();
    let vectors: [(&[u8], u64, u32); 10] = [
        (b"", 0, 0),
        (b"a", 0x8c2f_8445_b4cb_fc3c, 4),
        (b"b", 0x0d9c_951d_e495_67b7, 7),
        (b"hk", 0x5d9a_d5b5_1c9a_4ab3, 3),
        (b"hello", 0x3377_8570_0652_4257, 7),
        (b"pegasus", 0xce87_09cf_bd39_73c4, 4),
        (b"123456789", 0xae8b_1486_0a79_9888, 0),
        (&[0], 0xd5da_5047_efec_8728, 0),
        (&[255], 0xff00_0000_0000_0000, 0),
        (&all, 0xff71_e212_79d9_966e, 6),
    ];
    for (bytes, expected, of_8) in vectors {
        assert_eq!(hash(bytes), expected, "{}", bytes.escape_ascii());
        assert_eq!(partition_of(expected, 8), of_8);
    }
    // Unsigned, as in Go and Java; Python and Node say 2.
    assert_eq!(partition_of(hash(b"a"), 3), 0);
}

#[test]
fn a_key_is_hashed_by_its_hash_key_or_else_its_sort_key() {
    assert_eq!(key_hash(b"hk", b"x"), hash(b"hk"));
    assert_eq!(key_hash(b"", b"x"), hash(b"x"));
    assert_eq!(key_hash(b"", b""), 0);
}

#[test]
fn raw_keys_come_apart_again() {
    let mut dice = Dice::new(1);
    for _ in 0..2000 {
        let (hash_key, sort_key) = (dice.bytes(300), dice.bytes(20));
        let raw = raw_key(&hash_key, &sort_key).unwrap();
        assert_eq!(split_raw_key(&raw), Some((&hash_key[..], &sort_key[..])));
    }
    assert_eq!(raw_key(b"hk", b"sk").unwrap(), b"\0\x02hksk");
}

#[test]
fn hash_keys_that_are_too_long_are_refused() {
    let longest = vec![7; HASH_KEY_LEN_MAX];
    let raw = raw_key(&longest, b"s").unwrap();
    assert_eq!(split_raw_key(&raw), Some((&longest[..], &b"s"[..])));
    for len in [HASH_KEY_LEN_MAX + 1, HASH_KEY_LEN_MAX + 2, 1 << 20] {
        assert_eq!(hash_key_prefix(&vec![7; len]), None);
    }
}

#[test]
fn bytes_that_are_no_raw_key_are_refused() {
    let mut too_long = vec![7; 70_000];
    too_long[..2].copy_from_slice(&[0xff, 0xff]);
    for bytes in [&b""[..], b"\0", b"\0\x01", b"\0\x03hk", &too_long] {
        assert_eq!(split_raw_key(bytes), None);
    }
    assert_eq!(split_raw_key(b"\0\0"), Some((&b""[..], &b""[..])));
}

#[test]
fn the_next_key_is_behind_all_that_begin_with_the_prefix() {
    assert_eq!(next_key(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(next_key(b"a\xff\xff"), Some(b"b".to_vec()));
    assert_eq!(next_key(b"\xff\xff"), None);
    assert_eq!(next_key(b""), None);
    let mut dice = Dice::new(2);
    for _ in 0..2000 {
        let prefix: Vec<u8> = dice.bytes(4).iter().map(|byte| byte | 0xfc).collect();
        let other: Vec<u8> = dice.bytes(5).iter().map(|byte| byte | 0xfc).collect();
        if let Some(next) = next_key(&prefix) {
            let is_inside = other >= prefix && other < next;
            assert_eq!(
                is_inside,
                other.starts_with(&prefix),
                "{prefix:?} {other:?}"
            );
        }
    }
}
