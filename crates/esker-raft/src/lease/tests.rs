//! What is promised, for how long, and what a leader may make of it.

use super::*;

const PROMISE: Duration = Duration::from_millis(500);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn vote(context: &'static [u8]) -> Message {
    let mut message = Message::default();
    message.set_msg_type(MessageType::MsgRequestVote);
    message.context = context.into();
    message
}

fn heartbeat(asked_ms: u64) -> Message {
    let mut message = Message::default();
    message.set_msg_type(MessageType::MsgHeartbeat);
    message.reject_hint = asked_ms;
    message
}

fn begun(at: Duration, term: u64) -> Begun {
    let term = Some(term);
    Begun { at, term }
}

#[test]
fn a_promise_lasts_from_when_it_was_heard_and_never_becomes_shorter() {
    let mut leases = Leases::new(Duration::ZERO, false);
    assert!(!leases.refuses(&vote(b""), ms(1000)));
    leases.hear(&heartbeat(500), ms(1000));
    leases.hear(&heartbeat(100), ms(1100));
    assert!(leases.refuses(&vote(b""), ms(1499)));
    assert!(!leases.refuses(&vote(CAMPAIGN_TRANSFER), ms(1499)));
    assert!(!leases.refuses(&heartbeat(0), ms(1499)));
    assert!(!leases.refuses(&vote(b""), ms(1500)));
}

#[test]
fn nobody_is_bound_for_longer_than_the_longest_promise() {
    let mut leases = Leases::new(Duration::ZERO, false);
    leases.hear(&heartbeat(1 << 40), ms(7));
    assert!(leases.is_bound(ms(1006)) && !leases.is_bound(ms(1007)));
}

#[test]
fn who_starts_again_waits_for_the_longest_promise_from_when_it_knows_the_time() {
    let mut leases = Leases::new(Duration::ZERO, true);
    assert!(leases.is_bound(ms(90_000)));
    assert!(leases.is_bound(ms(90_999)));
    assert!(!leases.is_bound(ms(91_000)));
}

#[test]
fn a_lease_is_four_fifths_of_the_promise_from_when_the_round_was_begun() {
    let mut leases = Leases::new(PROMISE, false);
    leases.confirmed(begun(ms(1000), 7), (7, 3), ms(1090));
    assert_eq!(leases.held(7, ms(1399)).map(|lease| lease.index), Some(3));
    assert_eq!(leases.held(7, ms(1400)), None);
    assert_eq!(leases.held(8, ms(1001)), None);
    // The leader keeps the promise itself.
    assert!(leases.refuses(&vote(b""), ms(1499)));
    assert!(!leases.refuses(&vote(b""), ms(1500)));
}

#[test]
fn a_round_of_another_term_or_without_leases_brings_none() {
    let mut leases = Leases::new(PROMISE, false);
    leases.confirmed(begun(ms(1000), 6), (7, 3), ms(1001));
    let follower = Begun {
        at: ms(1000),
        term: None,
    };
    leases.confirmed(follower, (7, 3), ms(1001));
    assert_eq!(leases.held(7, ms(1001)), None);
    let mut without = Leases::new(Duration::ZERO, false);
    without.confirmed(begun(ms(1000), 7), (7, 3), ms(1001));
    assert_eq!(without.held(7, ms(1001)), None);
}

#[test]
fn who_hands_the_lead_over_has_no_lease_in_that_term_any_more() {
    let mut leases = Leases::new(PROMISE, false);
    leases.confirmed(begun(ms(1000), 7), (7, 3), ms(1001));
    leases.hand_over(7);
    assert_eq!(leases.held(7, ms(1001)), None);
    leases.confirmed(begun(ms(1100), 7), (7, 3), ms(1101));
    assert_eq!(leases.held(7, ms(1101)), None);
    leases.confirmed(begun(ms(1200), 9), (9, 5), ms(1201));
    assert!(leases.held(9, ms(1201)).is_some());
}

#[test]
fn news_are_told_once_and_who_does_not_lead_has_none() {
    let mut leases = Leases::new(PROMISE, false);
    assert_eq!(leases.news(Some(7)), None);
    leases.confirmed(begun(ms(1000), 7), (7, 3), ms(1001));
    leases.confirmed(begun(ms(1100), 7), (7, 9), ms(1101));
    let lease = Lease {
        until: ms(1500),
        index: 3,
    };
    assert_eq!(leases.news(Some(7)), Some(Some(lease)));
    assert_eq!(leases.news(Some(7)), None);
    assert_eq!(leases.news(None), Some(None));
    assert_eq!(leases.held(7, ms(1101)), None);
}
