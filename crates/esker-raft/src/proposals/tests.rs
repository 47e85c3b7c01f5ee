//! A proposal is answered once, by the entry that decides it.

use super::*;

fn point(index: u64, term: u64) -> Point {
    Point { index, term }
}

#[test]
fn an_entry_of_a_later_term_rules_out_all_of_earlier_ones() {
    // Terms never fall along a log: behind it nothing of an earlier term can be committed, even if
    // nobody ever writes there again.
    let mut proposals = Proposals::default();
    for index in 5..9 {
        proposals.add(point(index, 2), Token(index), 10);
    }
    let mut ruled_out = Vec::new();
    let found = proposals.committed(point(5, 2), |token| ruled_out.push(token));
    assert_eq!((found, ruled_out.len()), (Some(Token(5)), 0));
    proposals.add(point(7, 4), Token(74), 1);
    let found = proposals.committed(point(6, 3), |token| ruled_out.push(token));
    assert_eq!(
        (found, &ruled_out[..]),
        (None, &[Token(6), Token(7), Token(8)][..])
    );
    // The one of a later term still may.
    assert_eq!((proposals.len(), proposals.bytes()), (1, 1));
    assert_eq!(
        proposals.committed(point(7, 4), |_| panic!("nobody else")),
        Some(Token(74))
    );
}

#[test]
fn a_leader_of_two_terms_waits_twice_at_one_index() {
    let mut proposals = Proposals::default();
    proposals.add(point(5, 2), Token(1), 1);
    proposals.add(point(5, 4), Token(2), 1);
    let mut ruled_out = Vec::new();
    let found = proposals.committed(point(5, 4), |token| ruled_out.push(token));
    assert_eq!((found, ruled_out), (Some(Token(2)), vec![Token(1)]));
}

#[test]
fn what_an_image_passes_over_is_taken_out() {
    let mut proposals = Proposals::default();
    proposals.add(point(5, 2), Token(1), 1);
    proposals.add(point(9, 2), Token(2), 4);
    assert_eq!(proposals.skipped(8), [Token(1)]);
    assert_eq!((proposals.len(), proposals.bytes()), (1, 4));
}
