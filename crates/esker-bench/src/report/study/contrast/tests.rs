//! Differences and noise.

use super::*;
use crate::report::sample::{record, round};

fn call(before: &[f64], after: &[f64]) -> Call {
    judge(before, after, true).expect("two numbers").call
}

#[test]
fn chance_is_counted_out() {
    // Five against five without overlap: 2 of the 252 orders. Three against three: 2 of 20.
    assert!((least_chance(5, 5) - 2.0 / 252.0).abs() < 1e-12);
    assert!((least_chance(3, 3) - 0.1).abs() < 1e-12);
    let five = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert!((chance(&five, &five.map(|it| it + 10.0)) - 2.0 / 252.0).abs() < 1e-12);
    // Heaps of the same numbers are as likely as any.
    assert!(chance(&five, &five) > 0.99);
    // One of the later ones beaten by one of the earlier: 1, 2, … pairs lost; twice 2 orders.
    let near = chance(&[1.0, 2.0, 3.0, 4.0, 5.0], &[4.5, 6.0, 7.0, 8.0, 9.0]);
    assert!((near - 4.0 / 252.0).abs() < 1e-12, "{near}");
}

#[test]
fn noise_and_difference_are_told_apart() {
    // Parted heaps are a difference, mixed ones are noise, whatever their medians say.
    let before = [100.0, 101.0, 102.0, 99.0, 98.0];
    assert_eq!(call(&before, &before.map(|it| it * 1.2)), Call::Better);
    assert_eq!(call(&before, &before.map(|it| it * 0.8)), Call::Worse);
    assert_eq!(
        call(&before, &[97.0, 103.0, 100.5, 99.5, 108.0]),
        Call::Noise
    );
    // Parted, but by less than anyone feels.
    assert_eq!(
        call(&[100.0, 100.1, 100.2], &[100.4, 100.5, 100.6]),
        Call::Noise
    );
    // Three rounds each: the heaps may not overlap at all.
    assert_eq!(call(&[1.0, 1.1, 1.2], &[1.3, 1.4, 1.5]), Call::Better);
    assert_eq!(call(&[1.0, 1.1, 1.35], &[1.3, 1.4, 1.5]), Call::Noise);
    // Of a latency less is better.
    assert_eq!(
        judge(&before, &before.map(|it| it * 1.2), false)
            .unwrap()
            .call,
        Call::Worse
    );
}

#[test]
fn one_round_leaves_noise_unknown() {
    // Beyond ten percent it is worth a word, but no more than that; zero compares with nothing.
    assert_eq!(call(&[100.0], &[109.0]), Call::Unknown);
    assert_eq!(call(&[100.0], &[112.0]), Call::PerhapsBetter);
    assert_eq!(call(&[100.0], &[80.0]), Call::PerhapsWorse);
    assert_eq!(judge(&[100.0], &[112.0], true).unwrap().chance, None);
    assert_eq!(judge(&[0.0], &[1.0], true), None);
    assert_eq!(judge(&[], &[1.0], true), None);
}

#[test]
fn what_only_one_run_has_is_named() {
    // Two workloads in common, one gone, one new.
    let before = record(vec![
        round("fill", "Esker", 0, 1.0),
        round("gone", "Esker", 0, 1.0),
    ]);
    let after = record(vec![
        round("new", "Esker", 0, 1.0),
        round("fill", "Esker", 0, 2.0),
    ]);
    let contrast = contrast(&Study::of(&before), &Study::of(&after));
    assert_eq!(contrast.rows.len(), 1);
    assert_eq!(contrast.rows[0].rate.ratio, 2.0);
    assert_eq!(
        contrast.rows[0].p99.as_ref().unwrap().call,
        Call::PerhapsBetter
    );
    let name = |label: &str| (label.to_owned(), "Esker".to_owned());
    assert_eq!(contrast.only_before, [name("gone")]);
    assert_eq!(contrast.only_after, [name("new")]);
}
