//! Tests of what is printed.

use std::time::Duration;

use super::*;
use crate::scenario::ycsb::meter::{Metric, Times};
use crate::scenario::ycsb::reply::Reply;

#[test]
fn the_text_is_ycsb_s() {
    // Line by line: names, order, commas, and how numbers are written.
    let mut tally = Tally::default();
    for micros in [10, 20, 30] {
        let took = Duration::from_micros(micros);
        let times = Times {
            actual: took,
            intended: took,
        };
        tally.operation(Metric::Read, times, Reply::Ok);
    }
    assert_eq!(
        overall(2000, 3) + &measured(&tally, &[50.0, 99.0, 99.9]),
        "[OVERALL], RunTime(ms), 2000\n\
         [OVERALL], Throughput(ops/sec), 1.5\n\
         [TOTAL_GCs], Count, 0\n\
         [TOTAL_GC_TIME], Time(ms), 0\n\
         [TOTAL_GC_TIME_%], Time(%), 0.0\n\
         [READ], Operations, 3\n\
         [READ], AverageLatency(us), 20.006666666666664\n\
         [READ], MinLatency(us), 10\n\
         [READ], MaxLatency(us), 30\n\
         [READ], 50thPercentileLatency(us), 20\n\
         [READ], 99thPercentileLatency(us), 30\n\
         [READ], 99.9PercentileLatency(us), 30\n\
         [READ], Return=OK, 3\n\
         [Intended-READ], Operations, 3\n\
         [Intended-READ], AverageLatency(us), 20.006666666666664\n\
         [Intended-READ], MinLatency(us), 10\n\
         [Intended-READ], MaxLatency(us), 30\n\
         [Intended-READ], 50thPercentileLatency(us), 20\n\
         [Intended-READ], 99thPercentileLatency(us), 30\n\
         [Intended-READ], 99.9PercentileLatency(us), 30\n"
    );
}

#[test]
fn wrong_percentiles_are_refused() {
    // YCSB warns and takes its default, and hours later the number is not there.
    let mut properties = Properties::default();
    properties.set("hdrhistogram.percentiles", "50,x");
    assert!(percentiles(&properties).is_err());
}
