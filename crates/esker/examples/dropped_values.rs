//! What dropping keyspaces with large values gives back: at once, and when the database is at rest.
//!
//! Writes rows of 8 KiB to so many unlogged keyspaces by turns, drops every other one, and prints
//! how much the directory takes before, at once, after some seconds without a write, and when it
//! was closed.
//!
//!     cargo run --release -p esker --example dropped_values -- 64 2000
#![allow(
    clippy::disallowed_methods,
    reason = "a measuring program stands in the real world"
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use esker::{Db, KeyspaceOptions, Result};

/// Bytes of a value.
const VALUE_BYTES: usize = 8 << 10;

/// How long the database rests.
const REST: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let words: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let [keyspaces, rows] = words[..] else {
        eprintln!("usage: dropped_values KEYSPACES ROWS");
        return ExitCode::from(2);
    };
    match measure(keyspaces, rows) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(keyspaces: usize, rows: usize) -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let db = Db::builder(dir.path())
        .set("memory_limit", "256MiB")?
        .open()?;
    let name = |number: usize| format!("replica {number}");
    let options = KeyspaceOptions {
        is_unlogged: true,
        ..KeyspaceOptions::default()
    };
    let all = (0..keyspaces)
        .map(|number| db.keyspace_with(&name(number), options.clone()))
        .collect::<Result<Vec<_>>>()?;
    let mut state = 1_u64;
    for row in 0..rows {
        for keyspace in &all {
            let value: Vec<u8> = (0..VALUE_BYTES / 8)
                .flat_map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    state.to_le_bytes()
                })
                .collect();
            keyspace.put(format!("row {row:09}"), value)?;
        }
    }
    db.flush_all()?;
    tell("written", dir.path());
    drop(all);
    for number in (0..keyspaces).step_by(2) {
        db.drop_keyspace(&name(number))?;
    }
    tell("dropped", dir.path());
    let (_nobody, told) = channel::<()>();
    // Nobody tells: it is over when the time is.
    told.recv_timeout(REST).ok();
    tell("at rest", dir.path());
    db.close()?;
    tell("closed", dir.path());
    Ok(())
}

fn tell(when: &str, dir: &Path) {
    let files = || {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let told = entries.filter_map(|entry| Some((entry.file_name(), entry.metadata().ok()?)));
        told.filter(|(name, _)| name.to_string_lossy().ends_with(".vlog"))
    };
    let bytes: u64 = files().map(|(_, told)| told.len()).sum();
    let count = files().count();
    println!(
        "{when}\t{:.1} MiB\t{count} segments",
        bytes as f64 / 1_048_576.0
    );
}
