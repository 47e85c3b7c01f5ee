//! Tests of choosing what to collect.

use super::*;

const SEGMENT: u64 = 1_000;

fn victims(settled: &[(u64, u64, u64)], max_space_amp: f64, stuck: &[u64]) -> Vec<u64> {
    let sizes: Vec<_> = settled
        .iter()
        .map(|(number, size_bytes, _)| SegmentSize {
            number: FileNumber(*number),
            size_bytes: *size_bytes,
            is_sealed: true,
        })
        .collect();
    let live = settled.iter();
    let live = live
        .map(|(number, _, live)| (FileNumber(*number), *live))
        .collect();
    let holdings = Holdings {
        settled: &sizes,
        live: &live,
        stuck: &stuck.iter().map(|number| FileNumber(*number)).collect(),
        segment_bytes: SEGMENT,
        spare_bytes: SEGMENT,
        max_space_amp,
    };
    holdings.victims().iter().map(|number| number.0).collect()
}

#[test]
fn nothing_is_moved_within_the_limit() {
    // Full segments, a little dead, and dead up to one segment's worth whatever the limit.
    assert!(victims(&[], 1.1, &[]).is_empty());
    assert!(victims(&[(1, 1_000, 1_000), (2, 1_000, 900)], 1.1, &[]).is_empty());
    assert!(victims(&[(1, 1_000, 10), (2, 1_000, 1_000)], 1.1, &[]).is_empty());
}

#[test]
fn the_emptiest_segments_go_first_and_no_more_than_needed() {
    // Ten segments half dead: five thousand of ten; a limit of 1.5 allows 2 500.
    let mut all: Vec<_> = (1..=10).map(|number| (number, 1_000, 500)).collect();
    all[6].2 = 100;
    all[2].2 = 200;
    let chosen = victims(&all, 1.5, &[]);
    assert!(chosen.contains(&7) && chosen.contains(&3), "{chosen:?}");
    let dead: u64 = all.iter().map(|(_, size, live)| size - live).sum();
    let live: u64 = all.iter().map(|(_, _, live)| live).sum();
    let freed: u64 = all
        .iter()
        .filter(|(number, ..)| chosen.contains(number))
        .map(|(_, size, live)| size - live)
        .sum();
    assert!(dead - freed <= live / 2);
    assert!(dead - freed + 500 > live / 2);
}

#[test]
fn one_step_moves_a_bounded_amount() {
    // A hundred segments with four fifths live: no more than four segments' worth at once.
    let all: Vec<_> = (1..=100).map(|number| (number, 1_000, 800)).collect();
    assert_eq!(victims(&all, 1.05, &[]).len(), 5);
    // But always one, however large.
    let giant = [(1, 90_000, 50_000), (2, 1_000, 1_000)];
    assert_eq!(victims(&giant, 1.1, &[]), [1]);
}

#[test]
fn segments_without_live_values_or_with_damage_stay_out() {
    // The first are removed by file deletion; the others could not be emptied.
    let all = [
        (1, 5_000, 0),
        (2, 5_000, 100),
        (3, 5_000, 200),
        (4, 5_000, 5_000),
    ];
    assert_eq!(victims(&all, 1.1, &[2]), [3]);
    assert_eq!(victims(&all, 1.1, &[]), [2, 3]);
}
