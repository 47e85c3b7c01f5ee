//! Rules about doors: modules that only a few named files may name.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::words;
use crate::tidy::paths::{self, Named};
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

/// A module of the engine and the files that may name it. Tests may name every door.
struct Door {
    /// Path of the module inside the engine.
    module: &'static str,
    /// Prefixes of the paths, below the engine's `src`, of files that may name it; whole paths of
    /// files elsewhere.
    users: &'static [&'static str],
    /// True if binaries may name it too.
    is_open_to_binaries: bool,
    /// Who holds it and why.
    reason: &'static str,
}

const DOORS: [Door; 4] = [
    Door {
        module: "store::wal::writer",
        users: &[
            "flow/write/active.rs",
            "flow/write/carried_segment.rs",
            "store/version/manifest.rs",
            "crates/esker-server/src/disk_log/log.rs",
        ],
        is_open_to_binaries: false,
        reason: "one write path: only flow/write/active holds the log; the manifest and the raft \
                 log have their own",
    },
    Door {
        module: "store::vlog::writer",
        users: &[
            "store/vlog/packet.rs",
            "flow/values/segments.rs",
            "flow/values/value_log.rs",
            "flow/values/relocation.rs",
        ],
        is_open_to_binaries: false,
        reason: "one owner of each part of a segment: put values through flow/values/value_log",
    },
    Door {
        module: "store::version::manifest",
        users: &["db/"],
        is_open_to_binaries: false,
        reason: "only the top floor changes the set of files: return an edit instead",
    },
    Door {
        module: "env::real",
        users: &["db/open.rs", "env/"],
        is_open_to_binaries: true,
        reason: "take the environment as an argument: only db/open and binaries choose it",
    },
];

const ENGINE: &str = "crates/esker/src/";

/// Checks every source of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources.values().filter(|source| !source.is_test) {
        let is_engine = source.path.starts_with(ENGINE);
        let mut named = paths::named(&source.code, if is_engine { "crate" } else { "esker" });
        if is_engine {
            named.extend(named_children(source));
        }
        let is_binary = !is_engine && is_binary(tree, source);
        for door in &DOORS {
            if !may_use(door, source, is_binary) {
                findings.extend(trespasses(door, source, &named));
            }
        }
    }
    findings
}

fn may_use(door: &Door, source: &Source, is_binary: bool) -> bool {
    let Some(local) = source.path.strip_prefix(ENGINE) else {
        let is_named = door.users.iter().any(|user| *user == source.path);
        return is_named || door.is_open_to_binaries && is_binary;
    };
    let own = door.module.replace("::", "/");
    let is_own = local
        .strip_prefix(&own)
        .is_some_and(|rest| rest.starts_with(['.', '/']));
    is_own || door.users.iter().any(|user| local.starts_with(user))
}

fn trespasses(door: &Door, source: &Source, named: &[Named]) -> Vec<Finding> {
    let module: Vec<&str> = door.module.split("::").collect();
    let goes_through = |named: &&Named| {
        let inner = &named.parts[1..];
        // From outside the floors are reached by this name alone.
        let is_within = inner.first().is_some_and(|first| first == "internals");
        let inner = &inner[usize::from(is_within)..];
        let is_whole = inner.len() >= module.len();
        is_whole
            && inner
                .iter()
                .zip(&module)
                .all(|(part, wanted)| part == wanted)
    };
    named
        .iter()
        .filter(goes_through)
        .filter(|named| !source.is_test_at(named.offset))
        .map(|named| {
            let advice = format!("`{}` is a door: {}", door.module, door.reason);
            Finding::new(&source.path, source.line_of(named.offset), "door", advice)
        })
        .collect()
}

/// What a mod.rs re-exports from its own modules, as full paths: a door must not be left open by
/// the folder it stands in.
fn named_children(source: &Source) -> Vec<Named> {
    let Some(folder) = source
        .path
        .strip_prefix(ENGINE)
        .and_then(|path| path.strip_suffix("mod.rs"))
    else {
        return Vec::new();
    };
    let home: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = Vec::new();
    for at in words(&source.code, "use") {
        let tail = source.code[at + 3..].trim_start();
        let first = tail
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .next();
        let first = first.expect("split yields at least one part");
        if matches!(first, "crate" | "super" | "std" | "core" | "alloc" | "") {
            continue;
        }
        let skip = if first == "self" { 2 } else { 1 };
        let statement = &source.code[at..source.code[at..].find(';').map_or(at, |end| at + end)];
        for mut named in paths::named(statement, first) {
            let inner = named.parts.split_off(skip - 1);
            let home = home.iter().map(|&part| part.to_owned());
            named.parts = std::iter::once("crate".to_owned())
                .chain(home)
                .chain(inner)
                .collect();
            named.offset += at;
            found.push(named);
        }
    }
    found
}

/// True for sources of programs: nothing else can import them.
fn is_binary(tree: &Tree, source: &Source) -> bool {
    let Some(package) = tree.package_of(&source.path) else {
        return false;
    };
    let has_library = tree
        .sources
        .contains_key(&format!("{}/src/lib.rs", package.folder));
    let local = &source.path[package.folder.len()..];
    !has_library || local == "/src/main.rs" || local.starts_with("/src/bin/")
}

#[cfg(test)]
mod tests;
