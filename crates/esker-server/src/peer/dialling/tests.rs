//! How a link waits.

use super::*;

#[test]
fn rests_are_scattered_by_a_fifth() {
    let rest = Duration::from_secs(1);
    let drawn: Vec<Duration> = (0..1000).map(|seed| scattered(rest, seed)).collect();
    let shortest = drawn.iter().min().unwrap();
    let longest = drawn.iter().max().unwrap();
    assert_eq!(*shortest, Duration::from_millis(800));
    assert_eq!(*longest, Duration::from_millis(1200));
}
