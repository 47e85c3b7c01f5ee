//! Tests of `dictionary_policy`.

use esker_phrase::corpus;

use super::*;

const MIN_BYTES: u64 = 1 << 20;

fn dictionary() -> Arc<Dictionary> {
    let [dictionary, _] = corpus::dictionaries();
    dictionary
}

fn compressed(plain_bytes: u64, ratio: u64) -> CompressionTally {
    CompressionTally {
        dictionary: dictionary().id(),
        plain_bytes,
        compressed_bytes: plain_bytes * 100 / ratio,
    }
}

#[test]
fn nothing_is_trained_before_there_is_enough_to_learn_from() {
    // And one training at a time is enough.
    let book = DictionaryPolicy::default();
    assert!(!book.wants_training(MIN_BYTES - 1, MIN_BYTES));
    assert!(book.wants_training(MIN_BYTES, MIN_BYTES));
    assert!(!book.set_training(true));
    assert!(book.is_training());
    assert!(!book.wants_training(MIN_BYTES, MIN_BYTES));
    book.adopt(dictionary(), 1024);
    assert!(book.is_training());
    assert!(book.set_training(false));
    assert!(!book.wants_training(MIN_BYTES, MIN_BYTES));
    assert!(book.dictionary().is_some());
}

#[test]
fn what_did_not_pay_is_tried_again_when_there_is_much_more() {
    // Four times as much may be something else.
    let book = DictionaryPolicy::default();
    book.give_up(MIN_BYTES);
    assert!(book.dictionary().is_none());
    assert!(!book.wants_training(0, 0));
    assert!(!book.wants_training(MIN_BYTES * 3, MIN_BYTES));
    assert!(book.wants_training(MIN_BYTES * 4, MIN_BYTES));
}

#[test]
fn a_dictionary_that_compresses_worse_than_it_did_is_replaced() {
    // The first window says how well it compresses; one that is a little worse changes nothing, one
    // that is clearly worse does, and a better one takes it back.
    let book = DictionaryPolicy::default();
    book.adopt(dictionary(), 1024);
    let wants = || book.wants_training(MIN_BYTES, MIN_BYTES);
    book.note(compressed(WINDOW_BYTES / 2, 400));
    book.note(compressed(WINDOW_BYTES / 2, 400));
    book.note(compressed(WINDOW_BYTES, 380));
    assert!(!wants());
    book.note(compressed(WINDOW_BYTES, 360));
    assert!(wants());
    book.note(compressed(WINDOW_BYTES, 390));
    assert!(!wants());
    book.note(compressed(WINDOW_BYTES, 300));
    book.adopt(dictionary(), 1024);
    assert!(!wants());
}

#[test]
fn what_another_dictionary_compressed_does_not_count() {
    // A compaction goes on with the dictionary it began with. Another one, with which the same
    // values compress far worse, must not be measured by that.
    let book = DictionaryPolicy::default();
    let [_, other] = corpus::dictionaries();
    book.adopt(other, 1024);
    book.adopt(dictionary(), 1024);
    let wants = || book.wants_training(MIN_BYTES, MIN_BYTES);
    let of_other = |ratio: u64| {
        let [_, other] = corpus::dictionaries();
        CompressionTally {
            dictionary: other.id(),
            ..compressed(WINDOW_BYTES, ratio)
        }
    };
    book.note(of_other(200));
    book.note(compressed(WINDOW_BYTES, 400));
    book.note(of_other(200));
    assert!(!wants());
    book.note(compressed(WINDOW_BYTES, 300));
    assert!(wants());
}

#[test]
fn a_keyspace_that_grew_gets_a_larger_dictionary() {
    // Four times the phrases, that is; and never more than there can be.
    let book = DictionaryPolicy::default();
    book.adopt(dictionary(), 1024);
    let count = 1024;
    assert!(!book.wants_training(count * 4 * RAW_BYTES_PER_PHRASE - 1024, MIN_BYTES));
    assert!(book.wants_training(count * 4 * RAW_BYTES_PER_PHRASE, MIN_BYTES));
    assert_eq!(wish(0).phrase_count, 256);
    assert_eq!(wish(0).class_count, 4);
    assert_eq!(wish(u64::MAX), Wish::LARGE);
}
