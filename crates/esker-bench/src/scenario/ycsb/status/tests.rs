//! Tests of the status line.

use super::*;
use crate::scenario::ycsb::meter::Metric;
use crate::scenario::ycsb::reply::Reply;

#[test]
fn the_line_is_ycsb_s() {
    // Ten seconds into a run, two reads since the last line.
    let mut tally = Tally::default();
    for micros in [20, 40] {
        tally.check(Metric::Read, Duration::from_micros(micros), Reply::Ok);
    }
    let progress = Progress {
        elapsed: Duration::from_millis(10_020),
        elapsed_since: Duration::from_secs(4),
        ops: 1002,
        ops_since: 395,
        ops_left: 12_000,
    };
    let now = UNIX_EPOCH + Duration::from_millis(1_767_268_800_123);
    assert_eq!(
        line("x ", now, &progress, &tally),
        "x 2026-01-01 12:00:00:123 10 sec: 1002 operations; 98.75 current ops/sec; \
         est completion in 2 minutes [READ: Count=2, Max=40, Min=20, Avg=30.01, 50=20, 90=40, \
         99=40, 99.9=40, 99.99=40] "
    );
}

#[test]
fn the_time_left_is_said_roughly() {
    // The larger the unit, the fewer of the smaller ones.
    let told = [0, 1, 59, 60, 61, 3600, 3660, 90_061, 172_800].map(remaining);
    assert_eq!(
        told,
        [
            "0 seconds ",
            "1 second ",
            "59 seconds ",
            "1 minute ",
            "1 minute ",
            "1 hour ",
            "1 hour 1 minute ",
            "1 day 1 hour ",
            "2 days "
        ]
    );
}
