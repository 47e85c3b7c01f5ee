//! Tests of `compress`.

use super::*;

#[test]
fn every_way_gives_back_the_plain_bytes() {
    // Empty, repetitive and incompressible bytes, behind something that is already there.
    let mut noise = crate::env::random::Random::new(7);
    for plain in [vec![], b"abcabcabc".repeat(500), noise.bytes(5000)] {
        for (name, kind) in CompressionType::built() {
            let mut out = b"before".to_vec();
            kind.compress(&plain, 1, &mut out).unwrap();
            assert_eq!(
                kind.uncompress(&out[6..], plain.len()).unwrap(),
                plain,
                "{name}"
            );
            assert_eq!(CompressionType::from_byte(kind as u8), Some(kind));
            assert_eq!(kind.name(), name);
        }
    }
}

#[test]
fn damage_is_an_error_or_other_bytes_but_never_a_panic() {
    // Unpackers see bytes whose checksum held; still, every flipped byte must be survived.
    let plain = b"the quick brown fox jumps over the lazy dog ".repeat(20);
    for (_, kind) in CompressionType::built() {
        let mut compressed = vec![];
        kind.compress(&plain, 1, &mut compressed).unwrap();
        for index in 0..compressed.len() {
            compressed[index] ^= 0x55;
            if let Ok(bytes) = kind.uncompress(&compressed, plain.len()) {
                assert_eq!(bytes.len(), plain.len());
            }
            compressed[index] ^= 0x55;
        }
        assert!(kind.uncompress(&compressed, plain.len() + 1).is_err());
    }
}

#[test]
fn a_compressor_compresses_each_block_as_if_it_were_its_first() {
    let mut random = crate::env::random::Random::new(8);
    let mut compressor = Compressor::default();
    for size in [3_000, 70_000, 10, 0, 4_096] {
        let noise = random.bytes(size / 2);
        let plain = [&noise[..], &noise].concat();
        for (name, way) in CompressionType::built() {
            let (mut again, mut once) = (b"before".to_vec(), b"before".to_vec());
            compressor.compress(way, &plain, 1, &mut again).unwrap();
            way.compress(&plain, 1, &mut once).unwrap();
            assert!(again == once, "{name}, {size} bytes");
        }
    }
}

#[cfg(not(all(feature = "lz4", feature = "snappy", feature = "zstd")))]
#[test]
fn what_was_left_out_is_refused_by_its_name() {
    // Whatever the bytes: they are not looked at, and not called damaged.
    let missing = CompressionType::NAMES
        .iter()
        .filter(|(_, way)| !way.is_built());
    for (name, way) in missing {
        let mut out = Vec::new();
        let compressed = way.compress(b"plain", 1, &mut out);
        let uncompressed = way.uncompress(b"whatever", 5).map(drop);
        for error in [compressed, uncompressed].map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::NotBuilt);
            assert!(error.message().contains(&format!("feature `{name}`")));
        }
        assert!(out.is_empty());
        assert_eq!(CompressionType::from_byte(*way as u8), Some(*way));
    }
}

#[test]
fn the_first_that_is_there_is_taken() {
    // Plain where none of them is.
    for (_, way) in CompressionType::NAMES {
        let taken = CompressionType::first_built(&[way]);
        assert_eq!(taken == way, way.is_built());
        assert!(taken.is_built());
    }
    assert_eq!(CompressionType::first_built(&[]), CompressionType::None);
}
