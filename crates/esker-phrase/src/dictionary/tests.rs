//! Tests of dictionaries.

use super::*;
use crate::corpus::{self, Dice};
use crate::encoder::Encoder;
use crate::parse::Effort;

#[test]
fn a_dictionary_that_was_stored_decodes_what_the_first_encoded() {
    // To bytes and back; records of the one are read by the other, and the other way round.
    for dictionary in corpus::dictionaries() {
        let again = std::sync::Arc::new(Dictionary::from_bytes(&dictionary.to_bytes()).unwrap());
        let mut encoders = [&dictionary, &again].map(|one| Encoder::new(one, Effort::Best));
        let mut out = Vec::new();
        for text in corpus::texts() {
            let mut payloads = [Vec::new(), Vec::new()];
            for (encoder, payload) in encoders.iter_mut().zip(&mut payloads) {
                encoder.encode(&text, payload);
            }
            assert_eq!(payloads[0], payloads[1]);
            again.decode(&payloads[0], text.len(), &mut out).unwrap();
            assert_eq!(out, text);
        }
    }
}

#[test]
fn a_text_longer_than_allowed_is_refused_before_memory_is_taken() {
    // A head that says a gigabyte, and one that says a byte more than the caller knows.
    let [dictionary, _] = corpus::dictionaries();
    let mut out = Vec::new();
    for (raw_len, raw_len_max) in [(1 << 30, 1 << 20), (11, 10), (1 << 30, 1 << 30)] {
        let mut payload = Vec::new();
        let method = Method::Phrases;
        Head { raw_len, method }.put(&mut payload);
        let error = dictionary
            .decode(&payload, raw_len_max, &mut out)
            .unwrap_err();
        assert!(matches!(error, Error::Damaged(_)), "{error}");
        assert_eq!(out.capacity(), 0);
    }
}

#[test]
fn any_bytes_are_a_text_or_corruption() {
    // Random payloads with heads that fit: never a panic, never more bytes than said.
    let mut dice = Dice::new(11);
    let mut out = Vec::new();
    for dictionary in corpus::dictionaries() {
        for round in 0..3000 {
            let raw_len = dice.below(2000);
            let method = Method::Phrases;
            let mut payload = Vec::new();
            Head { raw_len, method }.put(&mut payload);
            payload.extend(dice.bytes(round % 200));
            match dictionary.decode(&payload, 2000, &mut out) {
                Ok(()) => assert_eq!(out.len(), raw_len),
                Err(error) => assert!(matches!(error, Error::Damaged(_)), "{error}"),
            }
        }
    }
}

#[test]
fn raw_records_have_exactly_their_bytes() {
    // The head says how many bytes follow; more and fewer are damage.
    let [dictionary, _] = corpus::dictionaries();
    let mut out = vec![1, 2, 3];
    dictionary.decode(&[2 << 2, 7, 8], 2, &mut out).unwrap();
    assert_eq!(out, [7, 8]);
    assert!(dictionary.decode(&[2 << 2, 7], 2, &mut out).is_err());
    assert!(dictionary.decode(&[2 << 2, 7, 8, 9], 2, &mut out).is_err());
}

#[test]
fn lengths_that_make_no_codes_are_refused() {
    // All parts in their bounds, and codes that are too many, or in half a group.
    let parts = |len: u8| Parts {
        phrases: Vec::new(),
        lengths: vec![len; 256],
        class_count: 1,
        classes: Vec::new(),
        contexts: Vec::new(),
    };
    assert!(Dictionary::from_parts(parts(8)).is_ok());
    for mut wrong in [parts(7), parts(27), parts(8)] {
        wrong.lengths[0] += u8::from(wrong.lengths[0] == 8) * 4;
        assert!(Dictionary::from_bytes(&wrong.encode()).is_err());
    }
}
