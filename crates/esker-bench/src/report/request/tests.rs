//! Command lines.

use super::*;

fn parse(line: &str) -> Outcome<Option<Request>> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Request::parse(&words)
}

#[test]
fn a_record_alone_becomes_a_page_beside_it() {
    // Unless another file is asked for; two records write nothing by themselves.
    let request = parse("runs/a.json").unwrap().unwrap();
    assert_eq!(request.html, Some("runs/a.html".into()));
    let request = parse("a.json --chart=a.svg").unwrap().unwrap();
    assert_eq!((request.html, request.svg), (None, Some("a.svg".into())));
    let request = parse("a.json b.json --json").unwrap().unwrap();
    assert!(request.is_json && request.outputs().next().is_none());
    let request = parse("a.json --only fill,read").unwrap().unwrap();
    assert_eq!(request.only, ["fill", "read"]);
    assert_eq!(parse("--help").unwrap(), None);
}

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    // Each is a mistake on the command line, and nothing was read yet.
    for (line, advice) in [
        ("", "name the record"),
        ("a b c", "leave out c"),
        ("a.json --chrat=x", "'--chart'"),
        ("a.json -o", "a value is required for '--output <FILE>'"),
        (
            "a.json --chart=",
            "a value is required for '--chart <FILE>'",
        ),
        ("a.json --only=", "a value is required for '--only"),
        ("a.json --json", "--json is for two runs"),
        ("a.tsv", "--chart"),
        ("a.tsv -o a.html --chart a.svg", "a chart only"),
        ("a.json -o a.json", "written over"),
        ("a.html", "written over"),
        ("a.json b.json --chart=c.svg", "of one"),
        ("a.json b.json -o p.html", "of one"),
        ("a.json -o x --chart=x", "written over"),
    ] {
        let failure = parse(line).unwrap_err();
        assert_eq!(failure.exit_code(), 2, "{line}");
        assert!(failure.message.contains(advice), "{line}: {failure}");
    }
}
