//! Filters against what the standard library says.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Filter, contains};
use crate::dice::Dice;
use crate::message::data::FilterType;

#[test]
fn each_kind_looks_where_it_should() {
    let matches = |kind, pattern: &[u8], bytes: &[u8]| {
        Filter::new(FilterType(kind), pattern)
            .unwrap()
            .matches(bytes)
    };
    assert!(matches(0, b"x", b"abc"));
    assert!(matches(1, b"b", b"abc") && !matches(1, b"x", b"abc"));
    assert!(matches(2, b"ab", b"abc") && !matches(2, b"bc", b"abc"));
    assert!(matches(3, b"bc", b"abc") && !matches(3, b"ab", b"abc"));
    for kind in 0..4 {
        assert!(matches(kind, b"", b"abc") && matches(kind, b"", b""));
    }
    for kind in [-1, 4, i32::MAX] {
        assert_eq!(Filter::new(FilterType(kind), b""), None);
    }
}

#[test]
fn only_a_prefix_narrows_a_range() {
    for (kind, prefix) in [(0, &b""[..]), (1, b""), (2, b"ab"), (3, b"")] {
        let filter = Filter::new(FilterType(kind), b"ab").unwrap();
        assert_eq!(filter.prefix(), prefix);
    }
}

#[test]
fn a_part_is_found_wherever_it_stands() {
    let mut dice = Dice::new(4);
    for _ in 0..5000 {
        let bytes: Vec<u8> = dice.bytes(8).iter().map(|byte| byte % 2).collect();
        let part: Vec<u8> = dice.bytes(3).iter().map(|byte| byte % 2).collect();
        let is_there = part.is_empty() || bytes.windows(part.len()).any(|window| window == part);
        assert_eq!(contains(&bytes, &part), is_there);
    }
}

/// Looks of the test below, and how often somebody else may go through the same bytes meanwhile:
/// about a dozen times in each; tens of thousands, if each place is looked at anew.
const LOOKS: usize = 10;
const PASSES_MAX: usize = 1000 * LOOKS;

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "what two threads get done at the same time is compared"
)]
fn looking_takes_time_linear_in_what_is_looked_through() {
    // Half a million places at which half a million bytes agree but for the last: 2^38 comparisons
    // if each place is looked at anew, several seconds. Who goes through the bytes one by one
    // meanwhile gets through far more often; a machine that does much else slows both.
    let bytes = vec![b'a'; 1 << 20];
    let mut part = vec![b'a'; 1 << 19];
    part.push(b'b');
    let (is_over, passes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let are_too_many = || passes.load(Ordering::SeqCst) >= PASSES_MAX;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::SeqCst) && !are_too_many() {
                let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
                assert_eq!(black_box(sum), u64::from(b'a') << 20);
                passes.fetch_add(1, Ordering::SeqCst);
            }
        });
        for _ in 0..LOOKS {
            assert!(!contains(black_box(&bytes), &part));
            if are_too_many() {
                break;
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let passes = passes.load(Ordering::SeqCst);
    println!("{passes} passes beside {LOOKS} looks");
    assert!(
        !are_too_many(),
        "{passes} passes beside {LOOKS} looks at most"
    );
}
