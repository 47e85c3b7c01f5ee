//! The operations of a database, in process: put, get, scan, merge, batches, syncs.
//!
//! `cargo bench -p esker --bench db`. A million keys of 16 decimal digits, values of 100 bytes,
//! one thread, default settings; rounds on a fresh database each, in nanoseconds for each
//! operation: the median and, in brackets, the fastest and the slowest round.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark stands in the real world"
)]

use std::hint::black_box;
use std::time::Instant;

use esker::internals::base::hooks::merge_builtin;
use esker::internals::env::random::Random;
use esker::{Db, Durability, Result, WriteOptions};

/// Keys, and operations of each line unless it says otherwise.
const KEY_COUNT: u64 = 1_000_000;

const ROUND_COUNT: usize = 5;

/// Counters that the merges go onto.
const COUNTER_COUNT: u64 = 1000;

/// Puts in a batch.
const BATCH_LEN: u64 = 100;

/// Writes that wait for the medium: each takes as long as the disk does.
const SYNC_COUNT: u64 = 500;

struct Lines(Vec<(&'static str, Vec<f64>)>);

impl Lines {
    fn time<T>(
        &mut self,
        name: &'static str,
        count: u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let begun = Instant::now();
        let result = work()?;
        let ns = begun.elapsed().as_nanos() as f64 / count as f64;
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(ns),
            None => self.0.push((name, vec![ns])),
        }
        Ok(result)
    }

    fn print(&mut self) {
        println!("{:<24}{:>10}", "", "ns/op");
        for (name, all) in &mut self.0 {
            all.sort_by(f64::total_cmp);
            let (min, max) = (all[0], all[all.len() - 1]);
            println!(
                "{name:<24}{:>10.0}  ({min:.0} to {max:.0})",
                all[all.len() / 2]
            );
        }
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut digits = [b'0'; 16];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

fn fresh(round: usize) -> Result<(tempfile::TempDir, Db)> {
    let dir = tempfile::tempdir().expect("a directory for round files");
    assert!(round < ROUND_COUNT);
    let db = Db::builder(dir.path())
        .merge_operator(merge_builtin::builtin("uint64add").expect("a built-in operator"))
        .open()?;
    Ok((dir, db))
}

fn writes(lines: &mut Lines, round: usize, value: &[u8]) -> Result<()> {
    let (_dir, db) = fresh(round)?;
    lines.time("put, sequential", KEY_COUNT, || {
        (0..KEY_COUNT).try_for_each(|number| db.put(key(number), value))
    })?;
    let (_dir, db) = fresh(round)?;
    let mut random = Random::new(1);
    lines.time("put, batches of 100", KEY_COUNT, || {
        for _ in 0..KEY_COUNT / BATCH_LEN {
            let mut batch = db.batch();
            for _ in 0..BATCH_LEN {
                batch.put(&db, key(random.below(KEY_COUNT)), value);
            }
            batch.commit()?;
        }
        Ok(())
    })?;
    let one = 1_u64.to_le_bytes();
    lines.time("merge, 1000 counters", KEY_COUNT, || {
        (0..KEY_COUNT).try_for_each(|_| db.merge(key(random.below(COUNTER_COUNT)), one))
    })?;
    let synced = db.with_write(WriteOptions {
        durability: Some(Durability::Sync),
        ..WriteOptions::default()
    });
    lines.time("put, synced", SYNC_COUNT, || {
        (0..SYNC_COUNT).try_for_each(|number| synced.put(key(number), value))
    })
}

fn reads(lines: &mut Lines, round: usize, value: &[u8]) -> Result<()> {
    let (_dir, db) = fresh(round)?;
    let mut random = Random::new(2);
    lines.time("put, random", KEY_COUNT, || {
        (0..KEY_COUNT).try_for_each(|_| db.put(key(random.below(KEY_COUNT)), value))
    })?;
    let mut gets = |name: &'static str, lines: &mut Lines| {
        lines.time(name, KEY_COUNT, || {
            (0..KEY_COUNT).try_for_each(|_| {
                db.get(key(random.below(KEY_COUNT)))
                    .map(|got| drop(black_box(got)))
            })
        })
    };
    gets("get, after the load", lines)?;
    db.compact::<&[u8]>(..)?;
    gets("get, first pass", lines)?;
    gets("get, warm", lines)?;
    let count = lines.time("scan forward", KEY_COUNT * 632 / 1000, || {
        db.iter()?
            .try_fold(0_u64, |count, entry| entry.map(|_| count + 1))
    })?;
    let back = lines.time("scan backward", KEY_COUNT * 632 / 1000, || {
        db.iter()?
            .rev()
            .try_fold(0_u64, |count, entry| entry.map(|_| count + 1))
    })?;
    assert!(count == back);
    lines.time("cursor forward", count, || {
        let mut cursor = db.cursor()?;
        let mut is_valid = cursor.seek_to_first()?;
        while is_valid {
            black_box((cursor.key(), cursor.value()?));
            is_valid = cursor.next()?;
        }
        Ok(())
    })
}

fn main() -> Result<()> {
    let mut lines = Lines(Vec::new());
    let value: Vec<u8> = [
        [b'x'; 50],
        Random::new(3).bytes(50).try_into().expect("fifty"),
    ]
    .concat();
    for round in 0..ROUND_COUNT {
        writes(&mut lines, round, &value)?;
        reads(&mut lines, round, &value)?;
    }
    lines.print();
    Ok(())
}
