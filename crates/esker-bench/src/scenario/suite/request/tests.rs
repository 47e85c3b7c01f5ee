//! Tests of the command line.

use super::*;

fn parse(line: &str) -> Outcome<Request> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Request::parse(&words)
}

#[test]
fn options_are_read_with_and_without_equals() {
    // Both spellings, a setting twice, switches without a value.
    let request = parse(
        "reviews --size medium --dir=/there --rounds 4 --set a.b=1 --set=c=d=e --limit_by=cgroup \
         --growth --keep",
    )
    .unwrap();
    assert_eq!(
        (request.name.as_str(), request.size),
        ("reviews", Size::Medium)
    );
    assert_eq!(request.dir, PathBuf::from("/there"));
    assert_eq!(
        (request.rounds, request.limit_by),
        (Some(4), LimitBy::ControlGroup)
    );
    let own = [("a.b", "1"), ("c", "d=e")].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(request.own, own);
    assert!(request.is_growth && request.keeps_stores);
}

#[test]
fn mistakes_are_told_with_advice() {
    // Each says what would make sense.
    for (line, advice) in [
        ("reviews --size=huge", "small, medium or full"),
        ("reviews growth", "unexpected argument 'growth'"),
        ("reviews --rounds=0", "not in 1..=1000"),
        ("reviews --round=2", "'--rounds'"),
        ("reviews --set=a", "--set=name=value"),
        ("reviews --limit_by=hope", "setting, cgroup, either"),
        ("reviews --json", "a value is required"),
    ] {
        let failure = parse(line).unwrap_err();
        assert!(failure.message.contains(advice), "{line}: {failure}");
        assert_eq!(failure.exit_code(), 2);
    }
}

#[test]
fn a_scale_leaves_at_least_one() {
    // What tests run must not be nothing.
    let mut request = Request::plain("all");
    request.scale = 0.001;
    assert_eq!((request.scaled(5000), request.scaled(10)), (5, 1));
}
