//! Tests of keys.

use super::*;

fn key(dialect: Dialect, size: usize, prefix: (usize, u64), number: u64) -> Vec<u8> {
    let shape = KeyShape {
        dialect,
        size,
        prefix_size: prefix.0,
        keys_per_prefix: prefix.1,
        num: 1000,
    };
    let mut key = b"old".to_vec();
    shape.write(number, &mut key);
    key
}

#[test]
fn each_dialect_spells_its_keys() {
    // Decimal with and without a prefix, decimal of a wished width, binary with padding.
    use Dialect::{LevelDb, RocksDb, RocksDb2013};
    assert_eq!(key(LevelDb, 16, (0, 0), 823_807), b"0000000000823807");
    assert_eq!(key(LevelDb, 16, (3, 0), 0), b"aaa0000000000000000");
    assert_eq!(key(RocksDb2013, 10, (0, 0), 42), b"0000000042");
    assert_eq!(key(RocksDb2013, 2, (0, 0), 12345), b"12345");
    assert_eq!(
        key(RocksDb, 16, (0, 0), 0x0102),
        b"\0\0\0\0\0\0\x01\x0200000000"
    );
    assert_eq!(key(RocksDb, 4, (0, 0), 0x0102), b"\0\0\x01\x02");
    assert_eq!(
        key(RocksDb, 16, (4, 10), 123),
        b"\0\0\0\x17\0\0\0\0\0\0\0\x7b0000"
    );
    assert_eq!(key(LevelDb, 16, (0, 0), u64::MAX), b"18446744073709551615");
}
