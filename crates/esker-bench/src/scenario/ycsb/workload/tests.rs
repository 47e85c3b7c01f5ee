//! Tests of checking workloads.

use super::*;
use crate::fail::FailureKind;
use crate::scenario::ycsb::builtin::{self, SHARED};

fn workload(text: &str) -> Outcome<Workload> {
    let mut properties = Properties::default();
    properties.add_text(text).unwrap();
    Workload::from_properties(&properties)
}

#[test]
fn the_six_workloads_are_what_they_are_known_for() {
    // By letter, by file name, by path; each with its choice and its thousand records.
    for (name, choice) in [
        ("a", Choice::Zipfian),
        ("workloadb", Choice::Zipfian),
        ("workloads/workloadc", Choice::Zipfian),
        ("D", Choice::Latest),
        ("/x/workloade", Choice::Zipfian),
        ("f", Choice::Zipfian),
    ] {
        let builtin = builtin::find(name).unwrap();
        let workload = workload(&format!("{SHARED}{}", builtin.text)).unwrap();
        assert_eq!(workload.choice, choice, "{name}");
        assert_eq!(
            (workload.record_count, workload.operation_count),
            (1000, 1000)
        );
        assert_eq!(workload.field_names[9], "field9");
    }
    assert!(builtin::find("workloadg").is_none());
    assert!(builtin::find("workloadaa").is_none());
}

#[test]
fn what_makes_no_sense_is_refused() {
    // Each with the property that is to blame.
    for (text, blamed) in [
        ("", "recordcount"),
        ("recordcount=0", "recordcount"),
        ("recordcount=ten", "recordcount=ten"),
        ("recordcount=10\nfieldcount=0", "fieldcount=0"),
        (
            "recordcount=10\nreadproportion=0\nupdateproportion=0",
            "proportions",
        ),
        ("recordcount=10\nreadproportion=-1", "readproportion=-1"),
        (
            "recordcount=10\nrequestdistribution=zipfy",
            "requestdistribution=zipfy",
        ),
        (
            "recordcount=10\nminscanlength=9\nmaxscanlength=8",
            "minscanlength=9",
        ),
        ("recordcount=10\nfieldlength=9999999999", "fieldlength"),
    ] {
        let failed = workload(text).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Usage, "{text}");
        assert!(failed.message.contains(blamed), "{text}: {failed}");
    }
}

#[test]
fn weights_are_shares_of_their_sum() {
    // 9 to 1, told as 0.9 and 0.1 or as 18 and 2; what weighs nothing never comes.
    for (reads, updates) in [(0.9, 0.1), (18.0, 2.0)] {
        let text = format!("recordcount=1\nreadproportion={reads}\nupdateproportion={updates}");
        let workload = workload(&text).unwrap();
        let steps = [0.0, 0.899, 0.901, 1.0 - f64::EPSILON].map(|unit| workload.step(unit));
        assert_eq!(steps, [Step::Read, Step::Read, Step::Update, Step::Update]);
    }
}
