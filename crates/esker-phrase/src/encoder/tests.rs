//! Tests of encoding.

use super::*;
use crate::corpus::{self, Dice};

#[test]
fn every_text_comes_back_and_is_never_much_larger() {
    // Texts of every sort, both dictionaries, both efforts, appended one behind the other.
    for dictionary in corpus::dictionaries() {
        for effort in [Effort::Best, Effort::Fast] {
            let mut encoder = Encoder::new(&dictionary, effort);
            let (mut payloads, mut out) = (Vec::new(), Vec::new());
            for text in corpus::texts() {
                let start = payloads.len();
                encoder.encode(&text, &mut payloads);
                let payload = &payloads[start..];
                assert!(payload.len() <= text.len() + 5);
                dictionary.decode(payload, text.len(), &mut out).unwrap();
                assert!(out == text);
            }
        }
    }
}

#[test]
fn text_packs_and_noise_does_not() {
    // Prose of the family of which the dictionary is; random bytes of no family.
    let mut dice = Dice::new(21);
    for dictionary in corpus::dictionaries() {
        let mut sizes = Vec::new();
        for effort in [Effort::Best, Effort::Fast] {
            let mut encoder = Encoder::new(&dictionary, effort);
            let mut payload = Vec::new();
            let texts = corpus::records(77, 60);
            texts
                .iter()
                .for_each(|text| encoder.encode(text, &mut payload));
            let raw: usize = texts.iter().map(Vec::len).sum();
            assert!(payload.len() * 5 < raw * 2);
            sizes.push(payload.len());
        }
        assert!(sizes[0] <= sizes[1]);
        let noise = dice.bytes(1000);
        let mut payload = Vec::new();
        Encoder::new(&dictionary, Effort::Best).encode(&noise, &mut payload);
        assert_eq!(Head::split(&payload).unwrap().0.method, Method::Raw);
    }
}

#[test]
fn a_clone_encodes_the_same() {
    // Two encoders of one trie in turns, and one whose effort changes.
    let [_, dictionary] = corpus::dictionaries();
    let mut first = Encoder::new(&dictionary, Effort::Best);
    let mut second = first.clone();
    second.set_effort(Effort::Fast);
    second.encode(b"something else", &mut Vec::new());
    second.set_effort(Effort::Best);
    for text in corpus::records(3, 20) {
        let mut payloads = [Vec::new(), Vec::new()];
        first.encode(&text, &mut payloads[0]);
        second.encode(&text, &mut payloads[1]);
        assert_eq!(payloads[0], payloads[1]);
    }
}

#[test]
fn texts_beyond_the_limit_stay_raw() {
    // One byte more than is parsed.
    let [dictionary, _] = corpus::dictionaries();
    let text = vec![b' '; TEXT_BYTES_MAX + 1];
    let mut payload = Vec::new();
    Encoder::new(&dictionary, Effort::Best).encode(&text, &mut payload);
    let (head, body) = Head::split(&payload).unwrap();
    assert_eq!((head.method, body.len()), (Method::Raw, text.len()));
}

#[test]
fn an_estimate_tells_what_encoding_gives() {
    // Unseen records of the family, noise, and nothing at all.
    let [_, dictionary] = corpus::dictionaries();
    let records = corpus::records(40, 50);
    let mut encoder = Encoder::new(&dictionary, Effort::Best);
    let mut payloads = Vec::new();
    records
        .iter()
        .for_each(|record| encoder.encode(record, &mut payloads));
    let ratio = records.concat().len() as f64 / payloads.len() as f64;
    let estimate =
        |records: &[Vec<u8>]| dictionary.estimate(&Sample::of(records.iter().map(Vec::as_slice)));
    assert!((estimate(&records) / ratio - 1.0).abs() < 0.01);
    let noise = estimate(&[Dice::new(1).bytes(5000)]);
    assert!(noise > 0.99 && noise <= 1.0);
    assert_eq!(estimate(&[]), 1.0);
}
