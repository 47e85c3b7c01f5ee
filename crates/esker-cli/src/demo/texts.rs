//! Real text that this machine already has: the sources of the workspace's dependencies.
//!
//! Whoever built the tool from source has them, so the demo needs no download. Where cargo keeps
//! none (a vendored or packaged build), the workspace's own sources and the library sources of
//! the Rust toolchain take their place.

use esker_bench::make::random::Random;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fail::{Failure, Outcome};

/// Bytes after which a record ends at the next end of a line.
const RECORD_BYTES: usize = 1024;
/// Bytes at which a record without an end of line is cut.
const RECORD_BYTES_MAX: usize = 4096;
/// Files larger than this are generated tables rather than text.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Bytes of text at most: enough for several levels, little enough for a minute.
const TEXT_BYTES_MAX: u64 = 96 << 20;

/// A directory of text and its name in keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The name, such as `serde-1.0.0`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What to load.
pub enum Texts {
    /// A file of review records, or another that `load` reads.
    File(PathBuf),
    /// Folders of source text.
    Folders {
        /// The folders, by name.
        folders: Vec<Folder>,
        /// What they are, for people.
        told: String,
    },
}

/// Finds text: the file that `ESKER_DATA` names, else sources.
pub fn find() -> Outcome<Texts> {
    if let Some(path) = std::env::var_os("ESKER_DATA").filter(|path| !path.is_empty()) {
        return Ok(Texts::File(path.into()));
    }
    let workspace = workspace();
    let lock = workspace.as_ref().map(|root| root.join("Cargo.lock"));
    let lock = lock.and_then(|path| fs::read_to_string(path).ok());
    let locked = lock.as_deref().map(packages).unwrap_or_default();
    let folders = registry_folders(&locked);
    if !folders.is_empty() {
        let told = format!(
            "the sources of {} dependencies of this workspace",
            folders.len()
        );
        return Ok(Texts::Folders { folders, told });
    }
    let folders = other_folders(workspace.as_deref());
    if folders.is_empty() {
        return Err(Failure::failed(
            "found no text to load: no sources in cargo's registry, no workspace here and no \
             library sources; name a file of records in ESKER_DATA",
        ));
    }
    let told = "the workspace's own sources and those of the Rust library, since cargo's registry \
                has none";
    Ok(Texts::Folders {
        folders,
        told: told.into(),
    })
}

/// The nearest directory upwards with a Cargo.lock.
fn workspace() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut upwards = here.ancestors();
    let found = upwards.find(|dir| dir.join("Cargo.lock").is_file())?;
    Some(found.to_path_buf())
}

/// Names with versions of the packages in a Cargo.lock, as cargo names their directories.
fn packages(lock: &str) -> Vec<String> {
    let quoted = |line: &str, name: &str| {
        let rest = line.strip_prefix(name)?.strip_prefix(" = \"")?;
        rest.strip_suffix('"').map(str::to_owned)
    };
    let mut names = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let find = |field: &str| package.lines().find_map(|line| quoted(line, field));
        if let (Some(name), Some(version)) = (find("name"), find("version")) {
            names.push(format!("{name}-{version}"));
        }
    }
    names
}

/// Where cargo unpacked these packages; every package it has when none are named.
fn registry_folders(names: &[String]) -> Vec<Folder> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.map(|home| entries(&home.join("registry/src")));
    let unpacked = registries.unwrap_or_default().into_iter();
    let named = unpacked
        .flat_map(|registry| entries(&registry))
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let is_wanted = path.is_dir() && (names.is_empty() || names.contains(&name));
            is_wanted.then_some(Folder { name, path })
        });
    let mut folders: Vec<Folder> = named.collect();
    folders.sort_by(|left, right| left.name.cmp(&right.name));
    folders
}

fn other_folders(workspace: Option<&Path>) -> Vec<Folder> {
    let mut folders = Vec::new();
    if let Some(path) = workspace.map(|root| root.join("crates")) {
        folders.push(Folder {
            name: "workspace".into(),
            path,
        });
    }
    // Whoever has no rustc has no library sources either.
    let printed = Command::new("rustc").args(["--print", "sysroot"]).output();
    if let Ok(printed) = printed {
        let root = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
        folders.push(Folder {
            name: "rust-library".into(),
            path: Path::new(&root).join("lib/rustlib/src/rust/library"),
        });
    }
    folders.retain(|folder| folder.path.is_dir());
    folders
}

/// The entries of a directory in order, without hidden ones; none if it cannot be read.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let shown = found
        .flatten()
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut paths: Vec<PathBuf> = shown.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Hands every record of the folders to `sink`, with the key `folder/path/offset`: whole files, in
/// an order that has nothing to do with their names, since real keys seldom come sorted.
pub fn for_each_record(
    folders: &[Folder],
    sink: &mut dyn FnMut(&[u8], &[u8]) -> Outcome,
) -> Outcome {
    let mut files: Vec<(String, PathBuf)> = folders.iter().flat_map(files_in).collect();
    shuffle(&mut files);
    let mut left = TEXT_BYTES_MAX;
    for (name, path) in &files {
        let Some(text) = text_of(path) else { continue };
        let Some(less) = left.checked_sub(text.len() as u64) else {
            return Ok(());
        };
        left = less;
        for (offset, record) in Records::new(&text) {
            sink(format!("{name}/{offset:07}").as_bytes(), record)?;
        }
    }
    Ok(())
}

/// The files of a folder with their names in keys, in order.
fn files_in(folder: &Folder) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.path.clone()];
    while let Some(path) = waiting.pop() {
        // Links could lead in circles.
        let Ok(facts) = fs::symlink_metadata(&path) else {
            continue;
        };
        if facts.is_dir() {
            waiting.extend(entries(&path).into_iter().rev());
        } else if facts.is_file() && (1..=FILE_BYTES_MAX).contains(&facts.len()) {
            let inside = path.strip_prefix(&folder.path).unwrap_or(&path);
            files.push((format!("{}/{}", folder.name, inside.display()), path));
        }
    }
    files
}

/// Fisher and Yates, from a fixed seed: everyone with the same files gets the same order.
fn shuffle<T>(list: &mut [T]) {
    let mut random = Random::new(list.len() as u64);
    for last in (1..list.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).expect("an index of the list");
        list.swap(last, other);
    }
}

/// The file's bytes if they are text.
fn text_of(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// Pieces of a text with their offsets; together they are the text.
struct Records<'a> {
    text: &'a [u8],
    offset: usize,
}

impl<'a> Records<'a> {
    fn new(text: &'a [u8]) -> Records<'a> {
        Records { text, offset: 0 }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self
            .text
            .get(self.offset..)
            .filter(|rest| !rest.is_empty())?;
        let from = RECORD_BYTES.min(rest.len());
        let until = RECORD_BYTES_MAX.min(rest.len());
        let line_end = rest[from..until].iter().position(|byte| *byte == b'\n');
        let end = line_end.map_or(until, |at| from + at + 1);
        let offset = self.offset;
        self.offset += end;
        Some((offset, &rest[..end]))
    }
}

/// The words of a text: runs of 3 to 40 ASCII letters, digits and underscores.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .filter(|word| (3..=40).contains(&word.len()))
}

#[cfg(test)]
mod tests;
