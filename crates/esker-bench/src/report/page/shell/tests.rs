//! Whole pages.

use super::*;

#[test]
fn empty_sections_leave_no_heading() {
    // One section with a body, one without.
    let sections = [
        Section::new("Here", "<p>body</p>".into()),
        Section::new("Gone", String::new()),
    ];
    let html = page("Title & more", "", "", &sections);
    assert!(html.contains("<h2>Here</h2>") && !html.contains("Gone"));
    assert!(html.contains("<title>Title &amp; more</title>"));
}
