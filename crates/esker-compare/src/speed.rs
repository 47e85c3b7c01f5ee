//! The engines in turns, and their ratio line by line.

use crate::Fault;
use crate::engine::{Kind, Setup};
use crate::esker_engine::ESKER;
use crate::lines::{self, LINES, Round, Times};
use crate::settings::Settings;
use crate::summary::Summary;

/// Measures and prints one table for each way of packing.
pub fn run(settings: &Settings) -> Result<(), Fault> {
    for is_packed in [false, true] {
        if settings.is_packed.is_none_or(|only| only == is_packed) {
            table(settings, is_packed)?;
        }
    }
    Ok(())
}

fn table(settings: &Settings, is_packed: bool) -> Result<(), Fault> {
    let setup = Setup {
        cache_bytes: settings.cache_bytes,
        buffer_bytes: settings.buffer_bytes,
        is_packed,
        bloom_bits: settings.bloom_bits,
        esker: settings.esker.clone(),
    };
    println!(
        "{} keys of 16 bytes, values of 100 that pack to half, one thread, no sync; cache {} MiB, \
         memtable {} MiB, filter {} bits a key, packing {}; {} rounds in turns",
        settings.key_count,
        setup.cache_bytes >> 20,
        setup.buffer_bytes >> 20,
        setup.bloom_bits,
        if is_packed { "snappy" } else { "none" },
        settings.round_count,
    );
    let kinds: Vec<Kind> = engines()
        .into_iter()
        .filter(|kind| settings.only.as_ref().is_none_or(|only| only == kind.name))
        .collect();
    let mut rounds: Vec<Vec<Round>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..settings.round_count {
        for (kind, rounds) in kinds.iter().zip(&mut rounds) {
            let dir = settings.dir.join(kind.name);
            rounds.push(lines::run(*kind, &dir, &setup, settings.key_count)?);
        }
        let found = rounds.iter().filter_map(|rounds| rounds.last());
        let answers: Vec<_> = found.map(|round| (round.found_count, round.met)).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    }
    print(settings, &kinds, &rounds);
    Ok(())
}

#[cfg(feature = "leveldb")]
fn engines() -> Vec<Kind> {
    vec![crate::leveldb::LEVELDB, ESKER]
}

#[cfg(not(feature = "leveldb"))]
fn engines() -> Vec<Kind> {
    vec![ESKER]
}

// The median of the ratios of neighbouring rounds says more than the ratio of the medians where
// the machine's speed changes from minute to minute; both engines of a pair saw the same minute.
fn print(settings: &Settings, kinds: &[Kind], rounds: &[Vec<Round>]) {
    let names: String = kinds
        .iter()
        .map(|kind| format!("{:>27}{:>8}", kind.name, "own"))
        .collect();
    let heads = format!("{:>8}{:>8}", "ratio", "of own");
    println!("{:<23}{names}{heads}", "ns for each operation");
    for (index, line) in LINES.iter().enumerate() {
        if !settings.lines.is_empty() && !settings.lines.iter().any(|name| name == line) {
            continue;
        }
        let of = |rounds: &[Round]| -> Vec<Times> {
            rounds.iter().map(|round| round.times[index]).collect()
        };
        let cells: String = rounds.iter().map(|rounds| cell(&of(rounds))).collect();
        let ratios = match rounds {
            [rival, ours] => ratios(&of(rival), &of(ours)),
            _ => String::new(),
        };
        println!("{line:<23}{cells}{ratios}");
    }
    let sizes = rounds.iter().map(|rounds| {
        let sizes = rounds.iter().map(|round| (round.disk_bytes >> 10) as f64);
        format!("{:>35.0}", Summary::of(sizes.collect()).median)
    });
    let sizes: String = sizes.collect();
    println!("{:<23}{sizes}\n", "KiB on disk at the end");
}

fn ratios(rival: &[Times], ours: &[Times]) -> String {
    let pairs = || rival.iter().zip(ours);
    let wall = pairs().map(|(rival, ours)| rival.wall_ns / ours.wall_ns);
    let own = pairs().map(|(rival, ours)| rival.own_ns / ours.own_ns);
    let (wall, own) = (Summary::of(wall.collect()), Summary::of(own.collect()));
    format!("{:>8.2}{:>8.2}", wall.median, own.median)
}

fn cell(times: &[Times]) -> String {
    let wall = Summary::of(times.iter().map(|times| times.wall_ns).collect());
    let own = Summary::of(times.iter().map(|times| times.own_ns).collect());
    let Summary { median, min, max } = wall;
    let spread = format!("({min:.0}-{max:.0})");
    format!("{median:>9.0} {spread:>17}{:>8.0}", own.median)
}
