//! How the time of an operation grows with the keys, cache and memory growing alike.

use crate::fail::Outcome;
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::record::Verdict;
use crate::scenario::suite::db_bench_run;
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::Stage;
use crate::table::Table;

/// Bytes of a key and its value.
const ENTRY_BYTES: u64 = 116;

/// LevelDB has 8 MiB of cache for a million keys: as large a share of the keys at every size.
const CACHE_SHARE: (u64, u64) = (8 << 20, 1_000_000);

/// Reads of each line: enough for a mean; a walk over more would say nothing new.
const READS_MAX: u64 = 500_000;

/// Times that the largest may take what the smallest takes.
const GOAL: f64 = 2.0;

const LIST: [&str; 4] = ["fillrandom", "readrandom", "readseq", "seekrandom"];

/// Keys at each size.
pub fn steps(size: Size) -> [u64; 3] {
    size.pick(
        [200_000, 600_000, 2_000_000],
        [1_000_000, 4_000_000, 10_000_000],
        [1_000_000, 10_000_000, 50_000_000],
    )
}

/// Bytes that it takes on the disk, and as much again while files are merged.
pub fn disk_bytes(size: Size) -> u64 {
    let [_, _, most] = steps(size);
    most * ENTRY_BYTES * 2
}

/// Runs the lines at three sizes.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let steps = steps(stage.request.size).map(|keys| stage.request.scaled(keys));
    stage.say(
        "Fill, read, walk, seek with more and more keys; the block cache holds the same share \
         of them each time, the write buffer is the same.\n",
    )?;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); LIST.len()];
    for keys in steps {
        let cache = (keys * CACHE_SHARE.0 / CACHE_SHARE.1).max(1 << 20);
        let words = [
            "--compat=leveldb".to_owned(),
            format!("--benchmarks={}", LIST.join(",")),
            format!("--num={keys}"),
            format!("--reads={}", keys.min(READS_MAX)),
            format!("--cache_size={cache}"),
        ];
        let head = format!("{:>12}  ", quantity::grouped(keys));
        let record = db_bench_run::run(stage, &head, &words)?;
        for measurement in record.measurements {
            let place = LIST.iter().position(|name| *name == measurement.name);
            if let Some(place) = place {
                times[place].push(1e9 * measurement.lane_s / measurement.ops.max(1) as f64);
            }
            let name = format!("growth-{keys}-{}", measurement.name);
            stage.keep_measurement(&name, measurement);
        }
    }
    stage.clear()?;
    let heads = steps.map(quantity::grouped);
    let [few, some, many] = &heads;
    let mut table = Table::new(&["time/operation", few, some, many, "most ÷ fewest"]);
    for (name, times) in LIST.iter().zip(&times) {
        let growth = times.last().unwrap_or(&0.0) / times.first().unwrap_or(&1.0).max(1e-9);
        let asked = format!("{GOAL} × the time at {few} keys, at {many}");
        let verdict = Verdict::at_most(name, asked, Some(Summary::one(growth)), GOAL);
        stage.record.verdicts.push(verdict);
        let mut cells = vec![(*name).to_owned()];
        cells.extend(times.iter().map(|time| quantity::nanos(*time)));
        cells.push(format!("{growth:.2}"));
        table.add(cells);
    }
    stage.say(&format!("\n{}\n", table.text()))
}
