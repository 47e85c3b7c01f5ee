//! Tests of `history`.

use super::*;
use crate::fail::FailureKind;

fn run(commit: &str, started_unix_s: u64, ratios: &[(&str, f64)]) -> Past {
    let ratios = ratios.iter().map(|(name, ratio)| ((*name).into(), *ratio));
    Past {
        commit: commit.into(),
        started_unix_s,
        ratios: ratios.collect(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    // Two runs of one commit are two runs; no file is no history.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.tsv");
    assert_eq!(read(&path), Ok(Vec::new()));
    let all = vec![
        run("abc", 10, &[("fill", 1.5), ("read", 2.25)]),
        run("abc", 20, &[("fill", 1.625)]),
        run("def", 30, &[("fill", 0.5), ("read", 2.0)]),
    ];
    write(&path, &all).unwrap();
    assert_eq!(read(&path), Ok(all));
}

#[test]
fn a_line_that_is_none_is_named() {
    // Too few fields, too many, a ratio that is none; nothing is guessed.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.tsv");
    for line in [
        "abc",
        "abc\t10\tfill",
        "abc\t10\tfill\t1.0\tmore",
        "abc\tnoon\tfill\t1.0",
        "abc\t10\tfill\tNaN",
        "abc\t10\tfill\t-1",
        "abc\t10\t\t1.0",
    ] {
        fs::write(&path, format!("{HEAD}{line}\n")).unwrap();
        let failure = read(&path).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        assert!(failure.message.contains("line 2"), "{failure}");
    }
}
