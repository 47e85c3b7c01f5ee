//! Properties by name, as users of LevelDB and RocksDB ask for them.

use std::fmt::Write;

use crate::base::types::ids::Level;
use crate::base::types::limits::LEVEL_COUNT;
use crate::db::core::Core;
use crate::db::open_keyspace::DEFAULT_KEYSPACE;
use crate::db::statistics::gather;
use crate::store::version::levels::Levels;

/// The text of a property of the keyspace `default`; `None` for an unknown name.
///
/// Known: `<engine>.stats`, `<engine>.levelstats`, `<engine>.sstables`,
/// `<engine>.num-files-at-level<N>` and `<engine>.approximate-memory-usage`, where `<engine>` is
/// `esker`, `leveldb` or `rocksdb`.
pub fn property(core: &Core, name: &str) -> Option<String> {
    let (engine, rest) = name.split_once('.')?;
    if !["esker", "leveldb", "rocksdb"].contains(&engine) {
        return None;
    }
    let parts = core.keyspaces.find(DEFAULT_KEYSPACE)?;
    let view = parts.current.view();
    let levels = &view.parts().levels;
    match rest {
        "stats" if engine == "leveldb" => Some(leveldb_stats(levels)),
        "stats" => Some(gather(core).to_string()),
        "levelstats" => Some(level_stats(levels)),
        "sstables" => Some(sstables(levels)),
        "approximate-memory-usage" => {
            gather(core);
            Some(core.memory_budget.total_bytes().to_string())
        }
        _ => {
            let depth = rest.strip_prefix("num-files-at-level")?.parse().ok()?;
            let level = Level::new(depth)?;
            let runs = levels.runs(level).iter();
            Some(runs.map(|run| run.files().len()).sum::<usize>().to_string())
        }
    }
}

/// LevelDB's table. Time and traffic per level are not kept, and stand as 0.
fn leveldb_stats(levels: &Levels) -> String {
    let mut text = String::from(
        "                               Compactions\n\
         Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n\
         --------------------------------------------------\n",
    );
    for level in Level::all().filter(|level| levels.size_bytes(*level) > 0) {
        let files: usize = levels.runs(level).iter().map(|run| run.files().len()).sum();
        let size = levels.size_bytes(level) as f64 / f64::from(1 << 20);
        let depth = level.index();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{depth:>3} {files:>8} {size:>8.0} {:>9.0} {:>8.0} {:>9.0}",
            0, 0, 0
        );
    }
    text
}

fn level_stats(levels: &Levels) -> String {
    let mut text = String::from("Level Files Size(MB)\n--------------------\n");
    for depth in 0..LEVEL_COUNT {
        let Some(level) = Level::new(depth) else {
            continue;
        };
        let files: usize = levels.runs(level).iter().map(|run| run.files().len()).sum();
        let size = levels.size_bytes(level) as f64 / f64::from(1 << 20);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{depth:>3} {files:>8} {size:>8.0}");
    }
    text
}

fn sstables(levels: &Levels) -> String {
    let mut text = String::new();
    for (level, run) in levels.all_runs() {
        for file in run.files() {
            let (smallest, largest) = (file.smallest.escape_ascii(), file.largest.escape_ascii());
            let (number, size) = (file.number, file.size_bytes);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{level} {number} {size} bytes '{smallest}'..'{largest}'"
            );
        }
    }
    text
}
