//! Each planted arrow that the table does not draw is found.

use crate::tidy::arrows::check;
use crate::tidy::tree::tests::planted;

fn fired(name: &str, dependencies: &str) -> Vec<usize> {
    let path = format!("crates/{name}/Cargo.toml");
    let text = format!("[package]\nname = \"{name}\"\n{dependencies}\n");
    check(&planted(&[(&path, &text)]))
        .into_iter()
        .map(|found| found.line)
        .collect()
}

#[test]
fn an_arrow_outside_the_table_is_found() {
    // Of every kind, under an alias too; an arrow of the table is fine.
    assert_eq!(
        fired("esker", "[dev-dependencies]\nesker-rpc = { path = \"x\" }"),
        [4]
    );
    assert_eq!(
        fired(
            "esker-rpc",
            "[dependencies]\nstore = { package = \"esker\" }"
        ),
        [4]
    );
    assert_eq!(
        fired("xtask", "[dependencies.esker]\npath = \"../esker\""),
        [3]
    );
    assert_eq!(
        fired(
            "esker-cli",
            "[dependencies]\nesker = { path = \"../esker\" }"
        ),
        [0; 0]
    );
    assert_eq!(
        fired("esker-cli", "[dev-dependencies]\nserde = \"1\""),
        [0; 0]
    );
}

#[test]
fn a_crate_outside_the_table_is_found() {
    // A new crate is a decision, so it starts with a row.
    assert_eq!(fired("esker-novelty", ""), [1]);
}

#[test]
fn a_dependency_of_the_engine_without_its_section_is_found() {
    // Those only for tests need none.
    let manifest = "[package]\nname = \"esker\"\n[dependencies]\na = \"1\"\nb = \"1\"\n\
                    [dev-dependencies]\nc = \"1\"\n";
    let document = ("docs/dependencies.md", "# Dependencies\n\n## `a`\n\nWhy.\n");
    let found = check(&planted(&[("crates/esker/Cargo.toml", manifest), document]));
    let lines: Vec<usize> = found.iter().map(|found| found.line).collect();
    assert_eq!(lines, [5]);
}
