//! How long Esker takes to open: after a clean close, and with a log to replay.

use std::process::Command;
use std::time::Instant;

use esker::{Db, Readable};

use crate::Fault;
use crate::keys::key;
use crate::lines::{directory_bytes, random_keys};
use crate::process::clear;
use crate::settings::Settings;
use crate::values::Values;

/// One key in so many is written again before the kill.
const REWRITTEN_DIVISOR: u64 = 10;

/// Loads, closes, and opens again several times.
pub fn run(settings: &Settings) -> Result<(), Fault> {
    clear(&settings.dir)?;
    open_again(settings)?;
    clear(&settings.dir)
}

fn open(settings: &Settings) -> Result<Db, Fault> {
    let mut builder = Db::builder(&settings.dir);
    for (name, text) in &settings.esker {
        builder = builder.set(name, text)?;
    }
    Ok(builder.open()?)
}

fn open_again(settings: &Settings) -> Result<(), Fault> {
    let db = open(settings)?;
    let mut values = Values::new();
    for key in random_keys(1, settings.key_count) {
        db.put(key, values.next())?;
    }
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
    let mut values = Values::new();
    for key in random_keys(2, settings.key_count / REWRITTEN_DIVISOR) {
        db.put(key, values.next())?;
    }
    std::process::abort();
}
