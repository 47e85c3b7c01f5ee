//! Tests of repeats.

use super::*;

#[test]
fn brackets_say_how_often() {
    // Warm-ups and runs in any order; what is neither is refused.
    let counts = |text| parse(text).map(|one| (one.name, one.warm_ups, one.runs));
    assert_eq!(counts("readseq"), Some(("readseq", 0, 1)));
    assert_eq!(counts("readseq[X5]"), Some(("readseq", 0, 5)));
    assert_eq!(counts("readseq[W2-X3]"), Some(("readseq", 2, 3)));
    assert_eq!(counts("readseq[x2-w1]"), Some(("readseq", 1, 2)));
    for wrong in ["a[", "a[X]", "a[X0]", "a[5]", "a[]"] {
        assert_eq!(counts(wrong), None, "{wrong}");
    }
}

#[test]
fn runs_are_summed_up() {
    // 100 and 300 operations a second: mean and median 200, and a wide interval.
    let mut repeats = Repeats::default();
    let run = |ops| ResultLine {
        name: "readseq".into(),
        ops,
        wall_s: 1.0,
        ..ResultLine::default()
    };
    assert_eq!(repeats.add(&run(100), false), None);
    let line = repeats.add(&run(300), false).unwrap();
    assert_eq!(
        line,
        "readseq [AVG 2 runs] : 200 (± 196) ops/sec;    0.0 (± 0.0) MB/sec\n"
    );
    let end = repeats.end("readseq", false);
    assert!(
        end.contains("readseq [AVG    2 runs] : 200 (± 196) ops/sec; 5.000 ms/op;"),
        "{end}"
    );
    assert!(
        end.contains("readseq [MEDIAN 2 runs] : 200 ops/sec;"),
        "{end}"
    );
}
