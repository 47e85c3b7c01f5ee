//! Tests of what the own log has said of sealed memtables.

use std::sync::Arc;

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::comparator::Comparator;
use crate::base::types::seqno::SeqNo;
use crate::store::mem::memtable::Memtable;

fn sealed(mark: Option<&str>) -> Sealed {
    let writer = Memtable::create(Comparator::Bytewise, None);
    Sealed {
        table: Arc::clone(writer.table()),
        first_log: None,
        clock_ms: None,
        mark: mark.map(|mark| Bytes::copy_of(mark.as_bytes())),
        last_seqno: SeqNo::ZERO,
        reason: FlushReason::Manual,
    }
}

const NOW: Duration = Duration::from_secs(100);

#[test]
fn memtables_up_to_the_last_yes_are_cleared() {
    let hold = FlushHold::default();
    let unmarked = [sealed(None), sealed(None)];
    assert_eq!(hold.cleared_count(&unmarked), 2);
    let all = [None, Some("1"), Some("2"), Some("2"), Some("3")].map(sealed);
    assert_eq!(hold.cleared_count(&all), 1);
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    let (yes, no) = (all[3].mark.clone(), all[4].mark.clone());
    assert!(!hold.answer(&question, yes, no));
    // Those without a mark of their own go with the one before.
    assert_eq!(hold.cleared_count(&all), 4);
    assert_eq!(hold.cleared_count(&all[..3]), 3);
    assert_eq!(hold.cleared_count(&all[4..]), 0);
    assert!(hold.is_parked(NOW) && hold.is_refused());
}

#[test]
fn it_is_asked_once_for_each_mark_until_it_is_told() {
    let hold = FlushHold::default();
    let (one, two) = (sealed(Some("1")), sealed(Some("2")));
    assert!(!hold.wants_asking(&sealed(None), NOW));
    assert!(!hold.told(NOW));
    assert!(hold.wants_asking(&one, NOW));
    assert!(!hold.wants_asking(&one, NOW) && !hold.wants_asking(&two, NOW));
    assert_eq!(hold.take_flushed(), None);
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.answer(&question, None, one.mark.clone()));
    assert!(!hold.wants_asking(&one, NOW));
    // A newer one may have a yes.
    assert!(hold.wants_asking(&two, NOW));
    assert_eq!(hold.take_flushed(), None);
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.answer(&question, None, two.mark.clone()));
    assert!(hold.told(NOW));
    // It is queued: who tells again, or looks again, need not.
    assert!(!hold.told(NOW) && !hold.wants_asking(&two, NOW));
    assert_eq!(hold.take_flushed(), None);
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.answer(&question, two.mark.clone(), None));
    assert!(!hold.told(NOW) && !hold.is_parked(NOW));
    assert_eq!(hold.cleared_count(&[one, two]), 2);
}

#[test]
fn a_no_that_was_overtaken_is_asked_again() {
    let hold = FlushHold::default();
    let one = sealed(Some("1"));
    assert!(hold.wants_asking(&one, NOW));
    hold.take_flushed();
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.told(NOW) && !hold.wants_asking(&one, NOW));
    assert!(hold.answer(&question, None, one.mark.clone()));
    assert!(!hold.is_refused());
    hold.take_flushed();
    let question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.answer(&question, one.mark.clone(), None));
    assert_eq!(hold.cleared_count(&[one]), 1);
}

#[test]
fn a_call_that_does_not_return_is_a_no_to_who_waits_for_others() {
    // Also where it is about another keyspace, and the question waits behind it.
    let hold = FlushHold::default();
    assert!(hold.wants_asking(&sealed(Some("1")), NOW));
    assert!(!hold.is_parked(NOW) && hold.is_parked(NOW + ANSWER_MAX));
    hold.has_nothing_to_ask();
    assert!(!hold.is_parked(NOW + ANSWER_MAX));
    let hold = FlushHold::default();
    let _question = hold.ask(Bytes::copy_of(b"1"), NOW);
    assert!(!hold.is_parked(NOW));
    assert!(hold.is_parked(NOW + ANSWER_MAX));
}

#[test]
fn of_two_flushes_the_last_is_told() {
    let hold = FlushHold::default();
    assert!(hold.note_flushed(Bytes::copy_of(b"1")));
    assert!(!hold.note_flushed(Bytes::copy_of(b"2")));
    assert_eq!(hold.take_flushed().as_deref(), Some(&b"2"[..]));
    assert_eq!(hold.take_flushed(), None);
}
