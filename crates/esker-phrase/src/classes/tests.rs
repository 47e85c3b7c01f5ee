//! Tests of classes.

use super::*;
use crate::corpus::Dice;
use crate::text::Phrase;

// Phrases 0 to 19 of one kind and 20 to 39 of another; the kinds take turns.
fn taking_turns() -> (Vec<Counted>, Counts) {
    let phrase = |byte| Counted {
        phrase: Phrase::of_byte(byte),
        count: 1,
    };
    let mut dice = Dice::new(1);
    let mut pairs = std::collections::BTreeMap::new();
    let mut counts = vec![0; 40];
    let mut left = 0;
    for turn in 0..4000 {
        let right = (turn % 2 * 20 + dice.below(20)) as u32;
        *pairs.entry((left, right)).or_insert(0) += 1;
        counts[right as usize] += 1;
        left = right;
    }
    let pair = |((left, right), count)| Pair { left, right, count };
    let counts = Counts {
        phrases: counts,
        firsts: vec![0; 40],
        pairs: pairs.into_iter().map(pair).collect(),
    };
    // Bytes that tell nothing of the kind.
    (
        (0..40).map(|id: u8| phrase(id.wrapping_mul(77))).collect(),
        counts,
    )
}

#[test]
fn kinds_that_take_turns_become_classes() {
    // Two kinds, two classes: in the end each class is one kind.
    let (phrases, counts) = taking_turns();
    let mut made = Classes::new(&phrases, &counts, 2);
    for _ in 0..PASSES {
        let before = made.bits();
        made.improve(0..made.phrase_count());
        assert!(made.bits() <= before + 1e-6);
    }
    let (first, second) = made.classes.split_at(20);
    assert!(first.iter().all(|class| *class == first[0]));
    assert!(second.iter().all(|class| *class == 1 - first[0]));
}

#[test]
fn counts_kept_are_the_counts_of_the_classes() {
    // After many moves: the cells as if counted anew.
    let (phrases, counts) = taking_turns();
    let mut made = Classes::new(&phrases, &counts, 7);
    assert!(made.improve(0..made.phrase_count()) > 0);
    made.improve(0..10);
    let kept = (made.cells.clone(), made.lefts.clone(), made.rights.clone());
    made.cells.fill(0);
    made.lefts.fill(0);
    made.rights.fill(0);
    made.count_cells(&counts.pairs);
    assert_eq!((made.cells, made.lefts, made.rights), kept);
}
