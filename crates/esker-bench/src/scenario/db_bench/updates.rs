//! Benchmarks that read and write in turns, and those that merge.

use crate::fail::Outcome;
use crate::flags::flag::Dialect;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{
    Bench, FOUND, LONGEST, MERGE, READ, TRIED, UPDATE, WRITE, WRITTEN, told,
};

/// What becomes of the old value and the fresh one.
#[derive(Clone, Copy)]
enum Change {
    Replace,
    Append,
    Xor,
}

/// Reads a random key and puts a new value.
pub fn update_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    update(bench, lane, Change::Replace)
}

/// Reads a random key and puts its value with more behind it.
pub fn append_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    update(bench, lane, Change::Append)
}

/// Reads a random key and puts its value, changed bit by bit.
pub fn xor_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    update(bench, lane, Change::Xor)
}

fn update(bench: &Bench<'_>, lane: &mut Lane<'_>, change: Change) -> Outcome {
    let mut hands = bench.hands(lane);
    let (num, how) = (bench.numbers.num, bench.numbers.how);
    // RocksDB of 2013 told no bytes.
    let tells_bytes = bench.setup.dialect() != Dialect::RocksDb2013;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    while lane.go() {
        let number = hands.pick(num);
        hands.make_key(number);
        let mut bytes = 0;
        old.clear();
        let got = bench.store.get(&hands.key, &mut |value| {
            bytes = (hands.key.len() + value.len()) as u64;
            if !matches!(change, Change::Replace) {
                old.extend_from_slice(value);
            }
        });
        let is_found = got.map_err(|error| told("get", error))?;
        lane.count(FOUND, u64::from(is_found));
        let fresh = hands.feed.value(number);
        let put = match change {
            Change::Replace => {
                bytes += (hands.key.len() + fresh.len()) as u64;
                bench.store.put(&hands.key, fresh, how)
            }
            Change::Append | Change::Xor => {
                new.clear();
                mix(change, is_found.then_some(&old[..]), fresh, &mut new);
                bytes += (hands.key.len() + new.len()) as u64;
                bench.store.put(&hands.key, &new, how)
            }
        };
        put.map_err(|error| told("put", error))?;
        if tells_bytes {
            lane.add_bytes(bytes);
        }
        lane.finish(UPDATE, 1);
    }
    lane.say(format!(
        "( updates:{} found:{})",
        bench.numbers.read_writes,
        lane.counted(FOUND)
    ));
    Ok(())
}

fn mix(change: Change, old: Option<&[u8]>, fresh: &[u8], new: &mut Vec<u8>) {
    match (change, old) {
        (Change::Append, Some(old)) => {
            new.extend_from_slice(old);
            new.push(b',');
            new.extend_from_slice(fresh);
        }
        (Change::Xor, Some(old)) => {
            new.extend_from_slice(fresh);
            new.resize(fresh.len().max(old.len()), 0);
            new.iter_mut()
                .zip(old)
                .for_each(|(byte, other)| *byte ^= other);
        }
        _ => new.extend_from_slice(fresh),
    }
}

/// Merges values into random keys.
pub fn merge_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let tells_bytes = bench.setup.dialect() != Dialect::RocksDb2013;
    while lane.go() {
        let number = hands.pick(bench.numbers.merge_keys);
        let bytes = hands.merge(number)?;
        if tells_bytes {
            lane.add_bytes(bytes);
        }
        lane.finish(MERGE, 1);
    }
    lane.say(format!("( updates:{})", bench.numbers.read_writes));
    Ok(())
}

/// Merges into random keys, or reads them.
pub fn read_merge_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let merge_percent = bench.setup.given.count("mergereadpercent");
    while lane.go() {
        let number = hands.pick(bench.numbers.merge_keys);
        if hands.dice.next_u64() % 100 < merge_percent {
            hands.merge(number)?;
            lane.count(WRITTEN, 1);
            lane.finish(MERGE, 1);
        } else {
            hands.make_key(number);
            let mut len = 0;
            let got = bench
                .store
                .get(&hands.key, &mut |value| len = value.len() as u64);
            let is_found = got.map_err(|error| told("get", error))?;
            lane.count(FOUND, u64::from(is_found));
            lane.raise(LONGEST, len);
            lane.count(TRIED, 1);
            lane.finish(READ, 1);
        }
    }
    lane.say(format!(
        "(reads:{} merges:{} total:{} hits:{} maxlength:{})",
        lane.counted(TRIED),
        lane.counted(WRITTEN),
        bench.numbers.read_writes,
        lane.counted(FOUND),
        lane.counted(LONGEST)
    ));
    Ok(())
}

/// Blocks of a hundred: reads first, then writes.
pub fn read_write_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let read_percent = bench.setup.given.count("readwritepercent");
    let mut place = 0_u64;
    while lane.go() {
        let number = hands.pick(bench.numbers.num);
        if place < read_percent {
            hands.make_key(number);
            lane.count(FOUND, u64::from(hands.get(number)?.is_some()));
            lane.count(TRIED, 1);
            lane.finish(READ, 1);
        } else {
            hands.put(number)?;
            lane.count(WRITTEN, 1);
            lane.finish(WRITE, 1);
        }
        place = (place + 1) % 100;
    }
    lane.say(format!(
        "( reads:{} writes:{} total:{} found:{})",
        lane.counted(TRIED),
        lane.counted(WRITTEN),
        bench.numbers.read_writes,
        lane.counted(FOUND)
    ));
    Ok(())
}
