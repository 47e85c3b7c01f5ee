//! Counters: read, change, write against one merge, with the flags of the document.
//!
//! Source: RocksDB's wiki, "Read-Modify-Write Benchmarks", 2013: 50 million keys, 8-byte values,
//! the log off, 10 threads (its text says one), each with 50 million operations.

use crate::fail::{Failure, Outcome};
use crate::make::slices::{Alphabet, Slices, pool};
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::published::{MERGES, value};
use crate::report::record::{Record, Verdict};
use crate::scenario::suite::db_bench_run;
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::Stage;
use crate::table::Table;
use crate::target::settings::StoreSettings;

/// The document's flags but for the counts of keys and operations, which the size gives.
const FLAGS: &str = "--disable_seek_compaction=1 --mmap_read=0 --statistics=1 --histogram=1 \
    --value_size=8 --block_size=65536 --disable_wal=1 --stats_interval=1000000 \
    --max_background_compactions=20 --level0_file_num_compaction_trigger=4 \
    --level0_slowdown_writes_trigger=8 --level0_stop_writes_trigger=12 --num_levels=6 \
    --delete_obsolete_files_period_micros=300000000 --min_level_to_compress=2 \
    --max_grandparent_overlap_factor=10 --stats_per_interval=1 \
    --max_bytes_for_level_base=10485760 --use_existing_db=0";

/// The document's `t`.
const THREADS: u64 = 10;

/// How many times as many merges are to be done as updates: the published ratio, 105 892 to 33 498.
const RATIO_MIN: f64 = 3.16;

/// Bytes of a counter.
const VALUE_BYTES: usize = 8;

/// The two lines, and what each runs.
const LINES: [(&str, &str); 2] = [
    ("updaterandom", "updaterandom"),
    // The flush puts into files what no log holds, so that the sums can be held together.
    ("mergerandom", "mergerandom,flush"),
];

/// Bytes on the disk for each key: 24 of key and counter, what a file adds, and as much again while
/// files are merged.
const KEY_DISK_BYTES: u64 = 100;

/// Keys at each size.
pub fn keys(size: Size) -> u64 {
    size.pick(200_000, 3_000_000, 50_000_000)
}

/// Bytes that it takes on the disk.
pub fn disk_bytes(size: Size) -> u64 {
    keys(size) * KEY_DISK_BYTES
}

/// Runs both lines in turns and tells their ratio.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let keys = stage.request.scaled(keys(stage.request.size));
    let rounds = stage.request.rounds.unwrap_or(3);
    stage.say(&format!(
        "{} keys, {THREADS} threads with as many operations each, 8-byte values, no log; {} in \
         turns\n",
        quantity::grouped(keys),
        quantity::counted(rounds as u64, "round")
    ))?;
    let mut rates = [Vec::new(), Vec::new()];
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        stage.round = round;
        // Who begins changes, so that neither always has the warmer machine.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for place in order {
            let (name, list) = LINES[place];
            let record = line(stage, list, keys)?;
            if name == "mergerandom" {
                check_sums(stage, keys)?;
            }
            for mut measurement in record.measurements {
                rates[place].push(measurement.ops_per_s);
                times[place].push(1e9 * measurement.wall_s / measurement.ops.max(1) as f64);
                measurement.is_verified = name == "mergerandom";
                stage.keep_measurement(name, measurement);
            }
        }
    }
    stage.clear()?;
    tell(stage, &rates, &times)
}

fn line(stage: &mut Stage<'_, '_>, list: &str, keys: u64) -> Outcome<Record> {
    let mut words: Vec<String> = FLAGS.split_whitespace().map(str::to_owned).collect();
    words.push(format!("--benchmarks={list}"));
    words.push(format!("--num={keys}"));
    words.push(format!("--threads={THREADS}"));
    if list.contains("merge") {
        words.push("--merge_operator=uint64add".into());
    }
    db_bench_run::run(stage, "", &words)
}

/// Holds the sum of all counters against the sum of all that was merged: a merge that is lost, or
/// counted twice, shows. Every thread merges the same values, because that is what the dialect's
/// values are.
fn check_sums(stage: &Stage<'_, '_>, keys: u64) -> Outcome {
    let mut values = Slices::new(pool(Alphabet::Printable, 0.5, 100_000));
    let mut merged = 0_u64;
    for _ in 0..keys {
        merged = merged.wrapping_add(number(values.next_slice(VALUE_BYTES)));
    }
    let merged = merged.wrapping_mul(THREADS);
    let settings = StoreSettings {
        has_merges: true,
        ..StoreSettings::default()
    };
    let play = stage.open(&settings)?;
    let mut cursor = play.store.cursor()?;
    let mut counted = 0_u64;
    let mut is_there = cursor.seek_to_first()?;
    while is_there {
        counted = counted.wrapping_add(number(cursor.value()));
        is_there = cursor.next()?;
    }
    drop(cursor);
    play.store.close()?;
    match counted == merged {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "the counters sum up to {counted}, and {merged} was merged into them"
        ))),
    }
}

/// Eight bytes as a number; anything else counts as 0, as the operator has it.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn tell(stage: &mut Stage<'_, '_>, rates: &[Vec<f64>; 2], times: &[Vec<f64>; 2]) -> Outcome {
    let nothing = || Failure::failed("no round was run");
    let mut table = Table::new(&["line", "operations/s", "time/operation", "published"]);
    let published = LINES.map(|(name, _)| value(&MERGES, name, 0).unwrap_or(f64::NAN));
    for (place, (name, _)) in LINES.iter().enumerate() {
        let rate = Summary::of(rates[place].iter().copied()).ok_or_else(nothing)?;
        let time = Summary::of(times[place].iter().copied()).ok_or_else(nothing)?;
        table.add(vec![
            (*name).into(),
            rate.text(quantity::rate),
            time.text(quantity::nanos),
            quantity::rate(published[place]),
        ]);
    }
    let [update, merge] = rates;
    let ratio = Summary::of_ratios(merge, update).ok_or_else(nothing)?;
    let asked = format!("{RATIO_MIN} × updaterandom");
    let verdict = Verdict::at_least("mergerandom", asked, Some(ratio), RATIO_MIN);
    stage.record.verdicts.push(verdict);
    table.add(vec![
        "mergerandom ÷ updaterandom".into(),
        ratio.text(|ratio| format!("{ratio:.2}")),
        String::new(),
        format!("{:.2}", published[1] / published[0]),
    ]);
    stage.say(&format!(
        "\n{}Median, in brackets lowest and highest round. Every counter was added up: the \
         sums are right.\nPublished: RocksDB of 2013, 16 cores Xeon E5-2660, 144 GB, flash.\n\n",
        table.text()
    ))
}
