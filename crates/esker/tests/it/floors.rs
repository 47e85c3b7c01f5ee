//! The floor law: a file imports only from modules declared above its own.
//!
//! `lib.rs` and each file with modules list them from the ground up. For every `crate::a::b` that
//! a file names, the two paths are compared at the first place where they part: the target must
//! be declared before the file's own side. What an ancestor itself offers (its items and its
//! re-exports) may not be named from inside it, because the ancestor stands on its children.
//! A path to a file's own module or to modules inside it is free. Test code is free.

use std::collections::BTreeMap;
use std::path::Path;

/// Files below `src`, by their path with forward slashes.
type Files = BTreeMap<String, String>;

/// The modules of the crate in declaration order, each with the path of its file.
///
/// A module is `["store", "wal"]`; the root is the empty path. Children of one parent appear in
/// the order in which the parent declares them.
type Modules = Vec<(Vec<String>, String)>;

#[test]
fn imports_point_down() {
    // The engine as it stands.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Files::new();
    read(&root, "", &mut files);
    let broken = violations(&files);
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn planted_violations_are_found() {
    // A small sound house, and one wrong line planted in it at a time.
    let house = [
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
            "use crate::store::sst::Sst;\npub(in crate::db) fn own() { crate::db::own() }",
        ),
    ];
    let sound: Files = house
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into();
    assert_eq!(violations(&sound), [""; 0]);

    for (path, line, story) in [
        (
            "base/error.rs",
            "use crate::db::Db;",
            "up to a higher floor",
        ),
        (
            "base/error.rs",
            "use crate::base::key::Key;",
            "to a neighbour declared below",
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
    ] {
        let mut files = sound.clone();
        let text = files.get_mut(path).unwrap();
        *text = format!("{line}\n{text}");
        let found = violations(&files);
        assert_eq!(found.len(), 1, "{story}: {line} in {path} gives {found:?}");
        assert!(
            found[0].starts_with(&format!("src/{path}:")),
            "{story}: {found:?}"
        );
    }
}

/// Reads every Rust file below `folder/inner` into `files`.
fn read(folder: &Path, inner: &str, files: &mut Files) {
    for item in std::fs::read_dir(folder.join(inner)).unwrap() {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        let path = if inner.is_empty() {
            name
        } else {
            format!("{inner}/{name}")
        };
        if item.file_type().unwrap().is_dir() {
            read(folder, &path, files);
        } else if path.ends_with(".rs") {
            let text = std::fs::read_to_string(item.path()).unwrap();
            files.insert(path, text);
        }
    }
}

/// Every import that points up, as a line for the reader.
fn violations(files: &Files) -> Vec<String> {
    let code = files
        .iter()
        .map(|(path, text)| (path.clone(), product_code(text)))
        .collect();
    let modules = modules(&code);
    let mut found = Vec::new();
    for (own, file) in &modules {
        for (line, named) in crate_paths(&code[file]) {
            if let Some(why) = broken_law(&modules, own, &named) {
                found.push(format!(
                    "src/{file}:{line}: crate::{}: {why}",
                    named.join("::")
                ));
            }
        }
    }
    found
}

/// Walks from lib.rs through every `mod name;`.
fn modules(code: &Files) -> Modules {
    let mut found: Modules = Vec::new();
    let mut waiting = vec![(Vec::new(), "lib.rs".to_owned())];
    while let Some((own, file)) = waiting.pop() {
        let home: String = own.iter().map(|part: &String| format!("{part}/")).collect();
        let text = code
            .get(&file)
            .unwrap_or_else(|| panic!("src/{file} is declared and missing"));
        let words: Vec<&str> = words(text).map(|(_, word)| word).collect();
        let mut children = Vec::new();
        for three in words.windows(3) {
            if three[0] == "mod" && three[2] == ";" {
                let mut child = own.clone();
                child.push(three[1].to_owned());
                let leaf = format!("{home}{}.rs", three[1]);
                let folder = format!("{home}{}/mod.rs", three[1]);
                children.push((
                    child,
                    if code.contains_key(&leaf) {
                        leaf
                    } else {
                        folder
                    },
                ));
            }
        }
        // Taken from the end: reversed, the first declared comes first and keeps its rank.
        waiting.extend(children.into_iter().rev());
        found.push((own, file));
    }
    found
}

/// Why module `own` may not name `named`; none if it may.
fn broken_law(modules: &Modules, own: &[String], named: &[String]) -> Option<&'static str> {
    let rank = |path: &[String]| modules.iter().position(|(module, _)| module == path);
    let is_module = |length: &usize| rank(&named[..*length]).is_some();
    let depth = (0..=named.len())
        .rev()
        .find(is_module)
        .expect("the root is a module");
    let target = &named[..depth];
    let shared = own
        .iter()
        .zip(target)
        .take_while(|(left, right)| left == right)
        .count();
    if shared == own.len() {
        return None; // Its own module, or one inside it.
    }
    if shared == target.len() {
        return Some("an ancestor's own items may not be named from inside it; name the leaf");
    }
    let is_below = rank(&target[..=shared]) < rank(&own[..=shared]);
    (!is_below).then_some("the target is declared below; imports point up the list only")
}

/// Every path that starts with `crate`, without that word, groups spread out, with its line.
fn crate_paths(code: &str) -> Vec<(usize, Vec<String>)> {
    let words: Vec<(usize, &str)> = words(code).collect();
    let word = |at: usize| words.get(at).map_or("", |&(_, word)| word);
    let mut found = Vec::new();
    for at in 0..words.len() {
        let is_visibility = at > 0 && matches!(word(at - 1), "(" | "in") && word(at + 1) != "::"
            || at > 1 && word(at - 1) == "in" && word(at - 2) == "(";
        if word(at) == "crate" && !is_visibility {
            spread(&words, at + 1, &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Reads the tail of a path from word `at`: `::name…`, `::*` or `::{…}`; returns where it ends.
fn spread(
    words: &[(usize, &str)],
    at: usize,
    path: &mut Vec<String>,
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let word = |at: usize| words.get(at).map_or("", |&(_, word)| word);
    if word(at) == "::" && word(at + 1) == "{" {
        let mut member = at + 2;
        while !matches!(word(member), "}" | "") {
            // A member is a path of its own; commas and `as name` are stepped over.
            member = match word(member) {
                "," => member + 1,
                "as" => member + 2,
                name => {
                    let depth = path.len();
                    path.extend((name != "self").then(|| name.to_owned()));
                    let end = spread(words, member + 1, path, found);
                    path.truncate(depth);
                    end
                }
            };
        }
        return member + 1;
    }
    let is_part = |word: &str| word == "*" || word.starts_with(is_name);
    if word(at) == "::" && is_part(word(at + 1)) {
        path.push(word(at + 1).to_owned());
        let end = spread(words, at + 2, path, found);
        path.pop();
        return end;
    }
    found.push((words[at - 1].0, path.clone()));
    at
}

/// The words and signs of `code`, each with its line; `::` is one sign.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().flat_map(|(index, mut rest)| {
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let name = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
            let length = match first {
                _ if name > 0 => name,
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            let (word, tail) = rest.split_at(length);
            rest = tail;
            Some((index + 1, word))
        })
    })
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// `text` with comments, literals and items under `#[cfg(test)]` blanked, line by line the same.
fn product_code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blank = blank_length(rest, code.chars().next_back());
        let length = if blank > 0 { blank } else { first.len_utf8() };
        let (piece, tail) = rest.split_at(length);
        match blank {
            0 => code.push_str(piece),
            _ => code.extend(
                piece
                    .chars()
                    .map(|char| if char == '\n' { '\n' } else { ' ' }),
            ),
        }
        rest = tail;
    }
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(") {
        let start = from + found;
        let condition = &code[start..start + code[start..].find(']').unwrap_or(0)];
        from = start + usize::from(!is_only_for_tests(condition));
        if from == start {
            let end = start + item_length(&code[start..]);
            let lines = code[start..end].matches('\n').count();
            code.replace_range(start..end, &"\n".repeat(lines));
        }
    }
    code
}

/// True for `test` and `all(test, …)`; what is also compiled without tests is product code.
fn is_only_for_tests(condition: &str) -> bool {
    let is_wider = condition.contains("not(") || condition.contains("any(");
    !is_wider && words(condition).any(|(_, word)| word == "test")
}

/// Length of the comment or literal that `rest` starts with; 0 if it starts with code.
fn blank_length(rest: &str, before: Option<char>) -> usize {
    let until = |open: usize, close: &str| {
        rest[open..]
            .find(close)
            .map_or(rest.len(), |found| open + found + close.len())
    };
    let hashes = rest[1.min(rest.len())..]
        .chars()
        .take_while(|&char| char == '#')
        .count();
    let is_raw = rest.starts_with('r') && rest[1 + hashes..].starts_with('"');
    // The prefix of a raw string may itself follow a `b` or `c`, never the middle of a name.
    if is_raw && !before.is_some_and(|char| is_name(char) && !matches!(char, 'b' | 'c')) {
        return until(2 + hashes, &format!("\"{}", "#".repeat(hashes)));
    }
    match rest.as_bytes() {
        [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment_length(rest),
        [b'"', ..] => string_length(rest),
        [b'\'', b'\\', ..] => until(3.min(rest.len()), "'"),
        [b'\'', ..] if rest.chars().nth(2) == Some('\'') => until(1, "'"),
        _ => 0,
    }
}

fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, char) in rest.char_indices().skip(1) {
        if char == '"' && !is_escaped {
            return at + 1;
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    rest.len()
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest.as_bytes()[at..(at + 2).min(rest.len())] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of the item that `code` starts with, its attributes included.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, char) in code.char_indices() {
        match char {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(char, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}
