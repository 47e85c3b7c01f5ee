//! Tests of the other forms, line by line as YCSB has them.

use super::*;
use crate::scenario::ycsb::details::{Interval, Moment};
use crate::scenario::ycsb::measurement_type::Kept;

fn micros(all: &[u64]) -> Latencies {
    let mut latencies = Latencies::new();
    for one in all {
        latencies.add(Duration::from_micros(*one));
    }
    latencies
}

fn texts(rows: &[Row]) -> Vec<String> {
    let text = |row: &Row| match row.value {
        Value::Whole(number) => format!("{} {number}", row.measurement),
        Value::Real(number) => format!("{} {number:.1}", row.measurement),
        Value::MinusOne => format!("{} -1", row.measurement),
    };
    rows.iter().map(text).collect()
}

#[test]
fn buckets_are_of_a_millisecond() {
    // Nineteen of half a millisecond and one of 7: the 95th hundredth lies in the first bucket.
    let mut all = vec![512; 19];
    all.push(7_100);
    let replies = [Row::new("READ", "Return=OK", Value::Whole(20))];
    let rows = bucket_rows("READ", &micros(&all), 3, &replies, true);
    let texts = texts(&rows);
    assert_eq!(texts[0], "Operations 20");
    assert_eq!(texts[3..5], ["MinLatency(us) 512", "MaxLatency(us) 7102"]);
    assert_eq!(
        texts[5..],
        [
            "95thPercentileLatency(us) 0",
            "Return=OK 20",
            "0 19",
            "1 0",
            "2 0",
            ">3 1"
        ]
    );
}

#[test]
fn series_tells_the_mean_of_each_interval() {
    // Two in the first half second, none in the second, one in the third; merged from two threads.
    let moment = |ms| Moment {
        kept: Kept::Intervals(Duration::from_millis(500)),
        since: Duration::from_millis(ms),
        unix_ms: 0,
    };
    let (mut one, mut two) = (Details::default(), Details::default());
    one.add(&moment(10), Duration::from_micros(100));
    one.add(&moment(1100), Duration::from_micros(40));
    two.add(&moment(499), Duration::from_micros(300));
    two.merge(&one);
    assert_eq!(
        two.intervals[0],
        Interval {
            count: 2,
            sum_us: 400
        }
    );
    let latencies = micros(&[100, 40, 300]);
    let rows = series_rows("READ", &latencies, &two, Duration::from_millis(500), &[]);
    assert_eq!(texts(&rows)[4..], ["0 200.0", "1000 40.0"]);
}

#[test]
fn raw_tells_each_and_a_summary() {
    // A hundred operations of 1 to 100 microseconds; without any there is no summary.
    let singles: Vec<Single> = (1..=100)
        .map(|took_us| Single {
            unix_ms: 5,
            took_us,
        })
        .collect();
    let told = texts(&raw_rows("READ", &singles, true, &[]));
    assert_eq!(
        told[..5],
        [
            "Total Operations 100",
            "Below is a summary of latency in microseconds: -1",
            "Average 50.5",
            "Min 1",
            "Max 100"
        ]
    );
    assert_eq!((told[7].as_str(), told[10].as_str()), ("p50 51", "p99 100"));
    assert_eq!(raw_rows("READ", &singles, false, &[]).len(), 1);
    assert_eq!(raw_rows("READ", &[], true, &[]).len(), 1);
}
