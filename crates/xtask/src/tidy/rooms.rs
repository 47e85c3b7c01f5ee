//! Rules about where some words may stand: `super::`, `unsafe`, sleeping, calls of the system.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::words;
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

/// The rooms of unsafe code, without `.rs`, so that the tests beside a file belong to its room.
/// Miri or a sanitizer runs on each of them.
const UNSAFE_ROOMS: [&str; 15] = [
    "crates/esker-bench-rivals/src/engines/leveldb",
    "crates/esker-bench-rivals/src/engines/leveldb_calls",
    "crates/esker-bench-rivals/src/engines/lmdb",
    "crates/esker-capi/src/abi",
    "crates/esker-kvs/src/abi",
    "crates/esker-phrase/src/shifting",
    "crates/esker/src/base/codec/short_crc",
    "crates/esker/src/env/pages",
    "crates/esker/src/env/real/bus_errors",
    "crates/esker/src/env/real/fork",
    "crates/esker/src/env/real/map",
    "crates/esker/src/store/mem/arena",
    "crates/esker/src/store/mem/entry_list",
    "crates/esker/src/store/mem/index",
    "crates/esker/src/store/mem/node",
];

/// Checks every source of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources.values() {
        findings.extend(relative_paths(source));
        findings.extend(unsafe_code(source));
        findings.extend(sleep(source));
        findings.extend(system_calls(source));
    }
    findings
}

/// `super::` hides which floor is meant; tests may use it for the file they sit beside.
fn relative_paths(source: &Source) -> Vec<Finding> {
    let names_path = |&at: &usize| source.code[at + 5..].trim_start().starts_with("::");
    words(&source.code, "super")
        .filter(names_path)
        .filter(|&at| !source.is_test_at(at))
        .map(|at| {
            let advice = "write the absolute path, `crate::…`; `super::` is for tests";
            Finding::new(&source.path, source.line_of(at), "relative path", advice)
        })
        .collect()
}

fn unsafe_code(source: &Source) -> Vec<Finding> {
    let is_room = |room: &&str| {
        let below = source.path.strip_prefix(*room);
        below.is_some_and(|rest| rest.starts_with(".rs") || rest.starts_with('/'))
    };
    if UNSAFE_ROOMS.iter().any(is_room) {
        return Vec::new();
    }
    words(&source.code, "unsafe")
        .map(|at| {
            let advice = "write it safely, or argue for a new room in xtask/src/tidy/rooms.rs";
            Finding::new(&source.path, source.line_of(at), "unsafe room", advice)
        })
        .collect()
}

/// Sleeping hides a missing signal. Only the real world may sleep, and the test that kills a
/// process, which no signal inside that process can announce.
fn sleep(source: &Source) -> Vec<Finding> {
    let kills = source.path.starts_with("crates/esker-cli/tests/") && source.path.contains("kill");
    if kills || source.path.starts_with("crates/esker/src/env/real/") {
        return Vec::new();
    }
    let code = &source.code;
    let names_thread = |&at: &usize| {
        let line_start = code[..at].rfind(['\n', ';']).map_or(0, |found| found + 1);
        code[..at].ends_with("thread::") || code[line_start..at].contains("use std::thread::")
    };
    words(code, "sleep")
        .filter(names_thread)
        .map(|at| {
            let advice = "wait on a signal with a deadline, or on the clock of the environment";
            Finding::new(&source.path, source.line_of(at), "sleep", advice)
        })
        .collect()
}

/// The engine reaches the operating system in one folder, so that a simulator can stand in for it.
fn system_calls(source: &Source) -> Vec<Finding> {
    let local = source.path.strip_prefix("crates/esker/src/");
    if local.is_none_or(|local| local.starts_with("env/real/")) {
        return Vec::new();
    }
    let named = ["rustix", "libc"]
        .iter()
        .flat_map(|name| words(&source.code, name));
    named
        .filter(|&at| !source.is_test_at(at))
        .map(|at| {
            let advice = "ask the environment: only env/real calls the operating system";
            Finding::new(&source.path, source.line_of(at), "system call", advice)
        })
        .collect()
}

#[cfg(test)]
mod tests;
