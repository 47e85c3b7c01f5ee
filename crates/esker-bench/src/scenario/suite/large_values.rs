//! Values of 100 KB: three schemes under three configurations of buffers, as kvs was measured.
//!
//! Source: key-value-system performance test, FoOTOo Lab, 2012. Scheme 1 puts 10 GB in order,
//! scheme 2 gets 50 000 of them anywhere after a restart, scheme 3 gets and puts 200 : 1 with a
//! buffer that is warm. Each stands beside what the same disk does without an engine, measured in
//! the same run.

use esker::internals::base::options::db::DbOptions;
use std::time::Instant;

use crate::disk::raw::{self, Pieces, SyncWhen};
use crate::disk::space::disk_bytes as bytes_on_disk;
use crate::fail::{Failure, Outcome};
use crate::make::random::Random;
use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::published::{KVS, KVS_TIMES, value};
use crate::report::record::Measurement;
use crate::run::course::{Course, Finished};
use crate::scenario::db_bench::work::{self, KINDS};
use crate::scenario::suite::large_goals::Shares;
use crate::scenario::suite::large_overwrite;
use crate::scenario::suite::large_source::{VALUE_BYTES, Values};
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::{Stage, rate_of};
use crate::table::Table;
use crate::target::settings::{Packing, StoreSettings};

/// Values of the document.
const PUTS: u64 = 104_858;
const GETS: u64 = 50_000;
const MIXED: u64 = 52_500;

/// Gets for each put of scheme 3.
const GETS_PER_PUT: u64 = 200;

/// The document's configurations: bytes of unflushed values that start a flush, bytes of the pool.
const CONFIGURATIONS: [(u64, u64); 3] = [(50, 500), (100, 600), (100, 700)];

/// What the document's sizes are divided by.
fn divisor(size: Size) -> u64 {
    size.pick(50, 10, 1)
}

/// Bytes of a segment of the value log, and the fewest that a scaled one has.
const SEGMENT_BYTES: u64 = 64 << 20;
const SEGMENT_BYTES_MIN: u64 = 2 << 20;

/// Names of the measurements, as records have them.
const NAMES: [&str; 3] = ["put", "get", "mixed"];

/// Kinds of operation, as records of db_bench name them.
const READ: &str = KINDS[work::READ];
const WRITE: &str = KINDS[work::WRITE];

/// Names of the limits.
const LIMITS: [&str; 3] = ["raw-write-100k", "raw-write-behind-100k", "raw-read-100k"];

/// What each scheme is, for people.
const SCHEMES: [&str; 3] = [
    "1 sequential put",
    "2 cold random get",
    "3 get and put 200:1",
];

/// Bytes that it takes on the disk: all values, their log, and as much again while files are
/// merged.
pub fn disk_bytes(size: Size) -> u64 {
    PUTS / divisor(size) * VALUE_BYTES as u64 * 3
}

/// One scheme under one configuration.
#[derive(Clone, Copy, Default)]
struct Figures {
    response_ms: f64,
    rate: f64,
    mean_ns: f64,
    /// Its rate as a share of the disk's alone.
    share: Option<f64>,
    /// The same, of appends that are synced behind as often as the engine syncs.
    synced_share: Option<f64>,
    /// Bytes written for each byte of values.
    written: Option<f64>,
}

/// Runs every scheme under every configuration.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let divisor = divisor(stage.request.size);
    let puts = stage.request.scaled(PUTS / divisor);
    stage.say(&format!(
        "{} values of {VALUE_BYTES} bytes that cannot be packed, 1 thread, no put waits for a \
         sync\n",
        quantity::grouped(puts)
    ))?;
    stage.note(
        "as libkvs has it, buffer_size is the engine's value_buffer_size and buffer_horizon_size \
         its value_flush_bytes: so many unsynced bytes start a sync in the background",
    )?;
    let values = Values::make();
    let rounds = stage.request.rounds.unwrap_or(1);
    let mut results: [[Vec<Figures>; 3]; 3] = Default::default();
    let mut limits: [Vec<f64>; 3] = Default::default();
    let mut shares = Shares::default();
    for round in 0..rounds {
        stage.round = round;
        for (place, (horizon, pool)) in CONFIGURATIONS.into_iter().enumerate() {
            let run = Run {
                values: &values,
                settings: settings(horizon << 20, pool << 20, divisor),
                horizon_bytes: (horizon << 20) / divisor,
                buffers: [
                    ("horizon", format!("{horizon} MB")),
                    ("buffer", format!("{pool} MB")),
                    ("both by", divisor.to_string()),
                ],
            };
            let disk = run.limits(stage, puts, GETS / divisor)?;
            for (all, one) in limits.iter_mut().zip(disk) {
                all.push(one);
            }
            let [write, behind, read] = disk;
            let mut put = run.put(stage, puts, write)?;
            put.synced_share = Some(put.rate / behind.max(1e-9));
            let get = run.get(stage, puts, stage.request.scaled(GETS / divisor), read)?;
            let mixed = run.mix(stage, stage.request.scaled(MIXED / divisor))?;
            shares.puts.extend(put.synced_share);
            shares.written.extend(put.written);
            shares.gets.extend(get.share);
            for (scheme, result) in [put, get, mixed].into_iter().enumerate() {
                results[scheme][place].push(result);
            }
        }
        let (horizon, pool) = CONFIGURATIONS[0];
        let settings = settings(horizon << 20, pool << 20, divisor);
        let overwritten =
            large_overwrite::run(stage, &overwriting(settings, divisor), &values, puts)?;
        shares.overwrites.push(overwritten.speed);
        shares.spaces.push(overwritten.space);
    }
    stage.clear()?;
    stage.record.verdicts.extend(shares.judge());
    tell(stage, &results, &limits)
}

/// The same with segments that are smaller as the values are fewer: one of them may always be dead.
fn overwriting(mut settings: StoreSettings, divisor: u64) -> StoreSettings {
    let segment = (SEGMENT_BYTES / divisor).max(SEGMENT_BYTES_MIN).to_string();
    settings
        .own
        .push(("value_log.segment_size".into(), segment));
    settings
}

/// What libkvs makes of `buffer_horizon_size` and `buffer_size`, scaled as the values are.
fn settings(horizon: u64, pool: u64, divisor: u64) -> StoreSettings {
    let own = [
        (
            "memory_limit",
            (2 * pool / divisor).max(DbOptions::MEMORY_LIMIT_MIN),
        ),
        ("value_buffer_size", pool / divisor),
        ("value_flush_bytes", horizon / divisor),
    ];
    StoreSettings {
        packing: Some(Packing::None),
        own: own
            .map(|(name, bytes)| (name.to_owned(), bytes.to_string()))
            .into(),
        ..StoreSettings::default()
    }
}

/// All schemes under one configuration.
struct Run<'a> {
    values: &'a Values,
    settings: StoreSettings,
    /// Unsynced bytes that start a sync.
    horizon_bytes: u64,
    /// What its buffers are, by name.
    buffers: [(&'static str, String); 3],
}

impl Run<'_> {
    /// What the disk does with as many bytes: appended into the page cache, the same and synced
    /// behind as often as the engine does, read anywhere while cold. Operations a second of each.
    fn limits(&self, stage: &mut Stage<'_, '_>, puts: u64, gets: u64) -> Outcome<[f64; 3]> {
        std::fs::create_dir_all(&stage.request.dir).map_err(|error| {
            Failure::system(
                format!("cannot make {}", stage.request.dir.display()),
                &error,
            )
        })?;
        let path = stage.request.dir.join("raw.bytes");
        let pieces = Pieces {
            bytes: VALUE_BYTES,
            count: puts,
        };
        let measure = || {
            let write = |when| {
                raw::remove(&path)?;
                raw::write(&path, pieces, when)
            };
            let bytes = self.horizon_bytes;
            let appended = write(SyncWhen::Never)?;
            let behind = write(SyncWhen::Behind { bytes })?;
            Ok([appended, behind, raw::read(&path, pieces, gets, true)?])
        };
        let measured: Outcome<[Measurement; 3]> = measure();
        raw::remove(&path)?;
        let measured = measured?;
        let rates = measured.each_ref().map(|one| one.ops_per_s);
        for (name, mut measurement) in LIMITS.into_iter().zip(measured) {
            measurement.engine = "limit".into();
            stage.keep_measurement(name, measurement);
        }
        Ok(rates)
    }

    /// Scheme 1.
    fn put(&self, stage: &mut Stage<'_, '_>, puts: u64, limit: f64) -> Outcome<Figures> {
        let play = stage.open_fresh(&self.settings)?;
        let course = Course {
            ops_per_lane: Some(puts),
            ..Course::plain()
        };
        let finished = stage.measure(NAMES[0], &[WRITE], &play, &course, &|lane| {
            self.values.fill(&play, lane)
        })?;
        let work = stage.last_kept().map(|kept| kept.engine_work.clone());
        let closing = Instant::now();
        play.store.close()?;
        let closing = closing.elapsed();
        let bytes = finished.bytes().max(1);
        let space = bytes_on_disk(stage.dir())? as f64 / bytes as f64;
        let written = work.and_then(|work| work.written_bytes);
        let written = written.map(|written| written as f64 / bytes as f64);
        let told = self
            .buffers
            .each_ref()
            .map(|(name, text)| format!("{name} {text}"));
        stage.say(&format!(
            "put, {}: {} of values in {:.2} s and {:.2} s to close, write amplification {:.2}, \
             {space:.2} times their bytes on the disk once closed\n",
            told.join(", "),
            quantity::bytes(bytes as f64),
            finished.wall().as_secs_f64(),
            closing.as_secs_f64(),
            written.unwrap_or(f64::NAN),
        ))?;
        self.keep(stage, false);
        Ok(Figures {
            written,
            ..figures(&finished, finished.ops(), Some(limit))
        })
    }

    /// Scheme 2: after a restart, with nothing of the store in memory.
    fn get(&self, stage: &mut Stage<'_, '_>, puts: u64, gets: u64, limit: f64) -> Outcome<Figures> {
        stage.forget()?;
        let play = stage.open(&self.settings)?;
        let course = Course {
            ops_per_lane: Some(gets),
            ..Course::plain()
        };
        let finished = stage.measure(NAMES[1], &[READ], &play, &course, &|lane| {
            let (mut key, mut random) = (Vec::new(), Random::new(2));
            while lane.go() {
                let bytes = self.values.get(&play, random.below(puts), &mut key)?;
                lane.add_bytes(bytes);
                lane.finish(0, 1);
            }
            Ok(())
        })?;
        play.store.close()?;
        self.keep(stage, true);
        Ok(figures(&finished, finished.ops(), Some(limit)))
    }

    /// Scheme 3: a store that was just filled, its buffers warm. What is told counts the gets.
    fn mix(&self, stage: &mut Stage<'_, '_>, gets: u64) -> Outcome<Figures> {
        let play = stage.open_fresh(&self.settings)?;
        let filled = Course {
            ops_per_lane: Some(gets),
            is_timed: false,
            ..Course::plain()
        };
        stage.watch("fill", &filled, &|lane| self.values.fill(&play, lane))?;
        let finished =
            stage.measure(NAMES[2], &[READ, WRITE], &play, &Course::plain(), &|lane| {
                let (mut key, mut random) = (Vec::new(), Random::new(3));
                for turn in 0..gets {
                    if turn % GETS_PER_PUT == 0 && lane.go() {
                        let number = gets + turn / GETS_PER_PUT;
                        self.values.put(&play, number, number, &mut key)?;
                        lane.finish(1, 1);
                    }
                    if !lane.go() {
                        break;
                    }
                    let bytes = self.values.get(&play, random.below(gets), &mut key)?;
                    lane.add_bytes(bytes);
                    lane.finish(0, 1);
                }
                Ok(())
            })?;
        play.store.close()?;
        self.keep(stage, true);
        Ok(figures(&finished, gets, None))
    }

    fn keep(&self, stage: &mut Stage<'_, '_>, is_verified: bool) {
        if let Some(kept) = stage.last_kept() {
            kept.is_verified = is_verified;
            let buffers = self.buffers.iter();
            kept.workload
                .extend(buffers.map(|(name, text)| ((*name).to_owned(), text.clone())));
        }
    }
}

fn figures(finished: &Finished, ops: u64, limit: Option<f64>) -> Figures {
    let wall = finished.wall();
    let per_s = rate_of(ops, wall);
    Figures {
        response_ms: wall.as_secs_f64() * 1e3,
        rate: per_s,
        // As the document has it: the response time over what was told as operations.
        mean_ns: wall.as_secs_f64() * 1e9 / ops.max(1) as f64,
        share: limit.map(|limit| per_s / limit.max(1e-9)),
        synced_share: None,
        written: None,
    }
}

/// The rates that were published of a scheme, by configuration.
fn rates(scheme: usize) -> [f64; 3] {
    [0, 1, 2].map(|place| value(&KVS, NAMES[scheme], place).unwrap_or(f64::NAN))
}

/// One row of a scheme: what it tells, of us, as text, and what was published of it.
type Told = (
    &'static str,
    fn(&Figures) -> Option<f64>,
    fn(f64) -> String,
    Option<[f64; 3]>,
);

fn whole(ms: f64) -> String {
    quantity::grouped(ms.round() as u64)
}

fn part(share: f64) -> String {
    format!("{share:.2}")
}

/// A row for each scheme and figure, in the document's order: ours, then what was published.
fn compared(results: &[[Vec<Figures>; 3]; 3]) -> Table {
    let heads = ["scheme", "", "here 1", "2", "3", "published 1", "2", "3"];
    let mut table = Table::new(&heads).with_sides("<<");
    for (scheme, configurations) in results.iter().enumerate() {
        let response = KVS_TIMES[scheme].map(|(ms, _)| ms);
        let mean = KVS_TIMES[scheme].map(|(_, ms)| ms * 1e6);
        let rows: [Told; 5] = [
            (
                "response, ms",
                |one| Some(one.response_ms),
                whole,
                Some(response),
            ),
            (
                "operations/s",
                |one| Some(one.rate),
                quantity::rate,
                Some(rates(scheme)),
            ),
            (
                "mean latency",
                |one| Some(one.mean_ns),
                quantity::nanos,
                Some(mean),
            ),
            ("of the disk alone", |one| one.share, part, None),
            ("the same syncs", |one| one.synced_share, part, None),
        ];
        let mut head = SCHEMES[scheme];
        for (name, pick, text, published) in rows {
            let ours = configurations.iter();
            let ours: Vec<Summary> = ours
                .filter_map(|all| Summary::of(all.iter().filter_map(pick)))
                .collect();
            if ours.is_empty() {
                continue;
            }
            let mut cells = vec![std::mem::take(&mut head).to_owned(), name.to_owned()];
            cells.extend(ours.iter().map(|all| text(all.median)));
            cells.extend(published.into_iter().flatten().map(text));
            table.add(cells);
        }
    }
    table
}

fn tell(
    stage: &mut Stage<'_, '_>,
    results: &[[Vec<Figures>; 3]; 3],
    limits: &[Vec<f64>; 3],
) -> Outcome {
    let [write, behind, read] = limits;
    let middle = |rates: &[f64]| Summary::of(rates.iter().copied());
    let limit = |rates: &[f64]| {
        middle(rates).map_or_else(String::new, |summary| summary.text(quantity::rate))
    };
    stage.say(&format!(
        "\n{}The disk alone, same bytes in pieces of one value: {}/s appended without a sync, {}/s \
         with as many\nsyncs behind as the engine makes, {}/s read anywhere while cold.\n\
         Response times compare at size full only. Published: kvs, 2012, Pentium E5700, 2 GB, \
         7200 rpm disk (appends about 100 MB/s).\n\n",
        compared(results).text(),
        limit(write),
        limit(behind),
        limit(read)
    ))
}
