//! Texts of strangers in pages that programs read.

use super::*;

#[test]
fn labels_are_escaped_as_the_format_asks() {
    let mut page = MetricsText::default();
    page.family("a_total", "counter", "What is counted.");
    page.sample("a_total", &[("table", "a\"b\\c\nd"), ("kind", "read")], 5);
    page.sample("a_total", &[], 6);
    assert_eq!(
        page.finish(),
        "# HELP a_total What is counted.\n# TYPE a_total counter\n\
         a_total{table=\"a\\\"b\\\\c\\nd\",kind=\"read\"} 5\na_total 6\n"
    );
}

#[test]
fn texts_of_json_have_no_bare_control_characters() {
    assert_eq!(json_text("a\"\\\u{1}ö\n"), "\"a\\\"\\\\\\u0001ö\\u000a\"");
    assert_eq!(json_maybe(None), "null");
    assert_eq!(json_maybe(Some("x")), "\"x\"");
}
