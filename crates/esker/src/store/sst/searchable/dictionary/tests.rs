//! Tests of `dictionary`.

use esker_phrase::{Wish, corpus};

use super::*;

#[test]
fn equal_dictionaries_are_one_in_memory() {
    // Two files with the same dictionary, and one with another; when the last of them is closed
    // its memory goes, and the next file brings it anew.
    let bytes_of = |seed| {
        let wish = Wish {
            phrase_count: 60,
            class_count: 1,
        };
        corpus::trained(&corpus::records(seed, 20), wish).to_bytes()
    };
    let (first, second) = (bytes_of(70), bytes_of(71));
    let one = SharedDictionary::read(&first).unwrap();
    let same = SharedDictionary::read(&first).unwrap();
    let other = SharedDictionary::read(&second).unwrap();
    assert!(Arc::ptr_eq(one.get(), same.get()));
    assert!(!Arc::ptr_eq(one.get(), other.get()));
    assert_eq!(same.size_bytes(), one.size_bytes());
    assert!(one.size_bytes() > first.len());
    let gone = Arc::downgrade(one.get());
    drop((one, same));
    assert!(gone.upgrade().is_none());
    assert!(SharedDictionary::read(&first).is_ok());
}

#[test]
fn a_damaged_dictionary_is_an_error() {
    // Whatever is wrong with it, and it is not kept.
    let [good, _] = corpus::dictionaries();
    let mut bad = good.to_bytes();
    bad[40] ^= 1;
    assert!(SharedDictionary::read(&bad).is_err());
    assert!(SharedDictionary::read(b"").is_err());
}
