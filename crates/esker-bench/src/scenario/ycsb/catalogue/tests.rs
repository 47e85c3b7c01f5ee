//! Tests of the list of properties.

use super::*;

#[test]
fn unknown_properties_are_noted_with_the_nearest() {
    // A slip, something foreign, a setting of the engine, and what is known.
    let mut properties = Properties::default();
    for (name, value) in [
        ("recordcont", "1"),
        ("mongodb.url", "x"),
        ("esker.memory_limit", "1GiB"),
        ("measurementtype", "hdrhistogram"),
        ("measurement.trackjvm", "true"),
        ("fieldcount", "1"),
    ] {
        properties.set(name, value);
    }
    let notes = notes(&properties);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(
        notes[1],
        "note: there is no property mongodb.url; it has no effect"
    );
    assert!(notes[0].contains("no Java machine"), "{}", notes[0]);
    assert!(
        notes[2].ends_with("did you mean recordcount?"),
        "{}",
        notes[2]
    );
}

#[test]
fn every_name_is_told_once() {
    // A second row of one name would never be found.
    let mut names: Vec<&str> = known().map(|known| known.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}
