//! Lines of many services: written fast, compressed well, read newest first, dropped by age.
//!
//! `cargo run --release -p esker --example log_store`

use esker::{Compression, Db, KeyspaceOptions, Result};

const HOUR_MS: u64 = 3_600_000;

/// Service, a zero byte, milliseconds (big-endian), a number that keeps equal times apart.
fn key(service: &str, unix_ms: u64, number: u32) -> Vec<u8> {
    [
        service.as_bytes(),
        &[0],
        &unix_ms.to_be_bytes(),
        &number.to_be_bytes(),
    ]
    .concat()
}

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let db = Db::open(dir.path().join("logs"))?;
    // At rest a line is packed by what lines have in common, and still read alone.
    let lines = db.keyspace_with(
        "lines",
        KeyspaceOptions::default()
            .compression(Compression::Searchable)
            .set("sst.dictionary_min", "1MiB")?,
    )?;

    let mut batch = db.batch();
    let mut raw_bytes = 0;
    for number in 0..60_000_u32 {
        let service = ["mail", "pay", "web"][number as usize % 3];
        let at_ms = u64::from(number) * 1000;
        let line = format!(
            "{service} request {number} from 10.0.{}.{} took {} ms: status 200",
            number % 7,
            number % 251,
            number % 97
        );
        raw_bytes += line.len();
        batch.put(&lines, key(service, at_ms, number), &line);
        if batch.size_bytes() > 1 << 20 {
            batch.commit()?;
        }
    }
    batch.commit()?;

    println!("the last three lines of `pay`:");
    for entry in lines.prefix("pay\0")?.rev().take(3) {
        println!("  {}", String::from_utf8_lossy(&entry?.1));
    }

    // What is older than an hour goes: one write for each service, however many lines there are.
    let oldest_ms = 60_000 * 1000 - HOUR_MS;
    for service in ["mail", "pay", "web"] {
        lines.delete_range(key(service, 0, 0)..key(service, oldest_ms, 0))?;
    }
    assert_eq!(lines.iter()?.keys().count() as u64, HOUR_MS / 1000);
    lines.compact::<&[u8]>(..)?;
    let bytes: u64 = lines.files().iter().map(|file| file.size_bytes).sum();
    println!("{raw_bytes} bytes of lines came in; an hour of them, with keys, takes {bytes}");
    db.close()
}
