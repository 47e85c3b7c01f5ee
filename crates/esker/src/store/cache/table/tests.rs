//! Tests of `table`.

use std::collections::BTreeSet;

use super::*;
use crate::env::random::Random;

#[test]
fn table_agrees_with_a_set() {
    // Few tags, so that runs grow long, collide and wrap around the end.
    let mut random = Random::new(5);
    let mut table = Table::default();
    let mut oracle = BTreeSet::new();
    for _ in 0..20_000 {
        let tag = u32::MAX - u32::try_from(random.below(40)).unwrap();
        let slot = u32::try_from(random.below(6)).unwrap();
        assert_eq!(
            table.find(tag, |found| found == slot).is_some(),
            oracle.contains(&(tag, slot))
        );
        if oracle.remove(&(tag, slot)) {
            table.remove(tag, slot);
        } else if random.one_in(2) {
            table.insert(tag, slot);
            oracle.insert((tag, slot));
        }
    }
    for &(tag, slot) in &oracle {
        assert_eq!(table.find(tag, |found| found == slot), Some(slot));
        table.remove(tag, slot);
    }
    assert_eq!(table.count, 0);
    assert!(table.words.iter().all(|&word| word == 0));
}
