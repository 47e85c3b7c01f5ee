//! What the acts of the demo share: its directory, the open database, the books to check against.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use esker::Db;

use crate::demo::measure::Timings;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;

/// Settings of the demo's database, where the user does not say otherwise: small enough that a
/// few dozen megabytes fill several levels, and that the data is larger than the memory.
pub const SETTINGS: [(&str, &str); 4] = [
    ("memory_limit", "64MiB"),
    ("memtable.size", "4MiB"),
    ("sst.file_size", "2MiB"),
    ("compaction.base_level", "8MiB"),
];

/// Tells that a directory is the demo's own and may be cleared.
const MARK: &str = "made-by-esker-demo";

/// Checksums of everything that was put, by key.
pub type Books = BTreeMap<Vec<u8>, u64>;

/// One line of the summary.
pub struct Act {
    /// What was done.
    pub name: &'static str,
    /// What each operation was.
    pub unit: &'static str,
    /// How long each took.
    pub timings: Timings,
    /// What was compared with the books.
    pub proved: String,
}

/// The checksum that the books keep of a value.
pub fn checksum(value: &[u8]) -> u64 {
    // Not for security and not for a file: one process compares its own values.
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

/// Memory of such a list, about: each key is an allocation, each entry a slot of a tree that is
/// two thirds full.
pub fn book_bytes(books: &Books) -> u64 {
    const SLOT_BYTES: u64 = (size_of::<Vec<u8>>() + size_of::<u64>()) as u64 * 3 / 2;
    const ALLOCATION_BYTES: u64 = 16;
    let keys: u64 = books.keys().map(|key| key.len() as u64).sum();
    keys + books.len() as u64 * (SLOT_BYTES + ALLOCATION_BYTES)
}

/// Where the demo plays.
pub struct Stage {
    /// Its directory.
    pub dir: PathBuf,
    /// What every command shares, with the demo's database and settings.
    pub shared: GlobalFlags,
}

impl Stage {
    /// An empty directory: the one asked for, else `target/demo` in a workspace, else one for
    /// temporary files. What an earlier demo left there is removed; anything else is refused.
    pub fn set(shared: &GlobalFlags, dir: Option<&Path>) -> Outcome<Stage> {
        let dir = dir.map_or_else(usual_dir, Path::to_path_buf);
        clear(&dir)?;
        let mut shared = shared.clone();
        shared.db = Some(dir.join("db"));
        for (name, text) in SETTINGS {
            let is_given = |pair: &String| pair.split('=').next() == Some(name);
            if !shared.settings.iter().any(is_given) {
                shared.settings.push(format!("{name}={text}"));
            }
        }
        Ok(Stage { dir, shared })
    }

    /// Opens the database.
    pub fn open(&self) -> Outcome<Db> {
        Ok(open::builder(&self.shared)?.open()?)
    }

    /// The directory of the database.
    pub fn db_dir(&self) -> PathBuf {
        self.dir.join("db")
    }

    /// Bytes of all files of the database.
    pub fn disk_bytes(&self) -> u64 {
        let files = fs::read_dir(self.db_dir()).into_iter().flatten().flatten();
        let sizes = files
            .filter_map(|file| file.metadata().ok())
            .map(|facts| facts.len());
        sizes.sum()
    }
}

fn usual_dir() -> PathBuf {
    if Path::new("target").is_dir() {
        return Path::new("target").join("demo");
    }
    std::env::temp_dir().join(format!("esker-demo-{}", std::process::id()))
}

fn clear(dir: &Path) -> Outcome {
    let failed =
        |doing: &str, error| Failure::system(format!("cannot {doing} {}", dir.display()), &error);
    let is_used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if is_used && !dir.join(MARK).exists() {
        return Err(Failure::usage(format!(
            "{} holds something that the demo did not make; name an empty directory with --dir",
            dir.display()
        )));
    }
    if is_used {
        fs::remove_dir_all(dir).map_err(|error| failed("clear", error))?;
    }
    fs::create_dir_all(dir).map_err(|error| failed("create", error))?;
    fs::write(dir.join(MARK), b"").map_err(|error| failed("write to", error))
}
