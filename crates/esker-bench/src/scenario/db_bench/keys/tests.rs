//! Tests of keys.

use super::*;

fn key(dialect: Dialect, size: usize, number: u64) -> Vec<u8> {
    let mut key = b"old".to_vec();
    KeyShape { dialect, size }.write(number, &mut key);
    key
}

#[test]
fn each_dialect_spells_its_keys() {
    // Decimal, decimal of a wished width, binary with padding.
    use Dialect::{LevelDb, RocksDb, RocksDb2013};
    assert_eq!(key(LevelDb, 16, 823_807), b"0000000000823807");
    assert_eq!(key(RocksDb2013, 10, 42), b"0000000042");
    assert_eq!(key(RocksDb2013, 2, 12345), b"12345");
    assert_eq!(key(RocksDb, 16, 0x0102), b"\0\0\0\0\0\0\x01\x0200000000");
    assert_eq!(key(RocksDb, 4, 0x0102), b"\0\0\x01\x02");
    assert_eq!(key(LevelDb, 16, u64::MAX), b"18446744073709551615");
}
