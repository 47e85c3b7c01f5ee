//! Each shape rule fires on a planted file, and on nothing else.

use crate::tidy::shape::check;
use crate::tidy::tree::tests::planted;

fn fired(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    check(&planted(&[(path, text)]))
        .into_iter()
        .map(|found| (found.rule, found.line))
        .collect()
}

#[test]
fn a_long_file_is_found() {
    // One line too many, for code and for tests.
    let lines = |count: usize| "// x\n".repeat(count);
    assert_eq!(
        fired("crates/esker/src/a.rs", &lines(501)),
        [("file length", 501)]
    );
    assert_eq!(fired("crates/esker/src/a.rs", &lines(500)), []);
    assert_eq!(fired("crates/esker/src/a/tests.rs", &lines(1000)), []);
    assert_eq!(
        fired("crates/esker/src/a/tests.rs", &lines(1001)),
        [("file length", 1001)]
    );
}

#[test]
fn a_long_function_is_found() {
    // The body is counted, braces in literals and comments are not; tests may run longer.
    let body = |count: usize| "    f('{'); // }\n".repeat(count);
    let long = format!(
        "impl A {{\nfn long<T: B>(x: [u8; 3]) -> C\n{{\n{}}}\n}}\n",
        body(71)
    );
    assert_eq!(
        fired("crates/esker/src/a.rs", &long),
        [("function length", 2)]
    );
    let fits = format!("fn fits() {{\n{}}}\n", body(70));
    assert_eq!(fired("crates/esker/src/a.rs", &fits), []);
    assert_eq!(fired("crates/esker/src/a/tests.rs", &long), []);
    assert_eq!(
        fired(
            "crates/esker/src/a.rs",
            &format!("#[cfg(test)]\nmod t {{\n{long}}}")
        ),
        []
    );
}

#[test]
fn a_method_without_body_borrows_none() {
    // Neither a trait's method nor a function pointer owns the block that follows it.
    let text = format!(
        "trait A {{\nfn a(&self) -> u8;\n}}\nmod b {{\n{}}}\n",
        "type C = fn(u8);\n".repeat(80)
    );
    assert_eq!(fired("crates/esker/src/a.rs", &text), []);
}

#[test]
fn logic_in_a_facade_is_found() {
    // Docs, attributes, modules and re-exports are welcome; everything else has a file of its own.
    let good = "//! A.\n#![allow(x)]\n\n/// B.\npub mod b;\nmod c;\npub(crate) mod d;\n\
                pub use b::{C, D};\npub(crate) use c::E;\n#[cfg(test)]\nmod tests;\n";
    assert_eq!(fired("crates/esker/src/a/mod.rs", good), []);
    for bad in [
        "fn f() {}",
        "use b::C;",
        "pub struct S { x: u8 }",
        "const A: u8 = 1;",
        "mod b { }",
    ] {
        let text = format!("//! A.\npub mod b;\n{bad}\npub use b::C;\n");
        assert_eq!(
            fired("crates/esker/src/a/mod.rs", &text),
            [("facade", 3)],
            "{bad}"
        );
        assert_eq!(
            fired("crates/esker/src/a/b.rs", &text),
            [],
            "only mod.rs is a facade"
        );
    }
}
