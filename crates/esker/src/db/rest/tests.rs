//! Tests of the books of a database at rest.

use super::{Next, Rest};

fn looking() -> Rest {
    let mut rest = Rest::default();
    assert!(rest.note_write());
    assert!(!rest.note_write());
    assert!(!rest.begin_look());
    rest
}

#[test]
fn a_write_before_a_look_settles_keeps_the_limits_of_load() {
    // The look has begun and not yet settled: what it settles is not what was written since.
    let mut rest = looking();
    assert!(!rest.note_write());
    assert!(!rest.settle());
    assert!(!rest.is_settling());
    assert_eq!(rest.end_look(false), Next::WatchAnew);
    // The timer is there, so the next write needs none.
    assert!(!rest.note_write());
}

#[test]
fn a_write_after_a_look_settled_is_followed_by_a_timer() {
    for has_more in [false, true] {
        let mut rest = looking();
        assert!(rest.settle());
        assert!(!rest.note_write());
        assert!(!rest.is_settling());
        assert_eq!(rest.end_look(has_more), Next::WatchAnew);
    }
}

#[test]
fn a_look_that_nobody_overtakes_sleeps_once_nothing_is_left() {
    let mut rest = looking();
    assert!(rest.settle());
    assert_eq!(rest.end_look(true), Next::LookAgain);
    assert!(!rest.begin_look());
    assert!(rest.settle());
    assert_eq!(rest.end_look(false), Next::Sleep);
    assert!(rest.is_settling());
    assert!(rest.note_write());
    assert!(!rest.is_settling());
}

#[test]
fn what_is_put_off_for_a_load_begins_once_the_database_is_at_rest() {
    let mut rest = Rest::default();
    assert!(rest.note_load());
    assert!(rest.is_loaded() && !rest.is_put_off());
    rest.put_off();
    assert!(!rest.note_load());
    assert!(!rest.note_unrest());
    assert!(rest.is_loaded() && rest.is_put_off());
    assert!(rest.begin_look());
    assert!(!rest.is_loaded() && !rest.is_put_off());
    // It was told once.
    assert!(rest.settle());
    assert_eq!(rest.end_look(false), Next::Sleep);
    assert!(rest.note_write());
    assert!(!rest.begin_look());
}

#[test]
fn what_is_put_off_for_a_load_begins_once_little_is_written() {
    // Whoever writes a little all the time never lets it rest.
    let mut rest = Rest::default();
    assert!(rest.note_load());
    rest.put_off();
    assert!(!rest.note_unrest());
    assert!(!rest.note_unrest());
    // Another memtable became full: the looks count anew.
    assert!(!rest.note_load());
    assert!(!rest.note_unrest());
    assert!(!rest.note_unrest());
    assert!(!rest.note_write());
    assert!(rest.note_unrest());
    assert!(!rest.is_loaded());
    assert!(!rest.note_unrest());
}

#[test]
fn a_timer_that_gives_up_leaves_nothing_put_off() {
    let mut rest = Rest::default();
    assert!(rest.note_load());
    assert!(!rest.stop());
    assert!(rest.note_load());
    rest.put_off();
    assert!(rest.stop());
    assert!(!rest.is_loaded() && !rest.is_put_off());
}
