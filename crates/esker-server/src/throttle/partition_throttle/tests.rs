//! Limits on a clock that the tests move.

use std::collections::BTreeMap;

use super::*;
use crate::throttle::table_limits::{DENIAL, READ_BYTES, READ_COUNT, WRITE_BYTES, WRITE_COUNT};

fn limits(envs: &[(&str, &str)]) -> TableLimits {
    let owned = |row: &(&str, &str)| (row.0.to_owned(), row.1.to_owned());
    let envs: BTreeMap<String, String> = envs.iter().map(owned).collect();
    TableLimits::of(&envs, 1).expect("limits")
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn calls_beyond_a_limit_wait_and_further_ones_are_refused() {
    // A share of a limit of 3 is 4: rounded down, and one more.
    let limits = limits(&[(WRITE_COUNT, "3*delay*100,5*reject*200")]);
    let throttle = PartitionThrottle::default();
    let verdicts: Vec<Verdict> = (0..8)
        .map(|call| throttle.admit(&limits, Arriving::Write(1), ms(7000 + call)))
        .collect();
    assert_eq!(verdicts[..4], [Verdict::Now; 4]);
    assert_eq!(verdicts[4..6], [Verdict::Later(ms(100)); 2]);
    assert_eq!(verdicts[6..], [Verdict::Rejected(ms(200)); 2]);
    // Reads have a limit of their own, here none.
    let read = throttle.admit(&limits, Arriving::Read, ms(7500));
    assert_eq!(read, Verdict::Now);
    let next = throttle.admit(&limits, Arriving::Write(1), ms(8000));
    assert_eq!(next, Verdict::Now, "another second has begun");
}

#[test]
fn a_table_that_is_flooded_is_asked_for_as_much_as_it_takes() {
    // A hundred calls a millisecond, of which a hundred a second are let in: for ten seconds.
    let limits = limits(&[(READ_COUNT, "99*reject*0")]);
    let throttle = PartitionThrottle::default();
    let calls = (0..1_000_000).map(|call| ms(call / 100));
    let let_in = calls.filter(|now| throttle.admit(&limits, Arriving::Read, *now) == Verdict::Now);
    assert_eq!(let_in.count(), 1000);
}

#[test]
fn long_writes_count_by_their_bytes() {
    let limits = limits(&[
        (WRITE_COUNT, "1K*delay*5"),
        (WRITE_BYTES, "10K*delay*50,20K*reject*0"),
    ]);
    let throttle = PartitionThrottle::default();
    let write = |bytes| throttle.admit(&limits, Arriving::Write(bytes), ms(1));
    assert_eq!(write(10_000), Verdict::Now);
    assert_eq!(write(2), Verdict::Later(ms(50)));
    assert_eq!(write(20_000), Verdict::Rejected(ms(0)));
    assert_eq!(
        write(9_000),
        Verdict::Later(ms(50)),
        "what was refused does not count"
    );
    assert_eq!(write(usize::MAX), Verdict::Rejected(ms(0)));
}

#[test]
fn of_two_limits_the_stricter_one_counts() {
    let limits = limits(&[
        (WRITE_COUNT, "0*delay*300"),
        (WRITE_BYTES, "0*delay*50,10*reject*70"),
    ]);
    let throttle = PartitionThrottle::default();
    let write = |bytes| throttle.admit(&limits, Arriving::Write(bytes), ms(1));
    assert_eq!(write(1), Verdict::Now);
    assert_eq!(write(1), Verdict::Later(ms(300)));
    assert_eq!(write(100), Verdict::Rejected(ms(70)));
}

#[test]
fn bytes_of_reads_are_paid_afterwards() {
    // A thousand bytes a second. What is read may be more than there is; then it is waited for.
    let limits = limits(&[(READ_BYTES, "1000")]);
    let throttle = PartitionThrottle::default();
    let read = |now| throttle.admit(&limits, Arriving::Read, now);
    assert_eq!(read(ms(5000)), Verdict::Now);
    throttle.have_read(1000, 3000, ms(5000));
    assert_eq!(read(ms(6999)), Verdict::Rejected(ms(0)));
    assert_eq!(read(ms(7001)), Verdict::Now);
    // However much it was, and however long nobody asked.
    throttle.have_read(1000, 1 << 40, ms(7001));
    assert_eq!(read(ms(17_000)), Verdict::Rejected(ms(0)));
    assert_eq!(read(ms(17_002)), Verdict::Now);
    throttle.have_read(1000, 2000, ms(90_000));
    assert_eq!(read(ms(90_900)), Verdict::Rejected(ms(0)));
    assert_eq!(read(ms(91_001)), Verdict::Now);
}

#[test]
fn whoever_is_denied_is_denied_before_anything_is_counted() {
    let limits = limits(&[(DENIAL, "reconfig*write"), (WRITE_COUNT, "0*reject*0")]);
    let throttle = PartitionThrottle::default();
    let denied = Verdict::Denied(Denied::Elsewhere);
    for _ in 0..5 {
        assert_eq!(throttle.admit(&limits, Arriving::Write(1), ms(1)), denied);
        assert_eq!(throttle.admit(&limits, Arriving::Read, ms(1)), Verdict::Now);
    }
}

#[test]
fn settings_of_a_table_are_shared_by_its_partitions() {
    let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let envs = BTreeMap::from([
        text(READ_COUNT, "800*reject*0"),
        text(READ_BYTES, "8K"),
        text("default_ttl", "5"),
    ]);
    let limits = TableLimits::of(&envs, 8).expect("limits");
    assert_eq!(limits.read_count.reject.map(|step| step.units), Some(101));
    assert_eq!(limits.read_bytes, Some(1000));
    let none = BTreeMap::from([text("default_ttl", "5")]);
    assert_eq!(TableLimits::of(&none, 8), None);
    // A setting that meta would refuse limits nothing.
    let odd = BTreeMap::from([text(READ_COUNT, "many"), text(DENIAL, "everybody")]);
    assert_eq!(TableLimits::of(&odd, 8), None);
}

#[test]
fn who_looked_at_the_clock_earlier_does_not_begin_the_second_anew() {
    // At the border of a second two threads come in the other order.
    let limits = limits(&[(READ_COUNT, "1*reject*0")]);
    let throttle = PartitionThrottle::default();
    let read = |at| throttle.admit(&limits, Arriving::Read, ms(at));
    assert_eq!([read(2000), read(1999)], [Verdict::Now; 2]);
    let refused = Verdict::Rejected(ms(0));
    assert_eq!([read(2001), read(1999), read(2002)], [refused; 3]);
    assert_eq!(read(3000), Verdict::Now);
}
