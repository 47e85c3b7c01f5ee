//! Tests of lines with a number and of lines without one.

use crate::samples::sample;

#[test]
fn a_line_of_metrics_is_a_name_labels_and_a_number() {
    let told = |line| sample(line).map(|it| (it.name, it.labels, it.number));
    assert_eq!(
        told("esker_snapshots 2"),
        Some(("esker_snapshots", "", 2.0))
    );
    assert_eq!(
        told("esker_level_bytes{keyspace=\"a } b\",level=\"0\"} 7.5"),
        Some(("esker_level_bytes", "keyspace=\"a } b\",level=\"0\"", 7.5))
    );
    assert_eq!(told("# TYPE esker_snapshots gauge"), None);
    assert_eq!(told("# HELP esker_snapshots Of version 2"), None);
    assert_eq!(told(""), None);
}
