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
    let left = table.with_left(2).text();
    assert!(left.starts_with("line           time\n"), "{left}");
}

#[test]
fn numbers_read_well() {
    // Groups of three, and a unit that suits.
    assert_eq!(rate_text(33_498.4), "33 498");
    assert_eq!(rate_text(1_234_567.0), "1 234 567");
    assert_eq!(
        (rate_text(99.94), rate_text(122.0)),
        ("99.9".into(), "122".into())
    );
    let times = [8.0, 8_170.0, 8_170_000.0, 3e9].map(nanos_text);
    assert_eq!(times, ["8 ns", "8.2 µs", "8.17 ms", "3.00 s"]);
}
