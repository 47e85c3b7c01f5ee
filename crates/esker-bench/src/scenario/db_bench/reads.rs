//! Benchmarks that read.

use crate::fail::Outcome;
use crate::flags::flag::Dialect;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, FOUND, READ, SEEK, TRIED};
use crate::target::store::Cursor;

/// Gets random keys.
pub fn random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    gets(bench, lane, Suffix::None)
}

/// Gets keys that are not there.
pub fn missing(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let suffix = match bench.setup.dialect() {
        Dialect::LevelDb => Suffix::Cut,
        Dialect::RocksDb2013 => Suffix::More(b'.'),
        Dialect::RocksDb => Suffix::More(b'0'),
    };
    gets(bench, lane, suffix)?;
    if bench.setup.dialect() != Dialect::RocksDb {
        lane.say("");
    }
    Ok(())
}

/// How a key that is not there is made of one that is.
#[derive(Clone, Copy)]
enum Suffix {
    None,
    Cut,
    More(u8),
}

fn gets(bench: &Bench<'_>, lane: &mut Lane<'_>, suffix: Suffix) -> Outcome {
    let mut hands = bench.hands(lane);
    let is_new = bench.setup.dialect() == Dialect::RocksDb;
    while lane.go() {
        let number = hands.dice.below(bench.numbers.num);
        hands.make_key(number);
        match suffix {
            Suffix::None => {}
            Suffix::Cut => {
                hands.key.pop();
            }
            Suffix::More(byte) => hands.key.push(byte),
        }
        if let Some(bytes) = hands.get(number)? {
            lane.count(FOUND, 1);
            if is_new {
                lane.add_bytes(hands.key.len() as u64 + bytes);
            }
        }
        lane.count(TRIED, 1);
        lane.finish(READ, 1);
    }
    say_found(bench, lane);
    Ok(())
}

/// `(found of all found)`; LevelDB tells the number of keys as all, and RocksDB has a stray end
/// of line behind it.
fn say_found(bench: &Bench<'_>, lane: &mut Lane<'_>) {
    let (found, read) = (lane.counted(FOUND), lane.counted(TRIED));
    lane.say(match bench.setup.dialect() {
        Dialect::LevelDb => format!("({found} of {} found)", bench.numbers.num),
        Dialect::RocksDb2013 => format!("({found} of {} found)", bench.numbers.reads),
        Dialect::RocksDb => format!("({found} of {read} found)\n"),
    });
}

/// Reads in order from the first entry.
pub fn forward(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    walk(bench, lane, FORWARD)
}

/// Reads in order from the last entry.
pub fn backward(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    walk(bench, lane, BACKWARD)
}

/// Where a walk begins, and how it goes on.
#[derive(Clone, Copy)]
struct Direction {
    start: fn(&mut dyn Cursor) -> Outcome<bool>,
    step: fn(&mut dyn Cursor) -> Outcome<bool>,
}

const FORWARD: Direction = Direction {
    start: |cursor| cursor.seek_to_first(),
    step: |cursor| cursor.next(),
};

const BACKWARD: Direction = Direction {
    start: |cursor| cursor.seek_to_last(),
    step: |cursor| cursor.prev(),
};

/// Reads in order to the end.
fn walk(bench: &Bench<'_>, lane: &mut Lane<'_>, direction: Direction) -> Outcome {
    let mut cursor = bench.store.cursor()?;
    let cursor = cursor.as_mut();
    let mut is_there = (direction.start)(cursor)?;
    while is_there && lane.go() {
        lane.add_bytes((cursor.key().len() + cursor.value().len()) as u64);
        lane.finish(READ, 1);
        is_there = (direction.step)(cursor)?;
    }
    Ok(())
}

/// Seeks random keys, each with a cursor of its own.
pub fn seek_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let nexts = bench.setup.given.count("seek_nexts");
    let mut hands = bench.hands(lane);
    while lane.go() {
        let number = hands.dice.below(bench.numbers.num);
        hands.make_key(number);
        let mut cursor = bench.store.cursor()?;
        let mut is_there = cursor.seek(&hands.key)?;
        let is_found = is_there && cursor.key() == hands.key;
        lane.count(FOUND, u64::from(is_found));
        for _ in 0..nexts {
            if !is_there {
                break;
            }
            lane.add_bytes((cursor.key().len() + cursor.value().len()) as u64);
            is_there = cursor.next()?;
        }
        lane.count(TRIED, 1);
        lane.finish(SEEK, 1);
    }
    say_found(bench, lane);
    Ok(())
}

/// Gets groups of random keys at once.
pub fn multi_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let (num, group) = (bench.numbers.num, bench.numbers.per_batch.max(1));
    let mut keys: Vec<Vec<u8>> = Vec::new();
    while lane.go() {
        keys.clear();
        for _ in 0..group {
            let number = hands.dice.below(num);
            hands.make_key(number);
            keys.push(hands.key.clone());
        }
        let lent: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut bytes = 0;
        let got = bench.store.multi_get(&lent, &mut |place, value| {
            bytes += (lent[place].len() + value.len()) as u64;
        })?;
        lane.count(FOUND, got as u64);
        lane.count(TRIED, group);
        lane.add_bytes(bytes);
        lane.finish(READ, group);
    }
    let (found, read) = (lane.counted(FOUND), lane.counted(TRIED));
    lane.say(format!("({found} of {read} found)"));
    Ok(())
}
