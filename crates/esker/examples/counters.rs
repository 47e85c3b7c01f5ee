//! Page views by page and day: counting without reading first, from several threads at once.
//!
//! `cargo run --release -p esker --example counters`

#![allow(
    clippy::disallowed_methods,
    reason = "a program of a user's, on threads of its own"
)]

use std::thread;

use esker::{Bytes, Db, Result, merge};

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    // The operator is part of the keyspace: opening it later with another one is refused.
    let db = Db::builder(dir.path().join("views"))
        .merge_operator(merge::uint64_add())
        .open()?;

    // A merge is a write like a put: no read, no lock that threads would queue for.
    thread::scope(|scope| {
        let counting: Vec<_> = (0..4)
            .map(|visitor| {
                scope.spawn({
                    let db = &db;
                    move || visit(db, visitor)
                })
            })
            .collect();
        counting
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })?;

    println!("views of each page on 24 November:");
    for entry in db.prefix("2026-11-24/")? {
        let (key, count) = entry?;
        println!(
            "  {:20} {:>6}",
            String::from_utf8_lossy(&key),
            number(&count)
        );
    }
    let total: u64 = db
        .iter()?
        .map(|entry| Ok(number(&entry?.1)))
        .sum::<Result<u64>>()?;
    assert_eq!(total, 4 * 10_000);
    println!("all days and pages: {total}");
    db.close()
}

fn visit(db: &Db, visitor: u64) -> Result<()> {
    let one = 1_u64.to_le_bytes();
    for step in 0..10_000 {
        let page = ["home", "search", "book", "pay"][((visitor + step * step) % 4) as usize];
        let day = 20 + step % 5;
        db.merge(format!("2026-11-{day}/{page}"), one)?;
    }
    Ok(())
}

fn number(value: &Bytes) -> u64 {
    u64::from_le_bytes(value[..].try_into().expect("the operator keeps 8 bytes"))
}
