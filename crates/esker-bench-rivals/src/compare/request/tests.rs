//! Command lines as people write them, and as they get them wrong.

use super::*;

fn parse(line: &str) -> Outcome<Option<Request>> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Request::parse(&words)
}

#[test]
fn both_spellings_of_a_flag_are_read() {
    // `--num=5` and `--num 5` are the same.
    let request = parse("--num=5 --rounds 2 --packing=zstd")
        .expect("a request")
        .expect("no help");
    assert_eq!((request.num, request.reads, request.rounds), (5, 5, 2));
    assert_eq!(request.settings.packing, Some(Packing::Zstd(3)));
}

#[test]
fn nonsense_is_refused_by_name() {
    // Each of these says what is wrong with it and touches nothing.
    for (line, word) in [
        ("--nun=5", "--nun"),
        ("--num=0", "--num"),
        ("--num", "--num"),
        ("--lines=fillsqe", "fillsqe"),
        ("--packing=brotli", "zstd"),
        ("--filter_bits=-1", "--filter_bits"),
        ("--limits=perhaps", "yes or no"),
        ("--history=h.tsv --keep_history=maybe", "yes or no"),
        ("--keep_history=yes", "--history=FILE"),
    ] {
        let failure = parse(line).expect_err(line);
        assert_eq!(failure.exit_code(), 2, "{line}");
        assert!(
            failure.message.contains(word),
            "{line}: {}",
            failure.message
        );
    }
}
