//! Tests of the acknowledged counter.

use super::*;

#[test]
fn a_gap_holds_the_limit() {
    // 100 and 102 are there, 101 is not: readers stay below 101 until it comes.
    let counter = Acknowledged::new(100);
    assert_eq!(
        [counter.next(), counter.next(), counter.next()],
        [100, 101, 102]
    );
    assert_eq!(counter.count(), 100);
    counter.acknowledge(100);
    counter.acknowledge(102);
    assert_eq!(counter.count(), 101);
    counter.acknowledge(101);
    assert_eq!(counter.count(), 103);
}

#[test]
fn threads_leave_no_number_behind() {
    // Four threads take and acknowledge; in the end all are below the limit.
    let counter = Acknowledged::new(7);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5000 {
                    let number = counter.next();
                    counter.acknowledge(number);
                }
            });
        }
    });
    assert_eq!(counter.count(), 20_007);
}
