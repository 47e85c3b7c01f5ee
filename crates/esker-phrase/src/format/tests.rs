//! Tests of the bytes of dictionaries and records.

use super::*;
use crate::corpus;

#[test]
fn a_dictionary_reads_back() {
    // What training made, with one class and several, and the least there can be.
    for dictionary in corpus::dictionaries() {
        let parts = dictionary.parts();
        let bytes = parts.encode();
        assert_eq!(&Parts::decode(&bytes).unwrap(), parts);
        assert_eq!(parts.encode(), bytes);
    }
    let least = Parts {
        phrases: Vec::new(),
        lengths: vec![8; 256],
        class_count: 1,
        classes: Vec::new(),
        contexts: Vec::new(),
    };
    assert_eq!(Parts::decode(&least.encode()).unwrap(), least);
}

#[test]
fn damage_is_found() {
    // Each byte changed, and every length cut.
    let [dictionary, _] = corpus::dictionaries();
    let bytes = dictionary.to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Parts::decode(&damaged).is_err());
    }
    for len in 0..bytes.len().min(200) {
        assert!(Parts::decode(&bytes[..len]).is_err());
    }
    assert!(Parts::decode(&[&bytes[..], &[0]].concat()).is_err());
}

#[test]
fn fields_that_lie_are_refused_behind_a_right_checksum() {
    // Each field and some content changed, and the checksum made to fit: never a panic, and what
    // is accepted is written the same.
    for dictionary in corpus::dictionaries() {
        let bytes = dictionary.to_bytes();
        let mut dice = corpus::Dice::new(4);
        for round in 0..3000 {
            let mut lying = bytes[..bytes.len() - 4].to_vec();
            let at = if round < 500 {
                12 + round % 12
            } else {
                dice.below(lying.len())
            };
            lying[at] = dice.below(256) as u8;
            let checksum = stored_crc(&lying);
            put_u32(&mut lying, checksum);
            if let Ok(parts) = Parts::decode(&lying) {
                assert_eq!(Parts::decode(&parts.encode()).unwrap(), parts);
                assert_eq!(parts.encode(), lying);
            }
        }
    }
}

#[test]
fn a_phrase_that_shares_more_than_it_says_is_refused() {
    // "ab" and "ac", the second spelled out: the same phrases in other bytes would be known by
    // another name.
    let parts = Parts {
        phrases: ["ab", "ac"]
            .map(|text| Phrase::new(text.as_bytes()).unwrap())
            .into(),
        lengths: vec![9; 258],
        class_count: 1,
        classes: Vec::new(),
        contexts: Vec::new(),
    };
    let bytes = parts.encode();
    assert_eq!(bytes[HEAD_BYTES..][..5], *b"\x02ab\x11c");
    let covered = &bytes[..bytes.len() - 4];
    let mut spelled_out = covered[..HEAD_BYTES].to_vec();
    spelled_out[20] += 1;
    spelled_out.extend_from_slice(b"\x02ab\x02ac");
    spelled_out.extend_from_slice(&covered[HEAD_BYTES + 5..]);
    let checksum = stored_crc(&spelled_out);
    put_u32(&mut spelled_out, checksum);
    assert!(matches!(
        Parts::decode(&spelled_out),
        Err(Error::Damaged(_))
    ));
    assert_eq!(Parts::decode(&bytes).unwrap(), parts);
}

#[test]
fn a_newer_format_is_unsupported() {
    // The version is told before the checksum, which a newer format may make otherwise.
    let [dictionary, _] = corpus::dictionaries();
    let mut bytes = dictionary.to_bytes();
    bytes[8] = 2;
    assert_eq!(Parts::decode(&bytes), Err(Error::Newer(2)));
    bytes[8] = 0;
    assert!(matches!(Parts::decode(&bytes), Err(Error::Damaged(_))));
}

#[test]
fn heads_read_back_and_unknown_methods_are_refused() {
    // Lengths around the borders of varints.
    for raw_len in [0, 1, 31, 32, 127, 4095, 4096, 1 << 30] {
        for method in [Method::Raw, Method::Phrases] {
            let head = Head { raw_len, method };
            let mut bytes = Vec::new();
            head.put(&mut bytes);
            bytes.push(7);
            assert_eq!(Head::split(&bytes).unwrap(), (head, &[7][..]));
        }
    }
    assert!(Head::split(&[]).is_err());
    assert!(Head::split(&[2]).is_err());
    assert!(Head::split(&[3]).is_err());
    assert!(Head::split(&[0x80]).is_err());
}
