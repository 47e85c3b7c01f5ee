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
        (
            "recordcount=10\ninsertstart=5\ninsertcount=6",
            "insertcount=6",
        ),
        ("recordcount=10\ninsertstart=10", "insertstart=10"),
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
            "recordcount=10\nrequestdistribution=zipf:0",
            "requestdistribution=zipf:0",
        ),
        (
            "recordcount=10\nminscanlength=9\nmaxscanlength=8",
            "minscanlength=9",
        ),
        (
            "recordcount=10\nscanlengthdistribution=x",
            "scanlengthdistribution=x",
        ),
        (
            "recordcount=10\nfieldlengthdistribution=uniform\nminfieldlength=101",
            "minfieldlength",
        ),
        (
            "recordcount=10\nfieldlengthdistribution=histogram",
            "hist.txt",
        ),
        ("recordcount=10\nfieldlength=9999999999", "fieldlength"),
        (
            "recordcount=10\ndataintegrity=true\nfieldlengthdistribution=uniform",
            "dataintegrity",
        ),
        (
            "recordcount=1\nrequestdistribution=exponential\nexponential.frac=0",
            "exponential.frac",
        ),
    ] {
        let failed = workload(text).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Usage, "{text}");
        assert!(failed.message.contains(blamed), "{text}: {failed}");
    }
}

#[test]
fn counts_beyond_32_bits_are_kept() {
    // YCSB would wrap around.
    let workload = workload("recordcount=5000000000\ninsertstart=4000000000").unwrap();
    assert_eq!(workload.insert_count, 1_000_000_000);
    assert!(matches!(
        super::true_zipf("zipf:1.2"),
        Some(theta) if (theta - 1.2).abs() < 1e-9
    ));
}
