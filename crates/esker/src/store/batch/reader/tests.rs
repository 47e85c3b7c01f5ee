//! Tests of reading batches: whole ones, and every way of being damaged.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::base::types::expiry::Expiry;
use crate::env::random::Random;
use crate::store::batch::writer::Batch;

const KS: KeyspaceId = KeyspaceId(200);

fn one_of_each() -> Batch<'static> {
    let mut batch = Batch::new();
    batch.put(KS, b"put", b"value").unwrap();
    let end = Expiry::from_unix_s(0x0102_0304);
    batch.put_expiring(KS, b"exp", end, b"v").unwrap();
    let end = Expiry::from_unix_ms(0x0102_0304_0506);
    batch.put_expiring(KS, b"ms", end, b"v").unwrap();
    batch.delete(KeyspaceId::DEFAULT, b"").unwrap();
    batch.merge(KeyspaceId(u32::MAX), b"m", b"").unwrap();
    batch.delete_range(KS, b"a", b"b").unwrap();
    batch.set_first_seqno(SeqNo::new(1000));
    batch
}

// What a reader makes of the bytes: the entries, or where it gave up.
fn read(bytes: &[u8]) -> Result<Vec<BatchEntry<'_>>> {
    BatchReader::new(bytes)?.entries().collect()
}

fn message_of(bytes: &[u8]) -> String {
    let error = read(bytes).expect_err("must be refused");
    assert_eq!(error.kind(), ErrorKind::Corruption);
    error.message().to_string()
}

fn with_body(count: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = 5u64.to_le_bytes().to_vec();
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn every_kind_reads_back() {
    // One entry of each kind, each with its own sequence number.
    let batch = one_of_each();
    let entries = read(batch.bytes()).unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|e| {
            (
                e.keyspace.0,
                e.trailer.seqno().get(),
                e.trailer.kind(),
                e.key,
                e.value,
            )
        })
        .collect();
    type Told<'a> = (u32, u64, Kind, &'a [u8], &'a [u8]);
    let expected: [Told<'_>; 6] = [
        (200, 1000, Kind::Put, b"put", b"value"),
        (200, 1001, Kind::PutExpiring, b"exp", b"\x04\x03\x02\x01v"),
        (
            200,
            1002,
            Kind::PutExpiringMillis,
            b"ms",
            b"\x06\x05\x04\x03\x02\x01v",
        ),
        (0, 1003, Kind::Delete, b"", b""),
        (u32::MAX, 1004, Kind::Merge, b"m", b""),
        (200, 1005, Kind::RangeDelete, b"a", b"b"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_empty_batch_is_valid() {
    // It does nothing, and a record of it is no damage.
    let batch = Batch::new();
    let reader = BatchReader::new(batch.bytes()).unwrap();
    assert_eq!((reader.count(), reader.first_seqno()), (0, SeqNo::ZERO));
    reader.check().unwrap();
}

#[test]
fn every_truncation_is_refused() {
    // A batch that lost any number of its last bytes never reads as a smaller one.
    let batch = one_of_each();
    for len in 0..batch.size_bytes() {
        let error = read(&batch.bytes()[..len]).expect_err("truncated");
        assert_eq!(error.kind(), ErrorKind::Corruption, "length {len}");
    }
}

#[test]
fn every_flip_is_read_or_refused() {
    // A flip may make another valid batch (checksums are the log's), but never a panic, and
    // never one that differs from its own encoding.
    let batch = one_of_each();
    for index in 0..batch.size_bytes() {
        for bit in 0..8 {
            let mut bytes = batch.bytes().to_vec();
            bytes[index] ^= 1 << bit;
            if let Ok(entries) = read(&bytes) {
                assert_eq!(entries.len(), 6);
            }
        }
    }
}

#[test]
fn each_rule_fires() {
    // Hand-made bytes, one broken rule each.
    let seqno_beyond = [&SEQNO_MAX.to_le_bytes()[..], &2u32.to_le_bytes(), &[0; 6]].concat();
    let seqno_huge = [&u64::MAX.to_le_bytes()[..], &2u32.to_le_bytes(), &[0; 6]].concat();
    let long_key = [&[0, 0, 0x80, 0x80, 4][..], &[0; 65_536]].concat();
    let long_end = [&[3, 0, 0, 0x80, 0x80, 4][..], &[0; 65_536]].concat();
    let short_pointer = [&[6, 0, 0, 19][..], &[0xff; 19]].concat();
    let no_pointer = [&[7, 0, 0, 24][..], &[0; 24]].concat();
    let millis = |kind: u8, unix_ms: u64, rest: &[u8]| {
        let head = [kind, 0, 0, u8::try_from(6 + rest.len()).unwrap()];
        let body = [&head[..], &unix_ms.to_le_bytes()[..6], rest].concat();
        with_body(1, &body)
    };
    let rows: [(Vec<u8>, &str); 24] = [
        (vec![0; 11], "shorter than its header"),
        (with_body(2, &[0, 0, 0]), "2 entries in 3 bytes"),
        (seqno_beyond, "sequence numbers from"),
        (seqno_huge, "sequence numbers from"),
        (with_body(1, &[10, 0, 0, 0]), "an unknown kind (offset 12"),
        (
            with_body(1, &[8, 0, 0, 5, 1, 2, 3, 4, 5]),
            "a value outside its limits",
        ),
        (millis(9, 1_001, &[0xff; 19]), "a value outside its limits"),
        (millis(9, 1_001, &[0; 20]), "a pointer into the value log"),
        // A whole second, one that is none that 32 bits can say, and far beyond.
        (millis(8, 1_000, b"v"), "an expiry that is none"),
        (millis(8, 4_294_967_295_001, b"v"), "an expiry that is none"),
        (millis(8, (1 << 48) - 1, b"v"), "an expiry that is none"),
        (with_body(1, &[6, 0, 0, 0]), "a value outside its limits"),
        (with_body(1, &short_pointer), "a value outside its limits"),
        (
            with_body(1, &no_pointer),
            "a pointer into the value log that is none",
        ),
        (with_body(1, &[5, 0, 0, 0]), "only memtables hold"),
        (
            with_body(1, &[0, 0x80, 0x80, 0x80, 0x80, 0x10, 0]),
            "a bad keyspace",
        ),
        (with_body(1, &[0, 0x80, 0, 0]), "a bad keyspace"),
        (with_body(1, &[0, 0, 1]), "a bad key length"),
        (with_body(1, &long_key), "a key above the limit"),
        (with_body(1, &[1, 0, 0, 1]), "a bad value length"),
        (
            with_body(1, &[4, 0, 0, 3, 0, 0, 0]),
            "a value outside its limits",
        ),
        (with_body(1, &long_end), "a value outside its limits"),
        (
            with_body(1, &[0, 0, 0, 0]),
            "bytes behind its last entry (offset 15",
        ),
        (
            with_body(2, &[1, 0, 0, 2, 0, 0]),
            "fewer entries than its header says (offset 18",
        ),
    ];
    for (bytes, expected) in rows {
        let message = message_of(&bytes);
        assert!(
            message.contains(expected),
            "{message:?} has no {expected:?}"
        );
    }
}

#[test]
fn the_first_error_ends_the_iteration() {
    // Whoever goes on asking gets None, not the same error for ever.
    let bytes = with_body(2, &[99, 0, 0, 0, 0, 0]);
    let mut entries = BatchReader::new(&bytes).unwrap().entries();
    assert!(entries.next().unwrap().is_err());
    assert!(entries.next().is_none());
}

#[test]
fn random_batches_read_back() {
    // Random entries of random kinds against a plain list of them.
    let mut random = Random::new(7);
    for _ in 0..300 {
        let mut batch = Batch::new();
        let mut model = Vec::new();
        for _ in 0..random.below(20) {
            let keyspace = KeyspaceId(random.next_u64() as u32 >> random.below(32));
            let key_len = random.below(200) as usize;
            let value_len = random.below(300) as usize;
            let (key, value) = (random.bytes(key_len), random.bytes(value_len));
            let kind = match random.below(3) {
                0 => {
                    batch.put(keyspace, &key, &value).unwrap();
                    Kind::Put
                }
                1 => {
                    batch.merge(keyspace, &key, &value).unwrap();
                    Kind::Merge
                }
                _ => {
                    batch.delete_range(keyspace, &key, &value).unwrap();
                    Kind::RangeDelete
                }
            };
            model.push((keyspace, kind, key, value));
        }
        batch.set_first_seqno(SeqNo::new(random.below(SEQNO_MAX - 100)));
        let reader = BatchReader::new(batch.bytes()).unwrap();
        assert_eq!(reader.count() as usize, model.len());
        for (index, entry) in reader.entries().enumerate() {
            let entry = entry.unwrap();
            let (keyspace, kind, key, value) = &model[index];
            let seqno = reader.first_seqno().plus(index as u64);
            assert_eq!(entry.trailer, Trailer::new(seqno, *kind));
            assert_eq!((entry.keyspace, entry.key), (*keyspace, key.as_slice()));
            assert_eq!(entry.value, value.as_slice());
        }
    }
}
