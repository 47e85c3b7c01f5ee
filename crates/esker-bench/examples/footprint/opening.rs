//! How long Esker takes to open: after a clean close, and with a log to replay.

use std::process::Command;
use std::time::Instant;

use esker::Db;
use esker_bench::make::random::Random;

use crate::fault::Fault;
use crate::leavings::{clear, directory_bytes};
use crate::load::{key, values};
use crate::settings::Settings;

/// Bytes of a value.
const VALUE_BYTES: usize = 100;

/// One key in so many is written again before the kill.
const REWRITTEN_DIVISOR: u64 = 10;

/// Loads, closes, and opens again several times.
pub fn run(settings: &Settings) -> Result<(), Fault> {
    clear(&settings.dir)?;
    open_again(settings)?;
    clear(&settings.dir)
}

fn open(settings: &Settings) -> Result<Db, Fault> {
    Ok(settings.builder()?.open()?)
}

/// Puts `count` random keys.
fn fill(db: &Db, settings: &Settings, seed: u64, count: u64) -> Result<(), Fault> {
    let (mut random, mut values) = (Random::new(seed), values(VALUE_BYTES)?);
    for _ in 0..count {
        db.put(key(random.below(settings.key_count)), values.next_value())?;
    }
    Ok(())
}

fn open_again(settings: &Settings) -> Result<(), Fault> {
    let db = open(settings)?;
    fill(&db, settings, 1, settings.key_count)?;
    let begun = Instant::now();
    db.close()?;
    drop(db);
    println!("close: {:?}", begun.elapsed());
    for _ in 0..settings.round_count {
        let begun = Instant::now();
        let db = open(settings)?;
        let opened = begun.elapsed();
        db.get(key(settings.key_count / 2))?;
        let first_read = begun.elapsed();
        db.close()?;
        println!("open after a clean close: {opened:?}; first read after {first_read:?}");
    }
    replay(settings)
}

// Another process of this program writes and ends without a word, as a killed one does.
fn replay(settings: &Settings) -> Result<(), Fault> {
    let status = Command::new(std::env::current_exe()?)
        .args([
            "abandon",
            "--keys",
            &settings.key_count.to_string(),
            "--dir",
        ])
        .arg(&settings.dir)
        .status()?;
    assert!(!status.success());
    let begun = Instant::now();
    let db = open(settings)?;
    println!(
        "open after a kill: {:?}; {} segments of log, {} MiB of files",
        begun.elapsed(),
        db.stats().wal_segment_count,
        directory_bytes(&settings.dir)? >> 20,
    );
    Ok(db.close()?)
}

/// Writes into an existing database and ends the process in the middle.
pub fn abandon(settings: &Settings) -> Result<(), Fault> {
    let db = open(settings)?;
    fill(&db, settings, 2, settings.key_count / REWRITTEN_DIVISOR)?;
    std::process::abort();
}
