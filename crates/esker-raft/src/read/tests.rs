//! Rounds of reads: shared, sent again, given up, and answered once.

use super::*;

const NEVER: Begun = Begun {
    at: std::time::Duration::ZERO,
    term: None,
};

const PATIENCE: Patience = Patience {
    retry_ticks: 3,
    ticks_max: 10,
};

#[test]
fn reads_of_one_turn_share_a_round() {
    let mut reads = Reads::new(ReplicaId(1), 7);
    reads.queue(Token(1));
    reads.queue(Token(2));
    let name = reads.start(0, NEVER).expect("there are some");
    assert_eq!((name.len(), reads.start(0, NEVER)), (24, None));
    reads.confirmed(0, &name, 5);
    assert_eq!(reads.served(4), []);
    assert_eq!(reads.served(5), [(Token(1), 5), (Token(2), 5)]);
    assert_eq!(reads.len(), 0);
    // The answer to a round that was sent again comes twice.
    reads.confirmed(0, &name, 9);
    assert_eq!(reads.served(9), []);
}

#[test]
fn trap_5_a_round_that_stays_without_an_answer_is_sent_again_and_then_given_up() {
    let mut reads = Reads::new(ReplicaId(1), 7);
    reads.queue(Token(1));
    let name = reads.start(0, NEVER).expect("there is one");
    let mut sent = 0;
    for now in 1..=10 {
        let (again, failed) = reads.tick(now, PATIENCE);
        assert!(failed.is_empty() && again.iter().all(|other| *other == name));
        sent += again.len();
    }
    assert_eq!(sent, 3);
    assert_eq!(reads.tick(11, PATIENCE), (vec![], vec![Token(1)]));
    assert_eq!(reads.len(), 0);
}

#[test]
fn a_read_that_is_confirmed_does_not_wait_for_ever_for_what_is_to_be_applied() {
    // Its node's disk may be full; whoever leads by then has applied it.
    let mut reads = Reads::new(ReplicaId(1), 7);
    reads.queue(Token(1));
    let name = reads.start(0, NEVER).expect("there is one");
    reads.confirmed(2, &name, 5);
    reads.queue(Token(2));
    reads.settle(4, 6);
    assert_eq!(reads.tick(12, PATIENCE), (vec![], vec![]));
    assert_eq!(reads.tick(13, PATIENCE), (vec![], vec![Token(1)]));
    assert_eq!(reads.served(6), [(Token(2), 6)]);
    assert_eq!((reads.len(), reads.are_idle()), (0, true));
}

#[test]
fn no_name_is_used_by_another_incarnation() {
    let mut names = std::collections::BTreeSet::new();
    for replica in 1..4 {
        for incarnation in 1..4 {
            let mut reads = Reads::new(ReplicaId(replica), incarnation);
            for _ in 0..4 {
                reads.queue(Token(0));
                assert!(names.insert(reads.start(0, NEVER)));
            }
        }
    }
}
