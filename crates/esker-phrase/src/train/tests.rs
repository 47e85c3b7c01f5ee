//! Tests of training.

use super::*;
use crate::corpus::{self, trained};

const WISH: Wish = Wish {
    phrase_count: 300,
    class_count: 5,
};

#[test]
fn the_same_sample_gives_the_same_dictionary() {
    // Twice from the same records; and other records give another one.
    let bytes = |seed| trained(&corpus::records(seed, 60), WISH).to_bytes();
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn any_sample_gives_a_dictionary() {
    // Nothing, one byte, zeros, noise, a row of all bytes; with one class and several. Every
    // text has a record in each of them.
    let mut dice = corpus::Dice::new(5);
    let noise = dice.bytes(20_000);
    let all: Vec<u8> = (0..=255).collect();
    let samples = [
        vec![],
        vec![vec![1]],
        vec![vec![0; 30_000]],
        vec![noise],
        vec![all],
    ];
    for records in samples {
        for class_count in [1, 2, 64] {
            let wish = Wish {
                phrase_count: 100,
                class_count,
            };
            let dictionary = trained(&records, wish);
            assert!(dictionary.parts().phrases.len() <= 100);
            assert!(Dictionary::from_bytes(&dictionary.to_bytes()).is_ok());
        }
    }
}

#[test]
fn one_letter_becomes_long_phrases() {
    // A sample of one letter: phrases double until two of them no longer fit one.
    let dictionary = trained(
        &[vec![b'x'; 20_000]],
        Wish {
            phrase_count: 10,
            class_count: 1,
        },
    );
    let lens = dictionary.parts().phrases.iter().map(Phrase::len);
    assert_eq!(lens.max(), Some(8));
}

#[test]
fn steps_are_bounded_by_the_sample() {
    // Each round parses the sample once, a megabyte a step, and begins with a step of its own.
    let records = corpus::records(1, 40);
    let sample = Sample::of(records.iter().map(Vec::as_slice));
    let mut trainer = Trainer::new(&sample, WISH);
    let mut steps = 1;
    while trainer.step().is_none() {
        steps += 1;
    }
    assert_eq!(steps, ROUNDS.len() + 1 + PASSES + 1);
}
