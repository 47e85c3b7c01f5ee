//! What a command line asks for.

use super::*;

fn parse(line: &str) -> Outcome<SqlRequest> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    SqlRequest::parse(&words)
}

#[test]
fn engines_keep_their_order_and_all_play_unless_some_are_named() {
    assert_eq!(parse("").unwrap().contenders(), Contender::ALL);
    let some = parse("--engine innodb --engine esker").unwrap();
    assert_eq!(some.contenders(), [Contender::Esker, Contender::Innodb]);
}

#[test]
fn lines_are_all_unless_some_are_named() {
    assert!(parse("").unwrap().wants(Line::Mix));
    let some = parse("--only reads --only commits").unwrap();
    assert!(some.wants(Line::Reads) && some.wants(Line::Commits) && !some.wants(Line::Mix));
}

#[test]
fn what_makes_no_sense_is_told() {
    for line in [
        "--engine oracle",
        "--scale=0",
        "--scale=2",
        "--size=huge",
        "--rounds=0",
    ] {
        let refused = parse(line).expect_err(line);
        assert_eq!(refused.exit_code(), 2, "{line}");
    }
}
