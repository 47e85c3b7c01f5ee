//! Tests of records.

use std::time::Duration;

use super::*;

#[test]
fn engine_work_is_the_difference_of_two_readings() {
    // 100 bytes of the user became 350 of the engine; what does not move is not listed.
    let before = Counters {
        user_bytes: Some(1000),
        written_bytes: Some(2000),
        stall: Some(Duration::from_secs(1)),
        own: vec![("a".into(), 5), ("b".into(), 7)],
        ..Counters::default()
    };
    let after = Counters {
        user_bytes: Some(1100),
        written_bytes: Some(2350),
        stall: Some(Duration::from_secs(3)),
        debt_bytes: Some(9),
        own: vec![("a".into(), 5), ("b".into(), 8)],
        ..Counters::default()
    };
    let work = EngineWork::between(&before, &after);
    assert_eq!(work.write_amplification, Some(3.5));
    assert_eq!((work.stall_s, work.debt_bytes), (Some(2.0), Some(9)));
    assert_eq!(work.own, [("b".to_owned(), 1)]);
}
