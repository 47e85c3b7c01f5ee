//! How long Esker takes to open: after a clean close, and with a log to replay.

use std::fs;
use std::time::Instant;

use esker::{Db, Readable};

use crate::Fault;
use crate::keys::key;
use crate::lines::{directory_bytes, random_keys};
use crate::process::clear;
use crate::settings::Settings;
use crate::values::Values;

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

// A copy of the directory of an open database is what a killed process leaves behind.
fn replay(settings: &Settings) -> Result<(), Fault> {
    let copy = settings.dir.with_extension("killed");
    clear(&copy)?;
    fs::create_dir_all(&copy)?;
    let db = open(settings)?;
    let mut values = Values::new();
    for key in random_keys(2, settings.key_count / 10) {
        db.put(key, values.next())?;
    }
    let segment_count = db.stats().wal_segment_count;
    for file in fs::read_dir(&settings.dir)? {
        let file = file?;
        fs::copy(file.path(), copy.join(file.file_name()))?;
    }
    let bytes = directory_bytes(&copy)?;
    let begun = Instant::now();
    let opened = open(&Settings {
        dir: copy.clone(),
        ..settings.clone()
    })?;
    println!(
        "open after a kill: {:?}; {} segments of log, {} MiB in all",
        begun.elapsed(),
        segment_count,
        bytes >> 20,
    );
    opened.close()?;
    drop(opened);
    db.close()?;
    Ok(fs::remove_dir_all(&copy)?)
}
