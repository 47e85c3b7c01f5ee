//! Each room rule fires outside the room, and not inside.

use crate::tidy::rooms::check;
use crate::tidy::tree::tests::planted;

fn fired(path: &str, text: &str) -> Vec<&'static str> {
    check(&planted(&[(path, text)]))
        .into_iter()
        .map(|found| found.rule)
        .collect()
}

#[test]
fn a_relative_path_outside_tests_is_found() {
    // Tests may name the file they sit beside; `pub(super)` is a visibility, not a path.
    let text = "use super::b;\npub(super) fn c() {}\n";
    assert_eq!(fired("crates/esker/src/a.rs", text), ["relative path"]);
    assert_eq!(fired("crates/esker/src/a/tests.rs", text), [""; 0]);
    assert_eq!(
        fired(
            "crates/esker/src/a.rs",
            "#[cfg(test)]\nmod t { use super::b; }"
        ),
        [""; 0]
    );
}

#[test]
fn unsafe_code_outside_its_rooms_is_found() {
    // The list of rooms is short; the tests beside a room belong to it, other tests do not.
    let text = "fn a() { unsafe { b() } } // unsafe\n#![allow(unsafe_code)]\n";
    for path in [
        "crates/esker/src/store/mem/memtable.rs",
        "crates/esker/src/env/real/fs.rs",
        "crates/esker/tests/it/main.rs",
        "crates/esker-capi/src/answer.rs",
    ] {
        assert_eq!(fired(path, text), ["unsafe room"], "{path}");
    }
    for path in [
        "crates/esker/src/store/mem/arena.rs",
        "crates/esker/src/store/mem/entry_list/tests.rs",
        "crates/esker/src/env/real/map.rs",
        "crates/esker-capi/src/abi/batch.rs",
    ] {
        assert_eq!(fired(path, text), [""; 0], "{path}");
    }
}

#[test]
fn sleeping_is_found() {
    // By its full name and by an import; a method of ours called sleep is no sleep.
    let full = "fn a() { std::thread::sleep(b); }";
    let import = "use std::thread::{self, sleep};";
    for path in [
        "crates/esker/src/db/worker.rs",
        "crates/esker/src/db/worker/tests.rs",
    ] {
        assert_eq!(fired(path, full), ["sleep"], "{path}");
        assert_eq!(fired(path, import), ["sleep"], "{path}");
    }
    assert_eq!(
        fired("crates/esker/src/db/worker.rs", "clock.sleep(b);"),
        [""; 0]
    );
    assert_eq!(fired("crates/esker/src/env/real/clock.rs", full), [""; 0]);
    assert_eq!(fired("crates/esker-cli/tests/it/kill.rs", full), [""; 0]);
}

#[test]
fn calls_of_the_system_are_found() {
    // Any use of the crates that reach the system, except in env/real and outside the engine.
    let text = "fn a() { rustix::fs::fsync(b) }";
    assert_eq!(
        fired("crates/esker/src/store/wal/writer.rs", text),
        ["system call"]
    );
    assert_eq!(
        fired("crates/esker/src/db/open.rs", "use libc::c_int;"),
        ["system call"]
    );
    assert_eq!(fired("crates/esker/src/env/real/fs.rs", text), [""; 0]);
    assert_eq!(
        fired("crates/esker/src/store/wal/writer/tests.rs", text),
        [""; 0]
    );
    assert_eq!(fired("crates/esker-cli/src/main.rs", text), [""; 0]);
}
