//! Tables and notes.

use super::*;

#[test]
fn cells_are_text_whatever_they_hold() {
    // Heads, first cells, other cells, notes and summaries are all escaped.
    let evil = "<b onclick='x'>";
    let mut table = Table::new([evil; 5]);
    table.row([evil; 5]);
    let html = table.html() + &note(evil) + &folded(evil, "body") + &headline(evil, evil);
    let html = html + &facts(&[(evil.into(), evil.into())]) + &terms(&[(evil, evil.into())]);
    assert!(!html.contains("<b o"), "{html}");
    assert_eq!(html.matches("&lt;b onclick=&#39;x&#39;&gt;").count(), 22);
}

#[test]
fn what_every_line_says_stands_once() {
    // Two rows of one workload share its name; a spread is one with its number.
    let mut table = Table::new(["workload", "engine", "rate"]);
    for (workload, engine) in [("fill", "Esker"), ("fill", "Anvil"), ("read", "Esker")] {
        table.row([workload, engine, "2.00 (1.00–3.00)"]);
    }
    let html = table.html();
    assert_eq!(html.matches("fill").count(), 1);
    assert!(
        html.contains("<th scope=\"rowgroup\" rowspan=\"2\">fill</th>"),
        "{html}"
    );
    assert!(html.contains("2.00 <small>(1.00–3.00)</small>"), "{html}");
}

#[test]
fn what_is_empty_is_not_there() {
    // No table of nothing, nothing to unfold.
    assert_eq!(Table::new(["head"]).html(), "");
    assert_eq!(
        folded("title", "") + &facts(&[]) + &terms(&[("term", String::new())]),
        ""
    );
}
