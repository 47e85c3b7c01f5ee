//! Who is waited for.

use super::*;

#[test]
fn who_lives_and_has_not_heard_is_named() {
    let node = |node, is_alive, is_behind| NodeFacts {
        node,
        is_alive,
        is_behind,
        ..NodeFacts::default()
    };
    assert_eq!(behind(&[node(1, true, false), node(2, false, true)]), None);
    let one = behind(&[node(1, true, false), node(2, true, true)]).unwrap();
    assert!(one.starts_with("node 2 has not heard of it yet"), "{one}");
    let two = behind(&[node(1, true, true), node(2, true, true)]).unwrap();
    assert!(
        two.starts_with("nodes 1, 2 have not heard of it yet"),
        "{two}"
    );
}
