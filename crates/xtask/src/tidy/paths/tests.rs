//! How paths are read out of code.

use crate::tidy::paths::named;

fn parts(code: &str) -> Vec<String> {
    named(code, "crate")
        .into_iter()
        .map(|named| named.parts.join("::"))
        .collect()
}

#[test]
fn groups_are_spread_out() {
    // A nested group names each of its members, and its `self` names the group's own path.
    let code = "use crate::{a::{self, B as C, d::*}, e};";
    assert_eq!(
        parts(code),
        ["crate::a", "crate::a::B", "crate::a::d::*", "crate::e"]
    );
}

#[test]
fn paths_in_expressions_are_found() {
    // An import is not the only way to name a module.
    let code = "let x = crate::a::b::<u8>(crate::c::D { e: 1 }); vec![crate :: f]";
    assert_eq!(parts(code), ["crate::a::b", "crate::c::D", "crate::f"]);
}

#[test]
fn visibility_and_foreign_tails_are_no_imports() {
    // `pub(in crate::a)` grants, and `other::crate` cannot be ours.
    assert!(parts("pub(in crate::a) fn f() {} pub(crate) fn g() {}").is_empty());
}

#[test]
fn the_offset_points_at_the_member() {
    // A finding inside a long group must name the line of the member, not of the `use`.
    let code = "use crate::{\n    a,\n    b,\n};";
    let offsets: Vec<usize> = named(code, "crate")
        .iter()
        .map(|named| named.offset)
        .collect();
    assert_eq!(offsets, [17, 24]);
}
