//! Tests of `stripe`.

use super::*;
use crate::base::types::ids::KeyspaceId;

const A: TxnId = TxnId(1);
const B: TxnId = TxnId(2);
const FRESH: Attempt = Attempt::Taken { before: None };

fn key(number: u32) -> LockId {
    LockId::of_key(KeyspaceId::DEFAULT, &number.to_be_bytes())
}

#[test]
fn a_lock_with_one_holder_is_an_entry() {
    // Taken, taken again, raised, put back and released without ever being more.
    let mut stripe = Stripe::default();
    let before = Some(Mode::Shared);
    assert_eq!(stripe.attempt(key(1), A, Mode::Shared), FRESH);
    assert_eq!(stripe.attempt(key(1), A, Mode::Shared), Attempt::Held);
    let raised = stripe.attempt(key(1), A, Mode::Exclusive);
    assert_eq!(raised, Attempt::Taken { before });
    let blocked = Attempt::Blocked { by: A };
    assert_eq!(stripe.attempt(key(1), B, Mode::Shared), blocked);
    assert_eq!(stripe.mode_of(key(1), B), None);
    stripe.give_back(key(1), A, before).raise();
    assert_eq!(stripe.mode_of(key(1), A), before);
    stripe.give_back(key(1), A, None).raise();
    assert_eq!((stripe.held_count(), stripe.shared.len()), (0, 0));
}

#[test]
fn a_lock_is_more_while_several_have_to_do_with_it() {
    // A second holder, and one who waits, each for its own lock.
    let mut stripe = Stripe::default();
    assert_eq!(stripe.attempt(key(1), A, Mode::Shared), FRESH);
    assert_eq!(stripe.attempt(key(1), B, Mode::Shared), FRESH);
    assert_eq!(stripe.attempt(key(2), A, Mode::Exclusive), FRESH);
    let signal = Arc::new(Signal::default());
    stripe.enqueue(key(2), B, Mode::Exclusive, Arc::clone(&signal));
    assert_eq!((stripe.sole.len(), stripe.shared.len()), (0, 2));
    assert_eq!(stripe.held_count(), 3);
    assert_eq!(stripe.blockers(key(2), B), [A]);
    stripe.give_back(key(1), A, None).raise();
    assert_eq!(signal.raised_count(), 0);
    stripe.give_back(key(2), A, None).raise();
    assert_eq!(signal.raised_count(), 1);
    assert_eq!(stripe.mode_of(key(2), B), Some(Mode::Exclusive));
    assert!(stripe.withdraw(key(2), B).is_none());
    for number in [1, 2] {
        stripe.give_back(key(number), B, None).raise();
    }
    assert_eq!((stripe.held_count(), stripe.shared.len()), (0, 0));
    // Nobody ever waited here.
    assert!(stripe.withdraw(key(3), B).is_none());
    assert_eq!(stripe.blockers(key(3), B), []);
}

#[test]
fn keys_of_one_hash_share_a_lock() {
    // The owner of the one waits for the owner of the other, and has both with one of them.
    let mut stripe = Stripe::default();
    let id = key(1);
    assert_eq!(stripe.attempt(id, A, Mode::Exclusive), FRESH);
    assert_eq!(stripe.attempt(id, A, Mode::Exclusive), Attempt::Held);
    let blocked = Attempt::Blocked { by: A };
    assert_eq!(stripe.attempt(id, B, Mode::Exclusive), blocked);
}

#[test]
fn memory_for_many_locks_is_given_back() {
    // A transaction with many locks ends, beside one with few.
    let mut stripe = Stripe::default();
    for number in 0..20_000 {
        assert_eq!(stripe.attempt(key(number), A, Mode::Exclusive), FRESH);
    }
    let full = stripe.table_bytes();
    assert!((20_000 * 25..20_000 * 60).contains(&full));
    for number in 3..20_000 {
        stripe.give_back(key(number), A, None).raise();
    }
    assert!(stripe.table_bytes() < 20_000);
    for number in 0..3 {
        assert_eq!(stripe.mode_of(key(number), A), Some(Mode::Exclusive));
        stripe.give_back(key(number), A, None).raise();
    }
    assert_eq!(stripe.held_count(), 0);
}
