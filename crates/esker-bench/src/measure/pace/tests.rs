//! Tests of timetables.

use super::*;

#[test]
fn threads_share_one_rate_in_turns() {
    // 100 operations a second by 4 threads: one every 10 ms, each thread every 40 ms.
    let begun = Instant::now();
    let mut due: Vec<u128> = (0..4)
        .flat_map(|index| {
            let mut pace = Pace::new(begun, 100.0, index, 4);
            (0..5).map(move |_| (pace.next_due() - begun).as_millis())
        })
        .collect();
    due.sort_unstable();
    let wanted: Vec<u128> = (0..20).map(|turn| turn * 10).collect();
    assert_eq!(due, wanted);
}

#[test]
fn what_is_overdue_starts_at_once() {
    // The timetable does not forgive: an operation that was due in the past does not wait.
    let us = Duration::from_micros;
    let rests = [0, 1, 80, 81, 1080].map(|left| Rest::of(us(left)));
    let [over, spin] = [Rest::Over, Rest::Spin];
    assert_eq!(
        rests,
        [over, spin, spin, Rest::Park(us(1)), Rest::Park(us(1000))]
    );
    wait_until(Instant::now());
}
