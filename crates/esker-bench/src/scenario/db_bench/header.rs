//! What is printed in front of the first benchmark.

use std::fs;

use crate::console::Console;
use crate::fail::Outcome;
use crate::flags::flag::Dialect;
use crate::report::date;
use crate::report::machine::colon_field;
use crate::scenario::db_bench::setup::Setup;
use crate::target::settings::Matched;
use crate::target::store::Engine;

/// What is said of a build without optimisation.
const WARNING: &str =
    "WARNING: Optimization is low and assertions are on: benchmarks unnecessarily slow\n";

/// The line under the header.
const RULE: &str = "------------------------------------------------\n";

/// Prints engine and machine on standard error and the workload on standard output, as the
/// dialects do; and what became of the settings.
pub fn print(
    setup: &Setup,
    engine: &dyn Engine,
    why: &str,
    matched: &[Matched],
    console: &mut Console<'_>,
) -> Outcome {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let count = cpus
        .lines()
        .filter(|line| line.starts_with("model name"))
        .count();
    let (dialect, version) = (setup.dialect(), engine.version());
    let (name, now) = (
        format!("{}:", engine.name()),
        date::ctime(date::unix_seconds()),
    );
    let (model, cache) = (
        colon_field(&cpus, "model name"),
        colon_field(&cpus, "cache size"),
    );
    console.err.write(&format!(
        "{name:<11} version {version}\nCompat:     {} ({why})\nDate:       {now}\n\
         CPU:        {count} * {model}\nCPUCache:   {cache}\n",
        dialect.name()
    ))?;
    for row in matched.iter().filter(|row| row.has_effect()) {
        let note = if row.note.is_empty() {
            String::new()
        } else {
            format!(" ({})", row.note)
        };
        console.err.line(&format!(
            "Setting:    {}={} -> {}{note}",
            row.wish, row.wished, row.given
        ))?;
    }
    console.out.write_all(workload(setup).as_bytes())?;
    if cfg!(debug_assertions) {
        console.out.write_all(WARNING.as_bytes())?;
    }
    Ok(console.out.write_all(RULE.as_bytes())?)
}

fn workload(setup: &Setup) -> String {
    let (key, value) = (setup.key_bytes(), setup.value_size);
    let (num, ratio) = (
        setup.given.count("num"),
        setup.given.number("compression_ratio"),
    );
    let mebibytes = |bytes: f64| bytes * num as f64 / f64::from(1 << 20);
    let raw = mebibytes((key + value) as f64);
    let packed = mebibytes(key as f64 + value as f64 * ratio);
    // Half a byte counts as one.
    let packed_value = (value as f64 * ratio + 0.5) as u64;
    let timestamp = match setup.dialect() {
        Dialect::RocksDb => " (+ 0 bytes user-defined timestamp)",
        _ => "",
    };
    let mut text = format!(
        "Keys:       {key} bytes each{timestamp}\n\
         Values:     {value} bytes each ({packed_value} bytes after compression)\n\
         Entries:    {num}\n"
    );
    if setup.dialect() == Dialect::RocksDb {
        text += "Prefix:    0 bytes\nKeys per prefix:    0\n";
    }
    text += &format!("RawSize:    {raw:.1} MB (estimated)\n");
    text += &format!("FileSize:   {packed:.1} MB (estimated)\n");
    let packing = setup
        .settings
        .packing
        .map_or("none", |packing| packing.name());
    match setup.dialect() {
        Dialect::LevelDb => {}
        Dialect::RocksDb2013 => {
            text +=
                &format!("Write rate limit: 0\nCompression: {packing}\nMemtablerep: skip_list\n");
        }
        Dialect::RocksDb => {
            let name = match packing {
                "none" => "NoCompression",
                "snappy" => "Snappy",
                "lz4" => "LZ4",
                _ => "ZSTD",
            };
            text += &format!(
                "Write rate: 0 bytes/second\nRead rate: 0 ops/second\n\
                 Compression: {name}\nCompression sampling rate: 0\n\
                 Memtablerep: SkipListFactory\nPerf Level: 1\n"
            );
        }
    }
    text
}
