//! Tests of `records`.

use esker_phrase::{Effort, corpus};

use super::*;
use crate::base::types::error::ErrorKind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;

fn sealed(kind: Kind) -> Sealed<'static> {
    Sealed {
        number: FileNumber(7),
        prefix: b"pre",
        trailer: Trailer::new(SeqNo::new(5), kind),
    }
}

fn record_of(kind: Kind, raw: &[u8], zstd_level: Option<i32>) -> Vec<u8> {
    let mut compressor = ValueCompressor::new(None, zstd_level).unwrap();
    let value = compressor.compress(kind, raw).unwrap();
    let mut out = Vec::new();
    value.put_record(&sealed(kind), b"fix", &mut out);
    compressor.take_back(value);
    out
}

#[cfg_attr(not(feature = "zstd"), ignore = "needs the feature `zstd`")]
#[test]
fn values_come_back() {
    // Of every kind that lies in files, of lengths around every border, compressed and as they are.
    let mut random = Random::new(4);
    let kinds = [
        Kind::Put,
        Kind::Delete,
        Kind::Merge,
        Kind::PutExpiring,
        Kind::PutExpiringMillis,
        Kind::PutSeparated,
    ];
    for kind in kinds {
        for len in [0, 1, 63, 64, 65, 1000, 70_000] {
            for level in [None, Some(1)] {
                for text in [vec![b'a'; len], random.bytes(len)] {
                    let expiry = &[1, 2, 3, 4, 5, 6][..kind.expiry_bytes()];
                    let raw = [expiry, &text].concat();
                    let bytes = record_of(kind, &raw, level);
                    let record = Record::read(&bytes, &sealed(kind), len).unwrap();
                    assert!(record.tail.is(b"fix"));
                    let mut back = b"from before".to_vec();
                    record.uncompress_into(None, &mut back).unwrap();
                    assert_eq!(back, raw);
                    assert!(bytes.len() <= raw.len() + 4 + 5 + CHECK_BYTES);
                }
            }
        }
    }
    let compressed = record_of(Kind::Put, &[b'a'; 1000], Some(1));
    let record = Record::read(&compressed, &sealed(Kind::Put), 1000).unwrap();
    assert_eq!(record.method(), Method::Zstd);
    // Pointers are not worth a try.
    let apart = record_of(Kind::PutSeparated, &[b'a'; 1000], Some(1));
    let record = Record::read(&apart, &sealed(Kind::PutSeparated), 1000).unwrap();
    assert_eq!(record.method(), Method::Raw);
}

#[test]
fn a_record_belongs_to_its_file_key_and_entry() {
    // The same bytes in another file, under another key, as another entry; or with any bit wrong.
    let bytes = record_of(Kind::PutExpiring, b"1234 and a value", None);
    let own = sealed(Kind::PutExpiring);
    assert!(Record::read(&bytes, &own, 100).is_ok());
    let others = [
        Sealed {
            number: FileNumber(8),
            ..own
        },
        Sealed {
            prefix: b"prf",
            ..own
        },
        sealed(Kind::PutSeparatedExpiring),
    ];
    for other in &others {
        let error = Record::read(&bytes, other, 100).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
    for bit in 0..bytes.len() * 8 {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Record::read(&bad, &own, 100).is_err(), "{bit}");
    }
    for len in 0..bytes.len() {
        assert!(Record::read(&bytes[..len], &own, 100).is_err(), "{len}");
    }
    // A length beyond what the file says is not believed, whatever its checksum.
    assert!(Record::read(&bytes, &own, 11).is_err());
}

#[cfg_attr(not(feature = "zstd"), ignore = "needs the feature `zstd`")]
#[test]
fn damage_under_a_right_checksum_is_an_error() {
    // Any body at all, summed up as it should be: an error or a value, never a panic.
    let mut random = Random::new(6);
    let good = record_of(Kind::Put, &b"a value that compresses ".repeat(9), Some(1));
    for _ in 0..5_000 {
        let mut body = good[..good.len() - CHECK_BYTES].to_vec();
        for _ in 0..1 + random.below(4) {
            let index = random.below(body.len() as u64) as usize;
            body[index] = random.next_u64() as u8;
        }
        body.truncate(body.len() - random.below(body.len() as u64) as usize);
        let checksum = sealed(Kind::Put).checksum(&body);
        body.extend(checksum.to_le_bytes());
        let mut raw = Vec::new();
        if let Ok(record) = Record::read(&body, &sealed(Kind::Put), 300)
            && record.uncompress_into(None, &mut raw).is_ok()
        {
            assert!(raw.len() <= 300);
        }
    }
}

#[cfg_attr(not(feature = "zstd"), ignore = "needs the feature `zstd`")]
#[test]
fn phrases_are_taken_where_they_pay() {
    // Text that the dictionary knows, expiring and not; noise, and a value too long for it, which
    // Zstd gets. Without its dictionary a record of phrases is an error.
    let [dictionary, _] = corpus::dictionaries();
    let mut compressor =
        ValueCompressor::new(Some(Encoder::new(&dictionary, Effort::Best)), Some(1));
    let compressor = compressor.as_mut().unwrap();
    let mut dice = corpus::Dice::new(2);
    let text = corpus::prose(&mut dice, 700);
    let cases = [
        (Kind::Put, text.clone(), Method::Phrases),
        (
            Kind::PutExpiring,
            [b"1234", &text[..]].concat(),
            Method::Phrases,
        ),
        (Kind::PutSeparated, text.clone(), Method::Raw),
        (Kind::Put, dice.bytes(200), Method::Raw),
        (Kind::Put, text.repeat(100), Method::Zstd),
        (Kind::Delete, Vec::new(), Method::Raw),
    ];
    for (kind, raw, method) in cases {
        let value = compressor.compress(kind, &raw).unwrap();
        assert_eq!(value.method(), method);
        let mut bytes = Vec::new();
        value.put_record(&sealed(kind), b"fix", &mut bytes);
        let record = Record::read(&bytes, &sealed(kind), raw.len()).unwrap();
        assert_eq!(record.method(), method);
        let mut back = Vec::new();
        record
            .uncompress_into(Some(&dictionary), &mut back)
            .unwrap();
        assert_eq!(back, raw);
        let alone = record.uncompress_into(None, &mut back);
        assert_eq!(alone.is_err(), method == Method::Phrases);
    }
}
