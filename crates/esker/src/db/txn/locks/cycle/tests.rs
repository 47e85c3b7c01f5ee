//! Tests of `cycle`.

use super::*;

fn find(start: u64, edges: &[(u64, u64)]) -> Option<Vec<u64>> {
    let waits_for = |owner: TxnId| {
        let edges = edges.iter().filter(|(from, _)| *from == owner.0);
        edges.map(|(_, to)| TxnId(*to)).collect()
    };
    let cycle = find_cycle(TxnId(start), waits_for)?;
    Some(cycle.into_iter().map(|owner| owner.0).collect())
}

#[test]
fn a_tree_has_no_cycle() {
    // Two ways lead to the same owner, which waits for nobody.
    assert_eq!(find(1, &[(1, 2), (1, 3), (2, 4), (3, 4)]), None);
    assert_eq!(find(1, &[]), None);
}

#[test]
fn the_shortest_cycle_is_told() {
    // 1 → 2 → 3 → 1, and a longer way round that begins earlier.
    let edges = [(1, 4), (4, 5), (5, 3), (1, 2), (2, 3), (3, 1)];
    assert_eq!(find(1, &edges), Some(vec![1, 2, 3]));
    assert_eq!(find(7, &[(7, 8), (8, 7)]), Some(vec![7, 8]));
}

#[test]
fn a_cycle_elsewhere_is_not_mine() {
    // 2 and 3 wait for one another; whoever waits for them is not the one to be told.
    assert_eq!(find(1, &[(1, 2), (2, 3), (3, 2)]), None);
    assert_eq!(find(2, &[(1, 2), (2, 3), (3, 2)]), Some(vec![2, 3]));
}
