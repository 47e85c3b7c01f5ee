//! Any bytes as a phrase dictionary, as a record of one, as a text, and as a sample.
//!
//! The first byte chooses: 0 a whole dictionary, 1 one whose checksum is made to fit, 2 a record
//! of a good dictionary, 3 a text to encode, 4 a sample to train from, which is then encoded.

use std::sync::{Arc, OnceLock};

use esker::internals::base::codec::checksum::{crc32c, mask};
use esker_phrase::{Dictionary, Effort, Encoder, Error, Sample, Wish};

/// Most bytes that a record may say it has.
const RAW_LEN_MAX: usize = 1 << 16;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    match choice {
        0 => read(rest),
        1 => {
            let checksum = mask(crc32c(rest));
            read(&[rest, &checksum.to_le_bytes()].concat());
        }
        2 => dictionaries().iter().for_each(|one| decode(one, rest)),
        3 => dictionaries().iter().for_each(|one| encode(one, rest)),
        _ => {
            let records = rest.split(|byte| *byte == b'\n');
            let wish = Wish {
                phrase_count: 64,
                class_count: usize::from(*choice % 8) + 1,
            };
            let dictionary = Arc::new(Dictionary::train(&Sample::of(records), wish));
            encode(&dictionary, rest);
            read(&dictionary.to_bytes());
        }
    }
}

// With one class and with several.
fn dictionaries() -> &'static [Arc<Dictionary>; 2] {
    static MADE: OnceLock<[Arc<Dictionary>; 2]> = OnceLock::new();
    let made = |class_count| {
        let text = include_bytes!("phrase.rs");
        let wish = Wish {
            phrase_count: 200,
            class_count,
        };
        let sample = Sample::of(text.split(|byte| *byte == b'\n'));
        Arc::new(Dictionary::train(&sample, wish))
    };
    MADE.get_or_init(|| [made(1), made(6)])
}

// What is accepted works: texts come back, and the bytes do.
fn read(bytes: &[u8]) {
    match Dictionary::from_bytes(bytes) {
        Ok(dictionary) => {
            assert!(dictionary.to_bytes() == bytes);
            let dictionary = Arc::new(dictionary);
            decode(&dictionary, bytes);
            encode(&dictionary, bytes);
        }
        Err(error) => assert!(matches!(error, Error::Damaged(_) | Error::Newer(_))),
    }
}

fn decode(dictionary: &Dictionary, payload: &[u8]) {
    let mut out = Vec::new();
    match dictionary.decode(payload, RAW_LEN_MAX, &mut out) {
        Ok(()) => assert!(out.len() <= RAW_LEN_MAX),
        Err(error) => assert!(matches!(error, Error::Damaged(_))),
    }
}

fn encode(dictionary: &Arc<Dictionary>, text: &[u8]) {
    for effort in [Effort::Best, Effort::Fast] {
        let (mut payload, mut out) = (Vec::new(), Vec::new());
        Encoder::new(dictionary, effort).encode(text, &mut payload);
        assert!(payload.len() <= text.len() + 5);
        let decoded = dictionary.decode(&payload, text.len(), &mut out);
        decoded.expect("what was encoded");
        assert!(out == text);
    }
}
