//! A database whose files were damaged: opened, repaired or looked into, never a panic or a lie.
//!
//! The first byte chooses what is done. Then each four bytes are one damage: the file, the offset
//! (u16) and what is xored there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use esker::internals::db::inspect::{manifest, sst, wal};
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::clock::SimClock;
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{Builder, Db, RepairOptions, Result, repair_in};

const DIR: &str = "/db";

/// Keys of the database; each has its number as value, written twice.
const KEYS: u32 = 60;

/// A disk with sorted files, a log that was not flushed, and a manifest.
static DISK: LazyLock<SimFs> = LazyLock::new(|| {
    let world = SimWorld::new(1);
    let db = open(world.env()).expect("an empty disk");
    for number in 0..KEYS {
        db.put(key(number), format!("old {number}"))
            .expect("memory does not fail");
        if number % 20 == 10 {
            db.flush().expect("memory does not fail");
        }
    }
    for number in 0..KEYS {
        db.put(key(number), format!("new {number}"))
            .expect("memory does not fail");
    }
    world.fs.crash_image(CrashMode::KeepAll, 0)
});

static NAMES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let mut names = DISK.list(Path::new(DIR)).expect("memory does not fail");
    names.sort();
    names.iter().map(|name| Path::new(DIR).join(name)).collect()
});

fn key(number: u32) -> String {
    format!("key {number:03}")
}

fn open(env: Env) -> Result<Db> {
    Builder::new(DIR)
        .env(env)
        .set("memory_limit", "4MiB")?
        .set("wal.segment_size", "128KiB")?
        .open()
}

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&choice, damage)) = input.split_first() else {
        return;
    };
    let disk = DISK.crash_image(CrashMode::KeepAll, 0);
    for change in damage.chunks_exact(4) {
        xor(&disk, change);
    }
    let env = SimWorld::with_disk(disk, Arc::new(SimClock::new()), 1).env();
    match choice % 3 {
        0 => {
            if let Ok(db) = open(env) {
                read(&db);
            }
        }
        1 => {
            // What was repaired can be opened.
            let options = RepairOptions::default();
            if repair_in(&env, Path::new(DIR), options, &[]).is_ok() {
                read(&open(env).expect("it was repaired"));
            }
        }
        _ => look(&env),
    }
}

fn xor(disk: &SimFs, change: &[u8]) {
    let path = &NAMES[usize::from(change[0]) % NAMES.len()];
    let file = disk.open_read(path).expect("it is listed");
    let size = file.size_bytes();
    if size == 0 {
        return;
    }
    let offset = u64::from(u16::from_le_bytes([change[1], change[2]])) % size;
    let mut byte = [0];
    file.read_at(offset, &mut byte).expect("within the file");
    byte[0] ^= change[3];
    let mut log = disk.open_log(path, size).expect("it is there");
    log.write_at(offset, &byte).expect("within the file");
}

// Each value that is read is one that was written to its key.
fn read(db: &Db) {
    let check = |found: &[u8], number: u32| {
        let values = [format!("old {number}"), format!("new {number}")];
        assert!(values.iter().any(|value| value.as_bytes() == found));
    };
    for number in 0..KEYS {
        if let Ok(Some(value)) = db.get(key(number)) {
            check(&value, number);
        }
    }
    let Ok(entries) = db.iter() else { return };
    let mut last = None;
    for (found, value) in entries.map_while(|entry| entry.ok()) {
        let number = (0..KEYS).find(|number| key(*number).as_bytes() == &found[..]);
        let number = number.expect("only keys that were written");
        assert!(last < Some(number));
        last = Some(number);
        check(&value, number);
    }
}

// Tools show what can be shown.
fn look(env: &Env) {
    for path in NAMES.iter() {
        // Any answer will do, as long as there is one.
        let _ = manifest::manifest_in(env, path);
        // Any answer will do, as long as there is one.
        let _ = sst::sst_in(env, path, &[]);
        if let Ok(items) = wal::wal_in(env, path) {
            items.take_while(|item| item.is_ok()).for_each(drop);
        }
    }
}
