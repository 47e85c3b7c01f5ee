//! Tests of what is measured under which name.

use super::*;

const TIMES: Times = Times {
    actual: Duration::from_micros(10),
    intended: Duration::from_micros(90),
};

#[test]
fn failures_have_a_name_of_their_own() {
    // Both intervals; all failures together; replies with the actual latencies.
    let mut tally = Tally::default();
    for reply in [Reply::Ok, Reply::NotFound, Reply::Error] {
        tally.operation(Metric::Read, TIMES, reply);
    }
    let told = tally.rows().into_iter().map(|row| {
        let replies = row.replies.iter();
        let replies = replies.map(|(reply, count)| format!("{}={count}", reply.name()));
        format!("{} {}", row.name, replies.collect::<Vec<_>>().join(","))
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
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
    let mut tally = Tally::default();
    tally.operation(Metric::Read, TIMES, Reply::NotFound);
    let mut all = Tally::default();
    all.merge(&tally);
    all.merge(&tally);
    let rows = all.rows();
    assert_eq!(rows[0].name, "READ");
    assert!(rows[0].latencies.is_none());
    assert_eq!(rows[0].replies, [(Reply::NotFound, 2)]);
    assert_eq!(rows[1].name, "READ-FAILED");
    assert_eq!(rows[1].latencies.unwrap().count(), 2);
    assert_eq!(all.count_all(Reply::NotFound), 2);
}
