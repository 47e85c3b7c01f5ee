//! What Esker holds in memory under a limit while much is written and read.

use esker::Db;
use esker_bench::make::random::Random;
use esker_bench::measure::process::{Resident, forget_peak};

use crate::fault::Fault;
use crate::leavings::clear;
use crate::load::{KEY_BYTES, key, values};
use crate::settings::Settings;

/// Entries between two looks at the memory.
const LOOK_EVERY: u64 = 100_000;

/// Bytes of a value: so many that a load of some GB takes minutes.
const VALUE_BYTES: usize = 1000;

/// Runs the load under each limit, and prints what was held against it.
pub fn run(settings: &Settings) -> Result<(), Fault> {
    for &limit in &settings.limits_bytes {
        clear(&settings.dir)?;
        under(limit, settings)?;
        clear(&settings.dir)?;
    }
    Ok(())
}

struct Watch {
    base_bytes: u64,
    limit_bytes: u64,
}

impl Watch {
    // What the process held before is not the engine's.
    fn new(limit_bytes: u64) -> Result<Watch, Fault> {
        forget_peak();
        let base_bytes = look()?.now_bytes;
        Ok(Watch {
            base_bytes,
            limit_bytes,
        })
    }

    fn print(&self, phase: &str, db: &Db) -> Result<(), Fault> {
        let now = look()?;
        let of_ours = |bytes: u64| bytes.saturating_sub(self.base_bytes);
        let share = of_ours(now.peak_bytes) as f64 / self.limit_bytes as f64;
        println!(
            "{phase:<12} peak {:>5} MiB = {:>4.0} % of the limit; now {:>5} MiB, of it anonymous \
             {:>5} MiB",
            of_ours(now.peak_bytes) >> 20,
            share * 100.0,
            of_ours(now.now_bytes) >> 20,
            now.anonymous_bytes >> 20,
        );
        let owners = db.stats().memory;
        let held: Vec<String> = owners
            .iter()
            .map(|(owner, bytes)| format!("{owner} {} KiB", bytes >> 10))
            .collect();
        println!("{:<12} {}", "", held.join(", "));
        forget_peak();
        Ok(())
    }
}

fn look() -> Result<Resident, Fault> {
    Ok(Resident::now().ok_or("this system does not tell the memory of a process")?)
}

fn under(limit_bytes: u64, settings: &Settings) -> Result<(), Fault> {
    println!(
        "memory_limit {} MiB, {} entries of {} bytes",
        limit_bytes >> 20,
        settings.key_count,
        KEY_BYTES + VALUE_BYTES,
    );
    // What values are cut from, 4 MiB, is the load's and not the engine's.
    let mut values = values(VALUE_BYTES)?;
    let watch = Watch::new(limit_bytes)?;
    let builder = settings.builder()?;
    let db = builder
        .set("memory_limit", &limit_bytes.to_string())?
        .open()?;
    let mut random = Random::new(1);
    for number in 0..settings.key_count {
        db.put(key(random.below(settings.key_count)), values.next_value())?;
        if number % (LOOK_EVERY * 10) == LOOK_EVERY * 10 - 1 {
            watch.print("load", &db)?;
        }
    }
    watch.print("loaded", &db)?;
    for _ in 0..settings.key_count.min(LOOK_EVERY * 5) {
        db.get(key(random.below(settings.key_count)))?;
    }
    watch.print("gets", &db)?;
    let kept: Vec<_> = (0..1000_u64)
        .map(|step| db.get(key(step * (settings.key_count / 1000))))
        .collect::<Result<_, _>>()?;
    watch.print("kept values", &db)?;
    drop(kept);
    let count = db.iter()?.count();
    watch.print("scan", &db)?;
    let mut cursors = Vec::new();
    for step in 0..16 {
        let mut cursor = db.cursor()?;
        cursor.seek(key(step * settings.key_count / 16))?;
        (0..1000).try_for_each(|_| cursor.next().map(drop))?;
        cursors.push(cursor);
    }
    watch.print("16 cursors", &db)?;
    drop(cursors);
    db.compact::<&[u8]>(..)?;
    watch.print("compacted", &db)?;
    println!("{count} entries");
    db.close()?;
    Ok(())
}
