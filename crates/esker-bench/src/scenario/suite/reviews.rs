//! Reviews: load real text, then read it with 16 threads at less and less memory.
//!
//! Source: TerarkDB's documentation, Amazon movie reviews, about 2018: 9.1 GB of text, 8 million
//! records of about 1 KB; memory of 64, 8, 4 and 2 GB; RocksDB read its files through memory maps.
//! Its speeds are pictures; its text tells that TerarkDB kept the data in 2.5 GB.

use crate::fail::{Failure, Outcome};
use crate::make::keys::Distribution;
use crate::quantity;
use crate::scenario::suite::fence::Fence;
use crate::scenario::suite::request::LimitBy;
use crate::scenario::suite::review_goals::{
    Bar, Board, byte_rate, field, p95, p99, rate, resident,
};
use crate::scenario::suite::review_load::Keys;
use crate::scenario::suite::review_read::{
    Course16, ONE_BARE, ONE_CACHED, SCAN, Scanned, THREADS, alone, at_limit, line, share_text,
};
use crate::scenario::suite::review_source::Reviews;
use crate::scenario::suite::review_write::{COMPACTED, INSERT, SETTLED, write};
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::Stage;
use crate::table::Table;

/// Memory as shares of the raw bytes, as 8, 4 and 2 GB are of 9.1, first none at all; and how many
/// times as fast as the best rival ours is to read then.
const SHARES: [(Option<f64>, f64); 4] = [
    (None, 2.0),
    (Some(0.9), 3.0),
    (Some(0.45), 8.0),
    (Some(0.22), 8.0),
];

/// How keys are chosen.
const CHOICES: [(&str, Distribution); 2] = [
    ("uniform", Distribution::Uniform),
    ("zipf", Distribution::Scrambled(0.99)),
];

/// Rounds where engines are compared, unless told: a median needs three.
const COMPARED_ROUNDS: usize = 3;

/// A cell without a number.
const NONE: &str = "–";

/// Raw bytes at each size.
pub fn raw_bytes(size: Size) -> u64 {
    size.pick(48_000_000, 1_000_000_000, 9_100_000_000)
}

/// Bytes that it takes on the disk: the log and the files, and as much again while they are merged.
pub fn disk_bytes(size: Size) -> u64 {
    raw_bytes(size) * 5 / 2
}

/// Loads, then reads: one thread alone, then many at each limit.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let begun = stage.record.measurements.len();
    let limit_by = limit_by(stage)?;
    let keys = load_all(stage)?;
    let is_compared = stage.seats.len() > 1;
    let usual = if is_compared { COMPARED_ROUNDS } else { 1 };
    let rounds = stage.request.rounds.unwrap_or(usual);
    for round in 0..rounds {
        stage.round = round;
        let mut seen: Option<Scanned> = None;
        for place in stage.order(round) {
            stage.place = place;
            let scanned = alone(stage, &keys)?;
            if *seen.get_or_insert(scanned) != scanned {
                return Err(Failure::failed(format!(
                    "the engines disagree: a scan saw {seen:?}, that of {} {scanned:?}",
                    stage.engine().name()
                )));
            }
        }
    }
    for round in 0..rounds {
        stage.round = round;
        for (share, _) in SHARES {
            for (choice, distribution) in CHOICES {
                for place in stage.order(round) {
                    stage.place = place;
                    let reading = Course16 {
                        share,
                        choice,
                        distribution,
                    };
                    at_limit(stage, &keys, reading, limit_by)?;
                }
            }
        }
    }
    for place in 0..stage.seats.len() {
        stage.place = place;
        stage.clear()?;
    }
    stage.place = 0;
    tell(stage, begun, &keys)
}

/// What limits memory, after a look at what may be done.
fn limit_by(stage: &Stage<'_, '_>) -> Outcome<LimitBy> {
    let limit_by = match stage.request.limit_by {
        // A fence that holds nothing in: whether one may be raised is all that is asked.
        LimitBy::Either => match Fence::raise(i64::MAX as u64) {
            Ok(_) => LimitBy::ControlGroup,
            Err(failure) => {
                stage.note(&failure.message)?;
                LimitBy::Setting
            }
        },
        told => told,
    };
    if limit_by == LimitBy::Setting {
        stage.note(
            "memory is limited by the engine's setting, and the system's page cache is not: \
             --limit_by=cgroup limits both, where a control group may be made",
        )?;
    }
    Ok(limit_by)
}

/// Loads every engine with the same reviews; their keys.
fn load_all(stage: &mut Stage<'_, '_>) -> Outcome<Keys> {
    let (all, scale) = (raw_bytes(stage.request.size), stage.request.scale);
    let wanted = stage.request.scaled(all);
    let mut first: Option<Keys> = None;
    for place in stage.order(0) {
        stage.place = place;
        let mut reviews = Reviews::open(stage.request.reviews.as_deref(), wanted.min(all), scale)?;
        if place == 0 {
            stage.say(&format!("{}\n", reviews.told()))?;
        }
        if stage.seats.len() > 1 {
            stage.say(&format!("{}\n", stage.engine().name()))?;
        }
        let keys = write(stage, &mut reviews, wanted)?;
        match &first {
            None => first = Some(keys),
            Some(other) if other.is_same(&keys) => {}
            Some(_) => {
                let told = "the file of reviews changed while it was read";
                return Err(Failure::failed(told));
            }
        }
    }
    first.ok_or_else(|| Failure::usage("no engine takes part"))
}

/// The tables, and the goals where there are rivals.
fn tell(stage: &mut Stage<'_, '_>, begun: usize, keys: &Keys) -> Outcome {
    let engines = stage.seats.iter().map(|seat| seat.engine.name().to_owned());
    let board = Board {
        measurements: &stage.record.measurements[begun..],
        engines: engines.collect(),
    };
    let text = format!(
        "\n{}\n{THREADS} threads; memory as a share of the {} of raw text; resident is the most \
         that the process held.\n{}\n",
        written_table(&board),
        quantity::bytes(keys.raw_bytes as f64),
        limits_table(&board)
    );
    let verdicts = match board.engines.len() {
        1 => Vec::new(),
        _ => board.judge(&bars()),
    };
    stage.say(&text)?;
    stage.record.verdicts.extend(verdicts);
    Ok(())
}

fn bars() -> Vec<Bar> {
    let of_share = |(share, factor): (Option<f64>, f64)| {
        CHOICES.map(|(choice, _)| Bar {
            line: line(choice, share),
            factor,
        })
    };
    SHARES.into_iter().flat_map(of_share).collect()
}

fn text(number: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    number.map_or(NONE.into(), shown)
}

fn megabytes(bytes: f64) -> String {
    format!("{:.0} MB", bytes / 1e6)
}

/// Size, load and what one thread does, a row for each engine.
fn written_table(board: &Board<'_>) -> String {
    let mut table = Table::new(&[
        "engine",
        "settled",
        "compacted",
        "inserts/s",
        "one read",
        "with a cache for all",
        "scan a second",
    ]);
    for (place, engine) in board.engines.iter().enumerate() {
        let share = |name| {
            let found = board.median(INSERT, place, |one| field(one, name));
            text(found, |share| format!("{share:.3}"))
        };
        let one = |name| {
            let found = board.median(name, place, rate);
            text(found, |rate| quantity::nanos(1e9 / rate.max(1e-9)))
        };
        table.add(vec![
            engine.clone(),
            share(SETTLED),
            share(COMPACTED),
            text(board.median(INSERT, place, rate), quantity::rate),
            one(ONE_BARE),
            one(ONE_CACHED),
            text(board.median(SCAN, place, byte_rate), megabytes),
        ]);
    }
    table.text()
}

/// Reads at each limit, a row for each engine.
fn limits_table(board: &Board<'_>) -> String {
    let mut table = Table::new(&[
        "memory",
        "engine",
        "uniform reads/s",
        "p95",
        "p99",
        "zipf reads/s",
        "p95",
        "p99",
        "resident",
    ])
    .with_sides("<<");
    for (share, _) in SHARES {
        for (place, engine) in board.engines.iter().enumerate() {
            let mut cells = vec![share_text(share), engine.clone()];
            for (choice, _) in CHOICES {
                let line = line(choice, share);
                cells.push(text(board.median(&line, place, rate), quantity::rate));
                cells.push(text(board.median(&line, place, p95), quantity::nanos));
                cells.push(text(board.median(&line, place, p99), quantity::nanos));
            }
            let line = line(CHOICES[0].0, share);
            cells.push(text(board.median(&line, place, resident), megabytes));
            table.add(cells);
        }
    }
    table.text()
}
