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

#[test]
fn a_list_ends_behind_a_whole_object_and_says_what_is_left_out() {
    let objects = || (0..5).map(|number| format!("{{\"a\":{number}}}"));
    let all = "{\"a\":0},{\"a\":1},{\"a\":2},{\"a\":3},{\"a\":4}";
    assert_eq!(json_list(objects(), 1000), (all.to_owned(), 0));
    assert_eq!(json_list(objects(), 39), (all.to_owned(), 0));
    for bytes_max in 0..40 {
        let (list, left_out) = json_list(objects(), bytes_max);
        assert_eq!(list.matches('}').count() + left_out, 5, "{bytes_max}");
        assert!(list.len() < bytes_max + 8, "{bytes_max}");
        assert!(all.starts_with(&list) && (list.is_empty() || list.ends_with('}')));
    }
}
