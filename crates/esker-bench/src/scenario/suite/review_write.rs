//! Writing reviews: the load, what it is once settled, once compacted, and how its bytes divide.

use crate::disk::space::disk_bytes as bytes_on_disk;
use crate::fail::Outcome;
use crate::quantity;
use crate::run::course::{Course, Finished};
use crate::scenario::suite::review_load::{Keys, load, ours};
use crate::scenario::suite::review_source::Reviews;
use crate::scenario::suite::stage::{Stage, rate};
use crate::target::store::Opened;

/// The line of the load.
pub const INSERT: &str = "reviews-insert";

/// Under this name a load's measurement says what part of the raw text was left once settled.
pub const SETTLED: &str = "settled";
/// The same once compacted.
pub const COMPACTED: &str = "compacted";
/// The same with the dictionary's part as in a gigabyte.
pub const AMORTISED: &str = "amortised";

/// Raw bytes over which a dictionary is amortised: what is told of small samples is to hold for
/// large ones.
const AMORTISED_BYTES: f64 = 1e9;

/// Memtables that a load fills at the least where engines are compared: with fewer some would have
/// written nothing when it ends.
const BUFFERS_MIN: u64 = 8;

/// RocksDB's own size of a memtable: none is given a larger one.
const BUFFER_BYTES_MAX: u64 = 64 << 20;

/// Loads and tells of it: speed, latencies, size.
pub fn write(stage: &mut Stage<'_, '_>, reviews: &mut Reviews, wanted: u64) -> Outcome<Keys> {
    let mut settings = ours();
    if stage.seats.len() > 1 {
        let bytes = (wanted / BUFFERS_MIN).clamp(1 << 20, BUFFER_BYTES_MAX);
        settings.write_buffer_bytes = Some(bytes);
    }
    let play = stage.open_fresh(&settings)?;
    let (keys, finished) = load(stage, INSERT, &play, reviews)?;
    let loaded = stage.record.measurements.len() - 1;
    tell_load(stage, &finished, reviews.malformed())?;
    let settle_s = upkeep(stage, "reviews-settle", &play, &|| play.store.drain())?;
    let settled = live_bytes(stage, &play);
    let compact_s = upkeep(stage, "reviews-compact", &play, &|| {
        play.store.compact()?;
        play.store.drain()
    })?;
    let compacted = live_bytes(stage, &play);
    play.store.close()?;
    let share = |bytes: u64| bytes as f64 / keys.raw_bytes.max(1) as f64;
    let (settled, whole) = (share(settled), share(compacted));
    stage.say(&format!(
        "size: {settled:.3} of the raw text once settled ({settle_s:.1} s), {whole:.3} compacted \
         ({compact_s:.1} s), 0.27 published (TerarkDB: 2.5 of 9.1 GB); {} on the disk with the log \
         laid out\n",
        quantity::bytes(bytes_on_disk(stage.dir())? as f64)
    ))?;
    let division = stage.engine().division(stage.dir())?;
    let amortised = share(compacted - spared(&division, keys.raw_bytes).min(compacted));
    if !division.is_empty() {
        let parts = division
            .iter()
            .map(|(name, bytes)| format!("{name} {:.4}", share(*bytes)));
        let parts: Vec<String> = parts.collect();
        stage.say(&format!(
            "of that: {}; {amortised:.3} with the dictionary's part as in 1 GB\n",
            parts.join(", ")
        ))?;
    }
    let told = reviews.told().to_owned();
    let kept = &mut stage.record.measurements[loaded];
    kept.engine_work.space_amplification = Some(settled);
    kept.workload.push(("text".into(), told));
    for (name, share) in [
        (SETTLED, settled),
        (COMPACTED, whole),
        (AMORTISED, amortised),
    ] {
        kept.workload.push((name.into(), format!("{share:.5}")));
    }
    for (name, bytes) in division {
        kept.workload
            .push((format!("{name}_bytes"), bytes.to_string()));
    }
    Ok(keys)
}

fn tell_load(stage: &mut Stage<'_, '_>, finished: &Finished, malformed: u64) -> Outcome {
    let times = finished.latencies().pop().unwrap_or_default();
    let at = |percent| quantity::nanos(times.percentile_ns(percent) as f64);
    let (ops, bytes) = (finished.ops(), finished.bytes());
    let seconds = finished.wall().as_secs_f64().max(1e-9);
    stage.say(&format!(
        "insert: {} records of {} bytes in the mean, {} records/s with the reading of the text \
         ({} a second), {} records/s in the calls alone, p95 {}, p99 {}\n",
        quantity::grouped(ops),
        bytes / ops.max(1),
        quantity::rate(rate(finished)),
        // A rate of bytes is far below 2^53.
        quantity::bytes(bytes as f64 / seconds),
        quantity::rate(1e9 / times.mean_ns().max(1.0)),
        at(95.0),
        at(99.0)
    ))?;
    if malformed > 0 {
        let told = quantity::counted(malformed, "malformed record");
        stage.note(&format!("{told} left out"))?;
    }
    Ok(())
}

/// Bytes that a dictionary would take less if there were a gigabyte of text beside it.
fn spared(division: &[(String, u64)], raw_bytes: u64) -> u64 {
    let dictionary = division.iter().find(|(name, _)| name == "dictionary");
    let bytes = dictionary.map_or(0, |(_, bytes)| *bytes) as f64;
    let share = (raw_bytes as f64 / AMORTISED_BYTES).min(1.0);
    // Less than the whole of it, which is a number of bytes.
    (bytes * (1.0 - share)) as u64
}

/// Has the engine put itself in order, as one operation; the seconds it took.
fn upkeep(
    stage: &mut Stage<'_, '_>,
    name: &str,
    play: &Opened,
    work: &(dyn Fn() -> Outcome + Sync),
) -> Outcome<f64> {
    let finished = stage.measure(name, &["upkeep"], play, &Course::plain(), &|lane| {
        if lane.go() {
            work()?;
            lane.finish(0, 1);
        }
        // One is all there is.
        Ok(())
    })?;
    Ok(finished.wall().as_secs_f64())
}

/// Bytes of live files.
fn live_bytes(stage: &Stage<'_, '_>, play: &Opened) -> u64 {
    let live = play.store.counters().live_bytes;
    // Engines that do not tell are asked through their files.
    let live = live.or_else(|| bytes_on_disk(stage.dir()).ok());
    live.unwrap_or(0)
}

#[cfg(test)]
mod tests;
