//! Tests of samples.

use super::*;

fn record(index: usize) -> Vec<u8> {
    vec![index as u8; 1 + index % 100]
}

#[test]
fn the_budget_holds_and_the_choice_is_fair() {
    // A thousand records for a tenth of the room: each third of the offers gets its share.
    let mut sample = Sample::new(1, 5000);
    for index in 0..1000usize {
        let mut text = record(50);
        text[..2].copy_from_slice(&(index as u16).to_le_bytes());
        sample.offer(&text);
        assert!(sample.size_bytes() <= 5000);
    }
    let index = |text: &&[u8]| usize::from(u16::from_le_bytes([text[0], text[1]]));
    let indexes: Vec<usize> = sample.records().iter().map(index).collect();
    assert_eq!(indexes.len(), sample.record_count());
    assert!(sample.size_bytes() > 4900);
    for third in 0..3 {
        let lies_in = |index: &&usize| **index / 334 == third;
        assert!(indexes.iter().filter(lies_in).count() > 20);
    }
}

#[test]
fn same_offers_give_the_same_sample() {
    // Two of one seed, one of another.
    let made = |seed| {
        let mut sample = Sample::new(seed, 3000);
        (0..500).for_each(|index| sample.offer(&record(index)));
        sample.records().concat()
    };
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}

#[test]
fn long_records_are_cut_and_empty_ones_left_out() {
    // A record beyond the limit, one beyond the budget, an empty one.
    let sample = Sample::of([&vec![7; RECORD_BYTES_MAX + 5][..], b""]);
    assert_eq!(
        (sample.record_count(), sample.size_bytes()),
        (1, RECORD_BYTES_MAX)
    );
    let mut small = Sample::new(0, 10);
    small.offer(&[1; 11]);
    assert_eq!((small.record_count(), small.size_bytes()), (0, 0));
    small.offer(&[1; 10]);
    assert_eq!(small.record_count(), 1);
}
