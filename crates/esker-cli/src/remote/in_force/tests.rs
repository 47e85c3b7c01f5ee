//! Who is waited for.

use super::*;

#[test]
fn who_lives_and_has_not_heard_is_named() {
    let node = |node, is_alive, tables_revision| NodeFacts {
        node,
        is_alive,
        tables_revision,
        ..NodeFacts::default()
    };
    assert_eq!(behind(7, &[node(1, true, 7), node(2, false, 3)]), None);
    let one = behind(7, &[node(1, true, 7), node(2, true, 6)]).unwrap();
    assert!(one.starts_with("node 2 has not heard of it yet"), "{one}");
    let two = behind(7, &[node(1, true, 6), node(2, true, 0)]).unwrap();
    assert!(
        two.starts_with("nodes 1, 2 have not heard of it yet"),
        "{two}"
    );
    // What was changed since is no matter, and a server of before says nothing.
    assert_eq!(behind(7, &[node(1, true, 7), node(2, true, 9)]), None);
    assert_eq!(behind(0, &[node(1, true, 0)]), None);
}
