//! A lease ends by the clock or by being taken back; its use is told once.

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn there_is_none_before_its_begin_after_its_end_and_once_it_is_taken_back() {
    let cell = LeaseCell::default();
    assert_eq!(cell.index(ms(0)), None);
    let (until, index) = (ms(500), 7);
    cell.set(Some(Lease { until, index }));
    assert_eq!((cell.index(ms(499)), cell.index(ms(500))), (Some(7), None));
    cell.set(None);
    assert_eq!(cell.index(ms(1)), None);
}

#[test]
fn use_is_told_once_until_it_is_forgotten() {
    let cell = LeaseCell::default();
    assert!(cell.note_use() && !cell.note_use());
    cell.forget_use();
    assert!(cell.note_use());
}
