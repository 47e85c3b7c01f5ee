//! Tests of `pinned`.

use std::sync::Arc;

use super::*;
use crate::env::random::Random;

impl Holdable for Arc<u64> {
    fn is_held_elsewhere(&self) -> bool {
        Arc::strong_count(self) > 1
    }

    fn size_bytes(&self) -> usize {
        4096
    }
}

#[test]
fn what_is_held_is_listed_until_it_is_let_go() {
    // Values leave, some of them held, and are let go in any order: a look at all finds just those
    // that are held still, and a look at a few comes round to every one.
    let mut random = Random::new(7);
    let mut pinned = Pinned::default();
    let mut held: Vec<Arc<u64>> = Vec::new();
    for step in 0..2_000 {
        let value = Arc::new(step);
        if random.one_in(2) {
            held.push(Arc::clone(&value));
        }
        let mut left = vec![value];
        pinned.take_held(&mut left);
        assert!(left.iter().all(|value| !value.is_held_elsewhere()));
        if random.one_in(2) && !held.is_empty() {
            let place = random.below(held.len() as u64) as usize;
            held.swap_remove(place);
        }
        pinned.look(2);
        assert!(pinned.count() >= held.len());
        assert_eq!(pinned.bytes(), pinned.count() * 4096);
    }
    pinned.look(usize::MAX);
    assert_eq!(pinned.count(), held.len());
    held.clear();
    for _ in 0..pinned.count() {
        pinned.look(1);
    }
    assert_eq!((pinned.count(), pinned.bytes()), (0, 0));
}
