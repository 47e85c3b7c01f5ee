//! Tests of tables.

use super::*;

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    // The first column left, the second right; letters beyond ASCII count once.
    let mut table = Table::new(&["line", "time"]);
    table.add(vec!["put".into(), "12.0 µs".into()]);
    table.add(vec!["a longer name".into()]);
    assert_eq!(
        table.text(),
        "line              time\nput            12.0 µs\na longer name\n"
    );
    assert!(table.markdown().starts_with(
        "| line          | time    |\n|---------------|---------|\n| put           | 12.0 µs |\n"
    ));
    let left = table.with_sides("<<").text();
    assert!(left.starts_with("line           time\n"), "{left}");
}
