//! Answers of nodes, and what is no page.

use super::*;

#[test]
fn a_page_is_what_is_behind_the_head() {
    assert_eq!(body("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}\n"), Ok("{}\n"));
    let missing = body("HTTP/1.1 404 Not Found\r\n\r\nthere are").expect_err("no page");
    assert!(missing.contains("404"), "{missing}");
    let closed = body("").expect_err("nothing");
    assert!(closed.contains("older"), "{closed}");
}
