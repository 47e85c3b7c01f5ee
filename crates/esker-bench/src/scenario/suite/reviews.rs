//! Reviews: load real text, then read it with 16 threads at less and less memory.
//!
//! Source: TerarkDB's documentation, Amazon movie reviews, about 2018: 9.1 GB of text, 8 million
//! records of about 1 KB; memory of 64, 8, 4 and 2 GB. Its speeds are pictures; its text tells that
//! TerarkDB kept the data in 2.5 GB.

use std::time::Duration;

use crate::disk::space::{bytes_text, disk_bytes as bytes_on_disk};
use crate::fail::{Failure, Outcome};
use crate::make::keys::{Chooser, Distribution};
use crate::measure::process::Resident;
use crate::run::course::{Course, Finished};
use crate::scenario::db_bench::work::{KINDS, READ};
use crate::scenario::suite::fence::Fence;
use crate::scenario::suite::request::LimitBy;
use crate::scenario::suite::review_load::{Keys, load};
use crate::scenario::suite::review_source::Reviews;
use crate::scenario::suite::size::Size;
use crate::scenario::suite::stage::{Play, Stage, latencies, rate};
use crate::scenario::suite::table::{Table, counted, grouped, nanos_text, rate_text};
use crate::target::settings::StoreSettings;

/// Threads that read, as in the document.
const THREADS: usize = 16;

/// Memory as shares of the raw bytes, as 8, 4 and 2 GB are of 9.1; first none at all.
const SHARES: [Option<f64>; 4] = [None, Some(0.9), Some(0.45), Some(0.22)];

/// How keys are chosen.
const CHOICES: [(&str, Distribution); 2] = [
    ("uniform", Distribution::Uniform),
    ("zipf", Distribution::Scrambled(0.99)),
];

/// The engine is not opened with less.
const LIMIT_BYTES_MIN: u64 = 8 << 20;

/// A process is not fenced in with less: its own code and buffers take some.
const FENCE_BYTES_MIN: u64 = 64 << 20;

/// Raw bytes at each size.
pub fn raw_bytes(size: Size) -> u64 {
    size.pick(48_000_000, 1_000_000_000, 9_100_000_000)
}

/// Bytes that it takes on the disk: the log and the files, and as much again while they are merged.
pub fn disk_bytes(size: Size) -> u64 {
    raw_bytes(size) * 5 / 2
}

/// Loads, then reads at each limit.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let wanted = stage.request.scaled(raw_bytes(stage.request.size));
    let mut reviews = Reviews::open(stage.request.reviews.as_deref(), wanted)?;
    stage.say(&format!("{}\n", reviews.told()))?;
    if stage.request.limit_by == LimitBy::Setting {
        stage.note(
            "memory is limited by the engine's setting, and the system's page cache is not: \
             --limit_by=cgroup limits both, where a control group may be made",
        )?;
    }
    let keys = write(stage, &mut reviews)?;
    let mut table = Table::new(&[
        "memory",
        "uniform reads/s",
        "p95",
        "p99",
        "zipf reads/s",
        "p95",
        "p99",
    ]);
    let mut ends = Vec::new();
    for share in SHARES {
        let mut cells = vec![share_text(share)];
        for (choice, distribution) in CHOICES {
            let finished = read(stage, &keys, share, choice, distribution)?;
            let times = latencies(&finished);
            cells.push(rate_text(rate(&finished)));
            cells.extend([95.0, 99.0].map(|one| nanos_text(times.percentile_ns(one) as f64)));
            ends.push(rate(&finished));
        }
        table.add(cells);
    }
    stage.clear()?;
    stage.say(&format!(
        "\n{THREADS} threads; memory as a share of the {} of raw text.\n{}\n",
        bytes_text(keys.raw_bytes),
        table.text()
    ))?;
    // Uniform reads with all memory, and with the least.
    let (most, least) = (ends[0], ends[ends.len() - 2]);
    stage.headline(
        "uniform reads, 16 threads, least memory",
        format!("{} reads/s", rate_text(least)),
        format!("{} reads/s without a limit", rate_text(most)),
    );
    Ok(())
}

fn share_text(share: Option<f64>) -> String {
    share.map_or("unlimited".into(), |share| format!("{share:.2} of raw"))
}

/// Loads and tells of it: speed, latencies, size.
fn write(stage: &mut Stage<'_, '_>, reviews: &mut Reviews) -> Outcome<Keys> {
    let play = stage.open_fresh(&StoreSettings::default())?;
    let (keys, finished) = load(stage, "reviews-insert", &play, reviews)?;
    let times = latencies(&finished);
    let at = |percent| nanos_text(times.percentile_ns(percent) as f64);
    let (ops, bytes) = (finished.ops(), finished.bytes());
    let seconds = finished.wall().as_secs_f64().max(1e-9);
    stage.say(&format!(
        "insert: {} records of {} bytes in the mean, {} records/s with the reading of the text \
         ({} a second), {} records/s in the calls alone, p95 {}, p99 {}\n",
        grouped(ops),
        bytes / ops.max(1),
        rate_text(rate(&finished)),
        // A rate of bytes is far below 2^53.
        bytes_text((bytes as f64 / seconds) as u64),
        rate_text(1e9 / times.mean_ns().max(1.0)),
        at(95.0),
        at(99.0)
    ))?;
    if reviews.malformed() > 0 {
        let told = counted(reviews.malformed(), "malformed record");
        stage.note(&format!("{told} left out"))?;
    }
    play.store.drain()?;
    let settled = size_of(stage, &play, keys.raw_bytes);
    play.store.compact()?;
    play.store.drain()?;
    let compacted = size_of(stage, &play, keys.raw_bytes);
    play.store.close()?;
    let on_disk = bytes_on_disk(&stage.dir)?;
    stage.say(&format!(
        "size: {settled:.3} of the raw text once settled, {compacted:.3} compacted; {} on the \
         disk with the log laid out\n",
        bytes_text(on_disk)
    ))?;
    if let Some(kept) = stage.last_kept() {
        kept.engine_work.space_amplification = Some(settled);
        kept.workload.push(("text".into(), reviews.told().into()));
    }
    stage.headline(
        "size, compacted",
        format!("{compacted:.3} of the raw text"),
        "0.27 published, TerarkDB: 2.5 of 9.1 GB".into(),
    );
    Ok(keys)
}

/// Live bytes for each byte of raw text.
fn size_of(stage: &Stage<'_, '_>, play: &Play, raw_bytes: u64) -> f64 {
    let live = play.store.counters().live_bytes;
    // Engines that do not tell are asked through their files.
    let live = live.or_else(|| bytes_on_disk(&stage.dir).ok());
    live.unwrap_or(0) as f64 / raw_bytes.max(1) as f64
}

/// Reads for a while with so much memory, from a cold start and behind a warm-up.
fn read(
    stage: &mut Stage<'_, '_>,
    keys: &Keys,
    share: Option<f64>,
    choice: &str,
    distribution: Distribution,
) -> Outcome<Finished> {
    stage.forget()?;
    let bytes = share.map(|share| (keys.raw_bytes as f64 * share) as u64);
    let mut settings = StoreSettings::default();
    let (limit, fence) = match (bytes, stage.request.limit_by) {
        (None, _) => ((2 * keys.raw_bytes).max(256 << 20), None),
        (Some(bytes), LimitBy::Setting) => (bytes, None),
        (Some(bytes), LimitBy::ControlGroup) => {
            // What this program itself holds, keys above all, is beside the point; of the rest one
            // half is the engine's, the other the page cache's.
            let all =
                (bytes + Resident::now().map_or(0, |memory| memory.now_bytes)).max(FENCE_BYTES_MIN);
            (bytes / 2, Some(Fence::raise(all)?))
        }
    };
    let limit = limit.max(LIMIT_BYTES_MIN);
    settings
        .own
        .push(("memory_limit".into(), limit.to_string()));
    let play = stage.open(&settings)?;
    let millis = stage
        .request
        .scaled(stage.request.size.pick(2000, 10_000, 60_000));
    let course = Course {
        threads: THREADS,
        duration: Some(Duration::from_millis(millis)),
        warm_up: Duration::from_millis(millis / 2),
        ..Course::plain()
    };
    let label = format!(
        "reviews-read-{choice}-{}",
        share_text(share).replace(' ', "-")
    );
    let finished = stage.measure(&label, &[KINDS[READ]], &play, &course, &|lane| {
        let mut chooser = Chooser::new(distribution, lane.index() as u64 + 1);
        while lane.go() {
            let key = keys.key(chooser.choose(keys.count()));
            let mut found = None;
            play.store.get(key, &mut |text| {
                found = Some((text.len(), is_of(key, text)));
            })?;
            let Some((bytes, true)) = found else {
                let told = key.escape_ascii();
                return Err(Failure::failed(format!(
                    "the review under {told} is missing, or is another's"
                )));
            };
            lane.add_bytes((key.len() + bytes) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    })?;
    play.store.close()?;
    drop(fence);
    if let Some(kept) = stage.last_kept() {
        kept.workload.extend([
            ("distribution".into(), choice.to_owned()),
            ("memory".into(), share_text(share)),
        ]);
    }
    Ok(finished)
}

/// Whether a review tells the product that its key begins with: an answer for another key shows.
fn is_of(key: &[u8], text: &[u8]) -> bool {
    let product = key.split(|byte| *byte == b'/').next().unwrap_or_default();
    let told = text
        .split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(b"product/productId:"));
    told.is_some_and(|told| told.trim_ascii() == product)
}
