//! Tests of what is measured under which name.

use super::*;

fn names(span: Span) -> Vec<String> {
    let mut tally = Tally::default();
    let times = Times {
        actual: Duration::from_micros(10),
        intended: Duration::from_micros(90),
    };
    tally.operation(span, Metric::Read, times, Reply::Ok);
    tally.operation(span, Metric::Read, times, Reply::NotFound);
    tally.operation(span, Metric::Read, times, Reply::Error);
    let rows = tally.rows(span);
    let told = rows.iter().map(|row| {
        let replies: Vec<_> = row
            .replies
            .iter()
            .map(|(reply, count)| format!("{}={count}", reply.name()))
            .collect();
        format!("{} {}", row.name, replies.join(","))
    });
    told.collect()
}

#[test]
fn failures_have_a_name_of_their_own() {
    // Both intervals; all failures together; replies with the actual latencies.
    assert_eq!(
        names(Span::from_properties(&Properties::default()).unwrap()),
        [
            "READ OK=1,ERROR=1,NOT_FOUND=1",
            "READ-FAILED ",
            "Intended-READ ",
            "Intended-READ-FAILED "
        ]
    );
}

#[test]
fn replies_without_a_success_are_told_too() {
    // Nothing was found: the replies stand under the plain name, which has no latencies.
    let span = Span::Actual;
    let mut tally = Tally::default();
    let times = Times {
        actual: Duration::ZERO,
        intended: Duration::ZERO,
    };
    tally.operation(span, Metric::Read, times, Reply::NotFound);
    let mut all = Tally::default();
    all.merge(&tally);
    all.merge(&tally);
    let rows = all.rows(span);
    assert_eq!(rows[0].name, "READ");
    assert!(rows[0].latencies.is_none());
    assert_eq!(rows[0].replies, [(Reply::NotFound, 2)]);
    assert_eq!(rows[1].name, "READ-FAILED");
    assert_eq!(rows[1].latencies.unwrap().count(), 2);
    assert_eq!(all.count_all(Reply::NotFound), 2);
}

#[test]
fn an_unknown_interval_is_refused() {
    // YCSB exits; so do we, with the words that would do.
    let mut properties = Properties::default();
    properties.set("measurement.interval", "wall");
    let told = Span::from_properties(&properties).unwrap_err();
    assert!(told.message.contains("op, intended or both"), "{told}");
}
