//! Which imports point the wrong way.

use crate::tidy::floors::check;
use crate::tidy::tree::tests::planted;

/// A small sound house.
const HOUSE: [(&str, &str); 11] = [
    (
        "lib.rs",
        "pub mod base;\npub mod store;\nmod db;\npub use db::Db;",
    ),
    ("base/mod.rs", "pub mod error;\npub mod key;"),
    ("base/error.rs", "pub struct Error;"),
    ("base/key.rs", "use crate::base::error::Error;"),
    (
        "store/mod.rs",
        "pub mod wal;\npub mod sst;\npub use crate::store::sst::reader::Sst;",
    ),
    (
        "store/wal.rs",
        "use crate::{base::{error::Error, key}};\n#[cfg(all(test, unix))] mod tests;",
    ),
    ("store/wal/tests.rs", "use crate::db::Db; use super::*;"),
    (
        "store/sst/mod.rs",
        "pub mod format;\npub mod reader;\npub use reader::Sst;",
    ),
    (
        "store/sst/format.rs",
        "// é: crate::db is only spoken of\nconst A: &str = r#\"crate::db \" crate::db\"#;\n\
         /* crate::db /* crate */ crate::db */\n\
         const B: (char, &str) = ('\"', \"\\\" crate::db\");",
    ),
    (
        "store/sst/reader.rs",
        "use crate::store::{sst::format, wal};\npub struct Sst;",
    ),
    (
        "db.rs",
        "use crate::store::sst::Sst;\npub(in crate::db) fn own() { crate::db::own() }\n\
         pub(crate) struct Db;",
    ),
];

/// One wrong line in front of a file of the house, and what is wrong with it.
const WRONG: [(&str, &str, &str); 14] = [
    ("base/error.rs", "use crate::db::Db;", "a higher floor"),
    (
        "base/error.rs",
        "use crate::base::key::Key;",
        "a neighbour declared below",
    ),
    (
        "base/key.rs",
        "use crate::{base::error, store};",
        "inside a group",
    ),
    (
        "store/wal.rs",
        "fn f() { crate::store::sst::reader::g() }",
        "inside an expression",
    ),
    (
        "store/wal.rs",
        "use crate::store::Sst;",
        "the facade above, from inside",
    ),
    (
        "store/sst/reader.rs",
        "use crate::store::sst::Sst;",
        "the facade above, from inside",
    ),
    (
        "store/sst/reader.rs",
        "use crate::store::*;",
        "all of the facade above",
    ),
    (
        "store/sst/reader.rs",
        "use crate::store::sst::{self, format};",
        "the ancestor itself",
    ),
    ("db.rs", "use crate::Db;", "the root is everyone's ancestor"),
    ("db.rs", "use crate::*;", "all of the root"),
    (
        "base/key.rs",
        "use crate as engine;",
        "the root under another name",
    ),
    (
        "base/mod.rs",
        "pub use crate::store::Sst;",
        "a re-export from above",
    ),
    (
        "base/key.rs",
        "#[cfg(not(test))]\nuse crate::db::Db;",
        "product code after all",
    ),
    (
        "base/key.rs",
        "#[cfg(any(test, unix))]\nuse crate::db::Db;",
        "not only for tests",
    ),
];

/// The findings in the house below `folder` with `line` in front of the file `at`.
fn findings(folder: &str, at: &str, line: &str) -> Vec<String> {
    let house = HOUSE.map(|(path, text)| {
        let text = match path == at {
            true => format!("{line}\n{text}"),
            false => text.to_owned(),
        };
        (format!("{folder}/src/{path}"), text)
    });
    let manifest = (
        format!("{folder}/Cargo.toml"),
        "[package]\nname = \"house\"\n".to_owned(),
    );
    let files = house.iter().chain(std::iter::once(&manifest));
    let files: Vec<(&str, &str)> = files.map(|(path, text)| (&path[..], &text[..])).collect();
    let found = check(&planted(&files));
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn planted_violations_are_found_in_every_crate() {
    // The house as it is, then one wrong line planted in it at a time; the crate of the fuzz
    // targets counts as test code elsewhere, and not here.
    for folder in ["crates/house", "crates/esker-fuzz", "fuzz"] {
        assert_eq!(findings(folder, "", ""), [""; 0]);
        for (path, line, story) in WRONG {
            let found = findings(folder, path, line);
            assert_eq!(found.len(), 1, "{story}: {line} in {path} gives {found:?}");
            assert!(
                found[0].starts_with(&format!("{folder}/src/{path}:")),
                "{story}: {found:?}"
            );
        }
    }
}

#[test]
fn other_targets_have_floors_too_and_tests_have_none() {
    // A program beside the library is a crate of its own; an integration test may do as it likes.
    let knot = "use crate::b::B;";
    for (folder, wanted) in [("src/bin/tool", 1), ("examples/show", 1), ("tests/it", 0)] {
        let main = format!("crates/esker/{folder}/main.rs");
        let files = [
            (main.as_str(), "mod a;\nmod b;"),
            (&format!("crates/esker/{folder}/a.rs"), knot),
            (&format!("crates/esker/{folder}/b.rs"), "pub struct B;"),
        ];
        assert_eq!(check(&planted(&files)).len(), wanted, "{folder}");
    }
}
