//! Tests of logarithms.

use super::*;

#[test]
fn logarithms_are_those_of_the_library() {
    // Small numbers all, large ones by steps: within a 65 536th below what the library says.
    let large = (1..4000).map(|step| step * 4_611_686_018_427_387);
    for number in (1..3000).chain(large) {
        let library = (number as f64).log2() * 65_536.0;
        let ours = log2_fixed(number) as f64;
        assert!((library - ours).abs() <= 1.5, "{number}: {library} {ours}");
    }
    assert_eq!(log2_fixed(0), 0);
}

#[test]
fn prices_are_bits_of_an_ideal_code() {
    // Halves, quarters, and the limits of what a byte holds.
    assert_eq!(price(1, 2), 8);
    assert_eq!(price(1, 4), 16);
    assert_eq!(price(4, 4), 1);
    assert_eq!(price(0, 1 << 20), 160);
    assert_eq!(price(1, u64::MAX), 255);
    assert_eq!(price(0, 0), 1);
}

#[test]
fn entropy_is_n_log_n_where_kept_and_beyond() {
    // Around the border of what is kept, and far beyond it.
    let entropy = Entropy::default();
    assert_eq!(entropy.of(0), 0.0);
    for number in [
        1,
        2,
        3,
        1000,
        32_767,
        32_768,
        32_769,
        65_537,
        1 << 40,
        (1 << 41) - 1,
    ] {
        let library = number as f64 * (number as f64).log2();
        assert!((entropy.of(number) - library).abs() <= number as f64 / 30_000.0);
    }
}
