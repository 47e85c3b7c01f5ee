//! Each door is shut to a planted stranger and open to its users.

use crate::tidy::doors::check;
use crate::tidy::tree::tests::planted;

fn fired(path: &str, text: &str) -> Vec<usize> {
    check(&planted(&[(path, text)]))
        .into_iter()
        .map(|found| found.line)
        .collect()
}

const WRITER: &str =
    "//! A.\nuse crate::store::{batch, wal::{\n    reader,\n    writer::Writer,\n}};\n";
const MANIFEST: &str = "fn a() { crate::store::version::manifest::open() }";
const REAL: &str = "use crate::env::real::fs::RealFs;";

#[test]
fn strangers_are_turned_away() {
    // The finding points at the line inside the group that names the door.
    assert_eq!(fired("crates/esker/src/flow/write/commit.rs", WRITER), [4]);
    assert_eq!(fired("crates/esker/src/flow/flush.rs", MANIFEST), [1]);
    assert_eq!(fired("crates/esker/src/db/worker.rs", REAL), [1]);
}

#[test]
fn users_and_tests_may_enter() {
    // Those on the list, the door's own file and its tests, and any test.
    for (path, text) in [
        ("crates/esker/src/flow/write/active.rs", WRITER),
        ("crates/esker/src/store/version/manifest.rs", WRITER),
        ("crates/esker/src/flow/write/commit/tests.rs", WRITER),
        ("crates/esker/src/db/install.rs", MANIFEST),
        ("crates/esker/src/store/version/manifest/tests.rs", MANIFEST),
        ("crates/esker/src/db/open.rs", REAL),
        ("crates/esker/src/env/bundle.rs", REAL),
        (
            "crates/esker/src/flow/write/active.rs",
            "use crate::store::wal::reader::Reader;",
        ),
    ] {
        assert_eq!(fired(path, text), [0; 0], "{path}");
    }
}

#[test]
fn a_folder_may_not_leave_its_door_open() {
    // A re-export would let anyone through without naming the door.
    let path = "crates/esker/src/store/wal/mod.rs";
    assert_eq!(
        fired(path, "//! A.\npub mod writer;\npub use writer::Writer;\n"),
        [3]
    );
    assert_eq!(
        fired(
            path,
            "//! A.\npub mod writer;\npub use self::writer::Writer;\n"
        ),
        [3]
    );
    assert_eq!(
        fired(path, "//! A.\npub mod reader;\npub use reader::Reader;\n"),
        [0; 0]
    );
}

#[test]
fn only_programs_bring_the_real_world_from_outside() {
    // A library of ours takes the environment as an argument; a program makes it.
    let text = "use esker::internals::env::real::fs::RealFs;";
    let cli = (
        "crates/esker-cli/Cargo.toml",
        "[package]\nname = \"esker-cli\"\n",
    );
    let server = (
        "crates/esker-server/Cargo.toml",
        "[package]\nname = \"esker-server\"\n",
    );
    let found = check(&planted(&[
        cli,
        ("crates/esker-cli/src/main.rs", text),
        ("crates/esker-cli/src/load.rs", text),
        server,
        ("crates/esker-server/src/lib.rs", ""),
        ("crates/esker-server/src/main.rs", text),
        ("crates/esker-server/src/node.rs", text),
    ]));
    let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["crates/esker-server/src/node.rs"]);
    // The other doors stay shut to programs too.
    let inner = "use esker::internals::store::version::manifest::Manifest;";
    let found = check(&planted(&[cli, ("crates/esker-cli/src/main.rs", inner)]));
    assert_eq!(found.len(), 1);
}
