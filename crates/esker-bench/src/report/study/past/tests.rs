//! Tests of `past`.

use super::*;

fn run(ratios: &[(&str, f64)]) -> Past {
    Past {
        ratios: ratios
            .iter()
            .map(|(label, ratio)| ((*label).into(), *ratio))
            .collect(),
        ..Past::default()
    }
}

#[test]
fn a_trail_has_the_runs_that_had_the_workload() {
    // The run between left one out; what the newest run lacks, or had first, has no trail.
    let runs = [
        run(&[("fill", 1.0), ("gone", 3.0)]),
        run(&[("gone", 3.0)]),
        run(&[("fill", 2.0), ("new", 4.0)]),
    ];
    let trails = trails(&runs);
    assert_eq!(trails.len(), 1);
    assert_eq!(trails[0].label, "fill");
    assert_eq!(trails[0].points, [(0, 1.0), (2, 2.0)]);
    assert_eq!(trails[0].ends(), Some((1.0, 2.0)));
    assert_eq!(super::trails(&[]), []);
}
