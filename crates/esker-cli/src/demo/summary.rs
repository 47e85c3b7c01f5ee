//! The summary: one table, the sizes, and what to try next.

use std::path::Path;

use serde_json::{Value, json};

use crate::demo::stage::Act;
use crate::out::{Side, Table};
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
    /// The same before the database was opened.
    pub before: Option<u64>,
    /// What the demo itself keeps to compare with, about.
    pub books: u64,
    /// The limit that the engine was given.
    pub limit: u64,
}

/// The table: a line for each act.
pub fn table(acts: &[Act]) -> Vec<String> {
    let mut table = Table::new([
        ("what", Side::Left),
        ("count", Side::Right),
        ("time", Side::Right),
        ("rate", Side::Right),
        ("p50", Side::Right),
        ("p99", Side::Right),
        ("proved", Side::Left),
    ]);
    for act in acts {
        let timings = &act.timings;
        table.row([
            act.name.into(),
            format!("{} {}", quantity::count(timings.count()), act.unit),
            quantity::duration(timings.total()),
            quantity::rate(timings.count(), timings.total()),
            quantity::duration(timings.percentile(50.0)),
            quantity::duration(timings.percentile(99.0)),
            act.proved.clone(),
        ]);
    }
    table.lines()
}

/// The sizes in words.
pub fn sizes(sizes: &Sizes) -> Vec<String> {
    let share = sizes.sorted.saturating_mul(100) / sizes.raw.max(1);
    let mut lines = vec![format!(
        "disk    {} of keys and values take {} in sorted files ({share} %); the log, laid out \
         ahead, {}",
        quantity::bytes(sizes.raw),
        quantity::bytes(sizes.sorted),
        quantity::bytes(sizes.disk.saturating_sub(sizes.sorted))
    )];
    if let (Some(peak), Some(before)) = (sizes.peak, sizes.before) {
        let [peak, before, limit, books] =
            [peak, before, sizes.limit, sizes.books].map(quantity::bytes);
        lines.push(format!(
            "memory  {peak} at most: {before} before the database was opened, memory_limit \
             {limit}, the demo's own books {books}"
        ));
    }
    lines
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
    let copy = quoted(&dir.with_file_name("copy").display().to_string());
    vec![
        "what to try next:".into(),
        format!("  export ESKER_DB={}", quoted(&dir.display().to_string())),
        format!("  {tool} get {key}"),
        format!("  {tool} scan {prefix} --keys-only --limit 20"),
        format!(
            "  {tool} get --keyspace words --value-format hex {}",
            quoted(word)
        ),
        format!("  {tool} dump {prefix} | {tool} load --db {copy} --format tsv -"),
        format!("  {tool} stats"),
        format!("  {tool} compact && {tool} levels"),
        format!("  {tool} verify"),
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
