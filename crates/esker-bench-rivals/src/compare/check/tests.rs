//! Command lines that are looked at, and not carried out.

use super::*;

fn looked_at(line: &str) -> Outcome {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    check(&words)
}

#[test]
fn what_makes_sense_passes_whatever_was_built_in() {
    for line in [
        "",
        "--help",
        "--num=5 --engines=esker,rocksdb,lmdb",
        "reviews",
        "reviews --json=nowhere/a.json --html=nowhere/a.html --scale=0.5",
        "reviews --help",
    ] {
        assert_eq!(looked_at(line), Ok(()), "{line}");
    }
}

#[test]
fn what_makes_none_is_refused_by_name() {
    for (line, word) in [
        ("--nun=5", "--nun"),
        ("--engines=rocksbd", "rocksbd"),
        ("reviews --html=a.html", "--json"),
        ("reviews --scael=1", "--scael"),
    ] {
        let failure = looked_at(line).expect_err(line);
        assert_eq!(failure.exit_code(), 2, "{line}");
        assert!(failure.message.contains(word), "{line}: {failure}");
    }
}
