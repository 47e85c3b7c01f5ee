//! Reading reviews: many threads at a memory limit, one thread alone, and all of them in order.

use esker::internals::base::options::db::DbOptions;
use std::hint::black_box;
use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::make::keys::{Chooser, Distribution};
use crate::run::course::Course;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{KINDS, READ};
use crate::scenario::suite::fence::Fence;
use crate::scenario::suite::request::LimitBy;
use crate::scenario::suite::review_load::{Keys, ours};
use crate::scenario::suite::stage::Stage;
use crate::target::settings::StoreSettings;
use crate::target::store::{Opened, Store};

/// Threads that read at a limit, as in the document.
pub const THREADS: usize = 16;

/// Our engine is not opened with less.
const LIMIT_BYTES_MIN: u64 = DbOptions::MEMORY_LIMIT_MIN;

/// A process is not fenced in with less: its own code and buffers take some.
const FENCE_BYTES_MIN: u64 = 64 << 20;

/// A block cache that holds a handful of blocks: every read unpacks what it reads.
const BARE_BYTES: u64 = 64 << 10;

/// The line of one thread without a block cache worth the name.
pub const ONE_BARE: &str = "reviews-one";

/// The line of one thread with everything in the block cache, where the engine has one.
pub const ONE_CACHED: &str = "reviews-one-cached";

/// The line of everything in order.
pub const SCAN: &str = "reviews-scan";

/// Reads at a memory limit.
#[derive(Clone, Copy, Debug)]
pub struct Course16 {
    /// Memory as a share of the raw bytes; `None` is all there is.
    pub share: Option<f64>,
    /// The word for how keys are chosen.
    pub choice: &'static str,
    /// How keys are chosen.
    pub distribution: Distribution,
}

/// The name of reads at a limit.
pub fn line(choice: &str, share: Option<f64>) -> String {
    format!(
        "reviews-read-{choice}-{}",
        share_text(share).replace(' ', "-")
    )
}

/// A share for people.
pub fn share_text(share: Option<f64>) -> String {
    share.map_or("unlimited".into(), |share| format!("{share:.2} of raw"))
}

/// Memory for everything: what is unpacked, and what the engine needs beside.
fn plenty(keys: &Keys) -> u64 {
    (2 * keys.raw_bytes).max(256 << 20)
}

/// What an engine is opened with to read.
fn settings(cache_bytes: u64) -> StoreSettings {
    let mut settings = ours();
    settings.cache_bytes = Some(cache_bytes);
    let limit = cache_bytes.max(LIMIT_BYTES_MIN).to_string();
    settings.own.push(("memory_limit".into(), limit));
    settings
}

/// Reads for a while with so much memory, from a cold start and behind a warm-up.
pub fn at_limit(
    stage: &mut Stage<'_, '_>,
    keys: &Keys,
    reading: Course16,
    limit_by: LimitBy,
) -> Outcome {
    stage.forget()?;
    let share = reading.share;
    let bytes = share.map(|share| (keys.raw_bytes as f64 * share) as u64);
    let (limit, fence) = match (bytes, limit_by) {
        (None, _) => (plenty(keys), None),
        (Some(bytes), LimitBy::Setting) => (bytes, None),
        (Some(bytes), _) => {
            // One half is the engine's, the other the page cache's. What this process holds
            // already, keys above all, stays charged to the group that it came from.
            let all = bytes.max(FENCE_BYTES_MIN);
            (bytes / 2, Some(Fence::raise(all)?))
        }
    };
    let limit = limit.max(LIMIT_BYTES_MIN);
    let play = stage.open(&settings(limit))?;
    let millis = duration_ms(stage);
    let course = Course {
        threads: THREADS,
        duration: Some(Duration::from_millis(millis)),
        warm_up: Duration::from_millis(millis / 2),
        ..Course::plain()
    };
    stage.measure(
        &line(reading.choice, share),
        &[KINDS[READ]],
        &play,
        &course,
        &|lane| {
            let chooser = Chooser::new(reading.distribution, lane.index() as u64 + 1);
            get_some(&*play.store, keys, chooser, lane)
        },
    )?;
    let known = play.store.counters().memory_bytes;
    play.store.close()?;
    drop(fence);
    if let Some(kept) = stage.last_kept() {
        kept.workload.extend([
            ("distribution".into(), reading.choice.to_owned()),
            ("memory".into(), share_text(share)),
            ("limit_bytes".into(), limit.to_string()),
        ]);
        let known = known.map(|bytes| ("engine_memory_bytes".into(), bytes.to_string()));
        kept.workload.extend(known);
    }
    Ok(())
}

/// Reads with one thread: everything in order, then one by one without a cache for blocks, then
/// with one for all of them. The page cache holds the files each time.
pub fn alone(stage: &mut Stage<'_, '_>, keys: &Keys) -> Outcome<Scanned> {
    let play = stage.open(&settings(BARE_BYTES))?;
    // Into the page cache, untimed.
    walk(&*play.store, &mut |_| true)?;
    let scanned = in_order(stage, &play)?;
    one_by_one(stage, ONE_BARE, &play, keys)?;
    play.store.close()?;
    let play = stage.open(&settings(plenty(keys)))?;
    // Into the block cache, for engines that fill it so.
    walk(&*play.store, &mut |_| true)?;
    one_by_one(stage, ONE_CACHED, &play, keys)?;
    play.store.close()?;
    Ok(scanned)
}

/// What a walk over everything saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Entries.
    pub count: u64,
    /// Bytes of their keys and texts.
    pub bytes: u64,
}

fn in_order(stage: &mut Stage<'_, '_>, play: &Opened) -> Outcome<Scanned> {
    let course = Course {
        is_timed: false,
        ..Course::plain()
    };
    let finished = stage.measure(SCAN, &[KINDS[READ]], play, &course, &|lane| {
        walk(&*play.store, &mut |bytes| {
            let may_go = lane.go();
            if may_go {
                lane.add_bytes(bytes);
                lane.finish(0, 1);
            }
            may_go
        })
    })?;
    Ok(Scanned {
        count: finished.ops(),
        bytes: finished.bytes(),
    })
}

/// Tells the bytes of each entry in order, for as long as `take` wants more.
fn walk(store: &dyn Store, take: &mut dyn FnMut(u64) -> bool) -> Outcome {
    let mut cursor = store.cursor()?;
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        let (key, value) = (cursor.key(), black_box(cursor.value()));
        if !take((key.len() + value.len()) as u64) {
            break;
        }
        is_on = cursor.next()?;
    }
    Ok(())
}

fn one_by_one(stage: &mut Stage<'_, '_>, name: &str, play: &Opened, keys: &Keys) -> Outcome {
    let (millis, seed) = (duration_ms(stage), stage.round as u64 + 1);
    let course = Course {
        duration: Some(Duration::from_millis(millis)),
        warm_up: Duration::from_millis(millis / 2),
        ..Course::plain()
    };
    stage.measure(name, &[KINDS[READ]], play, &course, &|lane| {
        let chooser = Chooser::new(Distribution::Uniform, seed);
        get_some(&*play.store, keys, chooser, lane)
    })?;
    Ok(())
}

/// How long one line reads.
fn duration_ms(stage: &Stage<'_, '_>) -> u64 {
    let millis = stage.request.size.pick(2000, 10_000, 60_000);
    // More text is not read for longer.
    ((f64::from(millis) * stage.request.scale.min(1.0)) as u64).max(1)
}

/// Gets until it is over, and checks what comes.
fn get_some(store: &dyn Store, keys: &Keys, mut chooser: Chooser, lane: &mut Lane<'_>) -> Outcome {
    while lane.go() {
        let key = keys.key(chooser.choose(keys.count()));
        let mut found = None;
        store.get(key, &mut |text| {
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
}

/// Whether a review tells the product that its key begins with: an answer for another key shows.
pub fn is_of(key: &[u8], text: &[u8]) -> bool {
    let product = key.split(|byte| *byte == b'/').next().unwrap_or_default();
    let told = text
        .split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(b"product/productId:"));
    told.is_some_and(|told| told.trim_ascii() == product)
}
