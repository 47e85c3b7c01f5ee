//! Tables and notes.

use super::*;

#[test]
fn cells_are_text_whatever_they_hold() {
    // Heads, first cells, other cells, notes and summaries are all escaped.
    let evil = "<b onclick='x'>";
    let mut table = Table::new([evil]);
    table.row([evil, evil]);
    let html = table.html() + &note(evil) + &folded(evil, "body");
    assert!(!html.contains("<b "), "{html}");
    assert_eq!(html.matches("&lt;b onclick=&#39;x&#39;&gt;").count(), 5);
}

#[test]
fn what_is_empty_is_not_there() {
    // No table of nothing, nothing to unfold.
    assert_eq!(Table::new(["head"]).html(), "");
    assert_eq!(folded("title", ""), "");
}
