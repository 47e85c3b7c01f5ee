//! Tests of the goals of large values on numbers made by hand.

use super::*;

#[test]
fn the_median_decides_and_what_was_not_measured_is_open() {
    // Puts meet their goal in the middle, space does not, and nothing was got.
    let shares = Shares {
        puts: vec![0.5, 0.98, 1.2],
        written: vec![1.0],
        overwrites: vec![0.69],
        spaces: vec![1.2, 1.4],
        ..Shares::default()
    };
    let verdicts = shares.judge();
    let met: Vec<_> = verdicts.iter().map(|one| one.is_met).collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(met, [yes, yes, None, no, yes]);
    assert_eq!(verdicts[1].asked, "1.02 bytes written for one at most");
}
