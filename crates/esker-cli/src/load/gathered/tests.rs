//! Tests of `gathered`.

use esker::{Db, IngestOptions};

use super::*;

#[test]
fn a_run_is_sorted_and_of_equal_keys_the_last_counts() {
    let dir = tempfile::tempdir().unwrap();
    let mut gathered = Gathered::default();
    // Keys that are prefixes of one another, that differ behind their first eight bytes or by
    // zeros alone, and values that fill a chunk.
    let keys: [&[u8]; 8] = [
        b"12345678b",
        b"12345678",
        b"12345678a",
        b"",
        b"\0",
        b"\0\0",
        b"z",
        b"12345678",
    ];
    let large = vec![7; CHUNK_BYTES - 3];
    for (place, key) in keys.iter().enumerate() {
        let value: &[u8] = if place == 2 { &large } else { &[place as u8] };
        gathered.push(key, value, (place == 6).then_some(Expiry::MAX));
    }
    assert!(gathered.size_bytes() > large.len() && !gathered.is_empty());
    let files = dir.path().join("files");
    gathered.write(&files, &KeyspaceOptions::default()).unwrap();

    let db = Db::open(dir.path().join("db")).unwrap();
    db.ingest(&files, &IngestOptions::default()).unwrap();
    let found: Vec<_> = db.iter().unwrap().map(|entry| entry.unwrap()).collect();
    let want: [(&[u8], &[u8]); 7] = [
        (b"", &[3]),
        (b"\0", &[4]),
        (b"\0\0", &[5]),
        (b"12345678", &[7]),
        (b"12345678a", &large),
        (b"12345678b", &[0]),
        (b"z", &[6]),
    ];
    let found: Vec<_> = found
        .iter()
        .map(|(key, value)| (&key[..], &value[..]))
        .collect();
    assert!(found == want);
    let mut cursor = db.cursor().unwrap();
    assert!(cursor.seek(b"z").unwrap());
    assert_eq!(cursor.expiry().unwrap(), Some(Expiry::MAX));
}
