//! Tests of `index_node`.

use super::*;
use crate::env::random::Random;

/// Something to tell addresses apart by; nobody reads there.
fn address(number: u64) -> *mut u8 {
    ptr::without_provenance_mut(number as usize)
}

fn ways_of(node: &IndexNode) -> Vec<(u64, *mut u8)> {
    let ways = node.ways();
    (0..ways.count())
        .map(|position| ways.slot(position))
        .map(|slot| (node.fragment(slot), node.address(slot)))
        .collect()
}

#[test]
fn ways_agree_with_a_list() {
    // Added anywhere, and left behind some place, over and over: the order and its free slots hold.
    let mut random = Random::new(5);
    let node = IndexNode::new(1);
    let mut list = Vec::new();
    for number in 1..2_000 {
        if list.len() == WAYS_MAX || random.below(9) == 0 {
            let kept = random.below(list.len() as u64 + 1) as usize;
            node.keep(kept);
            list.truncate(kept);
        } else {
            let position = random.below(list.len() as u64 + 1) as usize;
            node.add(position, number, address(number));
            list.insert(position, (number, address(number)));
        }
        assert_eq!(ways_of(&node), list);
        assert_eq!(node.is_full(), list.len() == WAYS_MAX);
    }
}

#[test]
fn what_is_copied_is_what_lies_behind() {
    // The upper half moves in order, whichever slots it lies in.
    let lower = IndexNode::new(1);
    for number in 1..=WAYS_MAX as u64 {
        lower.add(0, number, address(number));
    }
    let upper = IndexNode::new(1);
    lower.copy_behind(8, &upper);
    let whole = ways_of(&lower);
    assert_eq!(ways_of(&upper), whole[8..]);
    lower.keep(8);
    assert_eq!(ways_of(&lower), whole[..8]);
}

#[test]
#[should_panic]
fn a_full_node_takes_no_further_way() {
    let node = IndexNode::new(1);
    for number in 0..=WAYS_MAX as u64 {
        node.add(0, number, address(number));
    }
}
