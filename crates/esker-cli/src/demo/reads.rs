//! Second act: points and a scan, each value compared with the books.

use std::time::Instant;

use esker::Db;
use esker_bench::make::random::{Random, scramble};
use esker_bench::make::zipf::Zipf;

use crate::demo::measure::Timings;
use crate::demo::stage::{Act, Books, checksum};
use crate::fail::{Failure, Outcome};
use crate::quantity;

/// Reads of each kind: enough for a 99th percentile that means something.
const READS: u64 = 200_000;

/// Reads of which one asks for a key that is not there: 1 in so many.
const ABSENT_EVERY: u64 = 10;

/// Seed of the choice of keys; any will do, this one gives everyone the same run.
const SEED: u64 = 2026;

/// How uneven zipfian reads are: YCSB's exponent.
const THETA: f64 = 0.99;

/// Which keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Each as often as any other.
    Even,
    /// Few often, most seldom.
    Zipfian,
}

/// Reads single keys.
pub fn points(db: &Db, books: &Books, choice: Choice) -> Outcome<Act> {
    let keys: Vec<(&[u8], u64)> = books.iter().map(|(key, sum)| (&key[..], *sum)).collect();
    let count = keys.len() as u64;
    let mut random = Random::new(SEED);
    let zipf = Zipf::new(count, THETA);
    let mut timings = Timings::new();
    let mut absent = 0_u64;
    for turn in 0..READS {
        let place = match choice {
            Choice::Even => random.below(count),
            Choice::Zipfian => scramble(zipf.draw(&mut random)) % count,
        };
        let place = usize::try_from(place).expect("a place in a list in memory");
        let (key, sum) = keys[place];
        if turn % ABSENT_EVERY == 0 {
            // Between two keys that are there: no shortcut by the bounds of files.
            let missing = [key, b"?"].concat();
            let is_known = books.contains_key(&missing);
            let found = timings.time(|| db.get(&missing))?;
            if found.is_some() != is_known {
                return Err(lie("a key that was never put", &missing));
            }
            absent += 1;
            continue;
        }
        let found = timings.time(|| db.get(key))?;
        if found.map(|value| checksum(&value)) != Some(sum) {
            return Err(lie("another value than was put, or none", key));
        }
    }
    let proved = format!(
        "all values right; {} asked for absent keys",
        quantity::count(absent)
    );
    Ok(Act {
        name: match choice {
            Choice::Even => "read, uniform",
            Choice::Zipfian => "read, zipfian",
        },
        unit: "gets",
        timings,
        proved,
    })
}

/// Reads everything in order.
pub fn scan(db: &Db, books: &Books) -> Outcome<Act> {
    let mut timings = Timings::new();
    let mut expected = books.iter();
    let mut began = Instant::now();
    let mut iter = db.iter()?;
    loop {
        let found = iter.next().transpose()?;
        if found.is_some() {
            // The first step includes opening the iterator.
            timings.add(began.elapsed());
        }
        match (found, expected.next()) {
            (None, None) => break,
            (Some((key, value)), Some((known, sum))) => {
                if key != *known || checksum(&value) != *sum {
                    return Err(lie("another entry than was put", &key));
                }
            }
            (Some((key, _)), None) => return Err(lie("an entry too many", &key)),
            (None, Some((known, _))) => return Err(lie("an end too early", known)),
        }
        began = Instant::now();
    }
    Ok(Act {
        name: "scan, in order",
        unit: "steps",
        timings,
        proved: "every entry there, in order, nothing else".into(),
    })
}

fn lie(what: &str, key: &[u8]) -> Failure {
    Failure::not_found(format!(
        "the database returned {what} at {:?}; please report this with the directory as it is",
        key.escape_ascii().to_string()
    ))
}
