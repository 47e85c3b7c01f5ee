//! The summary: one table, the sizes, and what to try next.

use std::path::Path;

use esker_bench::table::Table;
use serde_json::{Value, json};

use crate::demo::kill::Round;
use crate::demo::stage::Act;
use crate::quantity;

/// Sizes that the demo measured, in bytes.
pub struct Sizes {
    /// Keys and values that were loaded.
    pub raw: u64,
    /// Sorted files after that load.
    pub sorted: u64,
    /// Everything in the directory then.
    pub disk: u64,
    /// Memory that was resident at most, where the system tells.
    pub peak: Option<u64>,
    /// What the demo itself keeps to compare with, about.
    pub books: u64,
    /// The limit that the engine was given.
    pub limit: u64,
}

/// The table: a line for each act.
pub fn table(acts: &[Act]) -> Vec<String> {
    let heads = ["", "a second", "p50", "p99"];
    let mut table = Table::new(&heads).with_sides("<>>>");
    for act in acts {
        let timings = &act.timings;
        table.add([
            act.name.into(),
            quantity::rate(timings.count(), timings.total()),
            quantity::duration(timings.percentile(50.0)),
            quantity::duration(timings.percentile(99.0)),
        ]);
    }
    table.lines()
}

/// What the kills showed: the number that matters most, and what it says. None without kills.
pub fn kills(rounds: &[Round]) -> Option<(String, String)> {
    let acknowledged: u64 = rounds.iter().map(|round| round.acknowledged).sum();
    let told = format!(
        "of {} acknowledged batches lost in {}",
        quantity::count(acknowledged),
        quantity::counted(rounds.len() as u64, "kill")
    );
    // A round that lost any has ended the demo with a failure.
    (!rounds.is_empty()).then(|| ("0".to_owned(), told))
}

/// The numbers that come next, each with what it says.
pub fn facts(acts: &[Act], sizes: &Sizes) -> Vec<(String, String)> {
    let speed = |act: &Act| {
        let timings = &act.timings;
        let p99 = quantity::duration(timings.percentile(99.0));
        let rate = quantity::rate(timings.count(), timings.total());
        let told = format!("{} a second: {}; p99 {p99}", act.unit, act.name);
        (rate.trim_end_matches("/s").to_owned(), told)
    };
    let mut facts: Vec<(String, String)> = acts.iter().take(2).map(speed).collect();
    facts.push(disk(sizes));
    facts.extend(memory(sizes));
    facts
}

/// How much of its size the text takes in files.
pub fn disk(sizes: &Sizes) -> (String, String) {
    let share = sizes.sorted.saturating_mul(100) / sizes.raw.max(1);
    let log = sizes.disk.saturating_sub(sizes.sorted);
    let [sorted, raw, log] = [sizes.sorted, sizes.raw, log].map(quantity::bytes);
    let told = format!(
        "of its size is what the text takes: {sorted} of files for {raw}, and {log} of log"
    );
    (format!("{share} %"), told)
}

/// The most memory that the demo took, where the system tells.
pub fn memory(sizes: &Sizes) -> Option<(String, String)> {
    let [limit, books] = [sizes.limit, sizes.books].map(quantity::bytes);
    let told = format!(
        "of memory at most: memory_limit is {limit}, the demo's list to compare with {books}"
    );
    Some((quantity::bytes(sizes.peak?), told))
}

/// The same for programs.
pub fn to_json(acts: &[Act], sizes: &Sizes) -> Value {
    let acts = acts.iter().map(|act| {
        let nanos = |percent: f64| act.timings.percentile(percent).as_nanos() as u64;
        json!({
            "name": act.name,
            "operations": act.unit,
            "count": act.timings.count(),
            "seconds": act.timings.total().as_secs_f64(),
            "p50_ns": nanos(50.0),
            "p99_ns": nanos(99.0),
            "p999_ns": nanos(99.9),
        })
    });
    json!({
        "acts": acts.collect::<Vec<_>>(),
        "raw_bytes": sizes.raw,
        "sorted_file_bytes": sizes.sorted,
        "disk_bytes": sizes.disk,
        "book_bytes": sizes.books,
        "peak_resident_bytes": sizes.peak,
        "memory_limit_bytes": sizes.limit,
    })
}

/// Commands that work on the demo's database.
pub fn next(dir: &Path, key: &[u8], word: &str) -> Vec<String> {
    let tool = tool();
    let key = String::from_utf8_lossy(key);
    let prefix = key.split('/').next().unwrap_or_default();
    let (key, prefix) = (quoted(&key), quoted(prefix));
    vec![
        "try next".into(),
        format!("  export ESKER_DB={}", quoted(&dir.display().to_string())),
        format!("  {tool} get {key}"),
        format!("  {tool} scan {prefix} --keys-only --limit 20"),
        format!(
            "  {tool} get --keyspace words --value-format hex {}",
            quoted(word)
        ),
        format!("  {tool} levels && {tool} stats"),
        format!("  {tool} help"),
    ]
}

/// How a person here would call this program.
fn tool() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "esker".into());
    let here = std::env::current_dir().unwrap_or_default();
    let near = program.strip_prefix(&here).unwrap_or(&program);
    quoted(&near.display().to_string())
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/._-+:=@%".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
