//! LevelDB's list of benchmarks in LevelDB's dialect, beside the figures of two machines.
//!
//! Source: notes on LevelDB 1.20 of about 2017, a desktop with a SATA SSD and a server with a hard
//! disk; a million keys, nothing packed.

use crate::fail::{Failure, Outcome};
use crate::flags::flag::Dialect;
use crate::make::dice::ParkMiller;
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::published::{DESKTOP, SERVER, value};
use crate::report::record::Measurement;
use crate::scenario::db_bench::default_list::default_list;
use crate::scenario::suite::db_bench_run;
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::Stage;
use crate::table::Table;

/// Bytes on the disk for each key: 116 of key and value and those of its share of 100 KB values,
/// and as much again while files are merged.
const KEY_DISK_BYTES: u64 = 650;

/// LevelDB's own seeds: what each thread of its list draws keys with.
const FILL_SEEDS: [u32; 2] = [1003, 1004];
const READ_SEEDS: [u32; 3] = [1005, 1006, 1010];

/// Keys at each size.
pub fn keys(size: Size) -> u64 {
    size.pick(100_000, 300_000, 1_000_000)
}

/// Bytes that it takes on the disk.
pub fn disk_bytes(size: Size) -> u64 {
    keys(size) * KEY_DISK_BYTES
}

/// Runs the list.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let keys = stage.request.scaled(keys(stage.request.size));
    let rounds = stage.request.rounds.unwrap_or(1);
    stage.say(&format!(
        "{} keys of 16 bytes, values of 100 bytes at 50 %, 1 thread, LevelDB's own keys and \
         seeds; {}\n",
        quantity::grouped(keys),
        quantity::counted(rounds as u64, "round")
    ))?;
    let mut lines: Vec<Line> = Vec::new();
    for round in 0..rounds {
        let words = [
            "--compat=leveldb".to_owned(),
            // Loads of a pointer are not in today's list, and were in that of the figures.
            format!(
                "--benchmarks={},acquireload",
                default_list(Dialect::LevelDb)
            ),
            format!("--num={keys}"),
        ];
        stage.round = round;
        let record = db_bench_run::run(stage, "", &words)?;
        check_found(&record.measurements, keys)?;
        for (place, measurement) in record.measurements.into_iter().enumerate() {
            let name = measurement.name.clone();
            if round == 0 {
                let before = lines.iter().filter(|line| line.name == name).count();
                let micros = Vec::new();
                lines.push(Line {
                    name,
                    before,
                    micros,
                });
            }
            let micros = 1e6 * measurement.lane_s / measurement.ops.max(1) as f64;
            lines[place].micros.push(micros);
            stage.keep_measurement(&lines[place].name, measurement);
        }
    }
    stage.clear()?;
    tell(stage, &lines)
}

/// One line of the list, over all rounds.
struct Line {
    name: String,
    /// How many of its name come before it.
    before: usize,
    micros: Vec<f64>,
}

/// How many keys the three lines of random reads find in LevelDB: what is written and read follows
/// from the seeds alone.
pub fn found_by_leveldb(keys: u64) -> [u64; READ_SEEDS.len()] {
    let mut there = vec![false; usize::try_from(keys).unwrap_or(0)];
    let drawn = |seed: u32| {
        let mut park = ParkMiller::new(seed);
        let bound = u32::try_from(keys).unwrap_or(u32::MAX);
        (0..keys).map(move |_| park.uniform(bound) as usize)
    };
    for seed in FILL_SEEDS {
        for number in drawn(seed) {
            there[number] = true;
        }
    }
    READ_SEEDS.map(|seed| drawn(seed).filter(|number| there[*number]).count() as u64)
}

fn check_found(measurements: &[Measurement], keys: u64) -> Outcome {
    let told = measurements.iter().filter(|one| one.name == "readrandom");
    for (measurement, wanted) in told.zip(found_by_leveldb(keys)) {
        let wanted = format!("({wanted} of {keys} found)");
        if measurement.message != wanted {
            return Err(Failure::failed(format!(
                "readrandom says {}, and LevelDB finds {wanted}",
                measurement.message
            )));
        }
    }
    Ok(())
}

fn tell(stage: &mut Stage<'_, '_>, lines: &[Line]) -> Outcome {
    let mut table = Table::new(&[
        "line, µs/op",
        "here",
        "SSD, i5",
        "disk, Opteron",
        "SSD ÷ here",
    ]);
    for line in lines {
        let Some(micros) = Summary::of(line.micros.iter().copied()) else {
            continue;
        };
        let name = match line.before {
            0 => line.name.clone(),
            before => format!("{}, {}.", line.name, before + 1),
        };
        // Packing failed there, and our list has what has been added since.
        let published = [&DESKTOP, &SERVER].map(|it| value(it, &line.name, line.before));
        let mut cells = vec![name, micros.text(|micros| format!("{micros:.3}"))];
        if let [Some(ssd), Some(disk)] = published {
            cells.extend([ssd, disk].map(|published| format!("{published:.3}")));
            cells.push(format!("{:.1}", ssd / micros.median.max(1e-9)));
        }
        table.add(cells);
    }
    stage.say(&format!(
        "\n{}Random reads found exactly the keys that LevelDB finds.\nPublished: LevelDB 1.20, \
         about 2017, a million keys, nothing packed.\n\n",
        table.text()
    ))
}

#[cfg(test)]
mod tests;
