//! Values of 100 KB overwritten: each of them twice, and what is left on the disk afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::disk::space::disk_bytes;
use crate::fail::Outcome;
use crate::make::random::coprime;
use crate::quantity;
use crate::run::course::Course;
use crate::scenario::db_bench::work::{self, KINDS};
use crate::scenario::suite::large_source::{VALUE_BYTES, Values};
use crate::scenario::suite::stage::{Stage, rate};
use crate::target::settings::StoreSettings;
use crate::target::store::Opened;

/// Times that each value is overwritten.
const PASSES: u64 = 2;

/// What overwriting is called in a record: `overwrite` is a workload of db_bench, of which figures
/// were published.
const NAME: &str = "overwrite-twice";

/// Looks at the disk while values are overwritten. Each takes about 0.1 ms.
const LOOKS: u64 = 50;

/// Values read back at the end.
const CHECKED: u64 = 50;

/// The disk is still when so long nothing came or went: longer than the engine leaves anything
/// unsynced, and than any of its steps takes from which space comes back.
const STILL: Duration = Duration::from_secs(7);

/// Time after which what there is counts, still or not.
const STILL_MAX: Duration = Duration::from_secs(120);

/// Time between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What overwriting came to.
#[derive(Clone, Copy, Debug)]
pub struct Overwritten {
    /// Its speed, as a share of the first fill's.
    pub speed: f64,
    /// Bytes on the disk for each that is live, once the disk is still.
    pub space: f64,
}

/// Fills a fresh store with `count` values and overwrites each twice, in an order that has nothing
/// to do with the first one.
pub fn run(
    stage: &mut Stage<'_, '_>,
    settings: &StoreSettings,
    values: &Values,
    count: u64,
) -> Outcome<Overwritten> {
    let play = stage.open_fresh(settings)?;
    let write = KINDS[work::WRITE];
    let live_bytes = (count * VALUE_BYTES as u64).max(1) as f64;
    let first = Course {
        ops_per_lane: Some(count),
        ..Course::plain()
    };
    let filled = stage.measure("overwrite-fill", &[write], &play, &first, &|lane| {
        values.fill(&play, lane)
    })?;
    let again = Course {
        ops_per_lane: Some(count * PASSES),
        ..Course::plain()
    };
    let stride = stride(count);
    let dir = stage.dir().to_owned();
    let peak = AtomicU64::new(0);
    let finished = stage.measure(NAME, &[write], &play, &again, &|lane| {
        let mut key = Vec::new();
        while lane.go() {
            let turn = lane.done();
            let bytes = values.put(&play, turn * stride % count, count + turn, &mut key)?;
            lane.add_bytes(bytes);
            lane.finish(0, 1);
            // A file may go between its listing and a look at it.
            if turn % (count * PASSES).div_ceil(LOOKS) == 0
                && let Ok(bytes) = disk_bytes(&dir)
            {
                // Relaxed: one thread writes it, and it is read when that has ended.
                peak.fetch_max(bytes, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    let (space, waited) = still_bytes(&dir)?;
    check(&play, values, count)?;
    play.store.close()?;
    let overwritten = Overwritten {
        speed: rate(&finished) / rate(&filled).max(1e-9),
        space: space as f64 / live_bytes,
    };
    let peak = peak.into_inner();
    if let Some(kept) = stage.last_kept() {
        kept.is_verified = true;
        kept.engine_work.space_amplification = Some(overwritten.space);
        let peak = format!("{:.3}", peak as f64 / live_bytes);
        kept.workload.push(("space_peak".into(), peak));
    }
    stage.say(&format!(
        "overwrite: each of {} twice, at {:.2} of the first fill's speed; up to {:.2} times the \
         live bytes on the disk meanwhile, {:.2} times after {:.1} s\n",
        quantity::bytes((count * VALUE_BYTES as u64) as f64),
        overwritten.speed,
        peak as f64 / live_bytes,
        overwritten.space,
        waited.as_secs_f64(),
    ))?;
    Ok(overwritten)
}

/// Reads some values back: those of the last pass must be there.
fn check(play: &Opened, values: &Values, count: u64) -> Outcome {
    let mut key = Vec::new();
    for turn in (count * (PASSES - 1)..count * PASSES).step_by(step(count)) {
        let number = turn * stride(count) % count;
        values.get_as(play, number, count + turn, &mut key)?;
    }
    Ok(())
}

/// A step that meets every one of `count` numbers, each far from the one before.
fn stride(count: u64) -> u64 {
    coprime(count * 5 / 8 + 1, count)
}

fn step(count: u64) -> usize {
    usize::try_from(count.div_ceil(CHECKED)).expect("values are counted in memory")
}

/// Bytes on the disk once nothing comes or goes any more, and how long that took.
fn still_bytes(dir: &Path) -> Outcome<(u64, Duration)> {
    let began = Instant::now();
    let mut bytes = 0;
    let mut since = began;
    while since.elapsed() < STILL && began.elapsed() < STILL_MAX {
        thread::park_timeout(LOOK_AGAIN);
        // A file may go between its listing and a look at it; then there is one more look.
        let Ok(now) = disk_bytes(dir) else {
            continue;
        };
        if now != bytes {
            (bytes, since) = (now, Instant::now());
        }
    }
    Ok((bytes, since - began))
}

#[cfg(test)]
mod tests;
