//! Benchmarks that read and write in turns, and those that merge.

use crate::fail::Outcome;
use crate::flags::flag::Dialect;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, FOUND, MERGE, UPDATE, told};

/// Reads a random key and puts a new value.
pub fn update_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    // RocksDB of 2013 told no bytes.
    let tells_bytes = bench.setup.dialect() != Dialect::RocksDb2013;
    while lane.go() {
        let number = hands.dice.below(bench.numbers.num);
        hands.make_key(number);
        let mut bytes = 0;
        let got = bench.store.get(&hands.key, &mut |value| {
            bytes = (hands.key.len() + value.len()) as u64;
        });
        let is_found = got.map_err(|error| told("get", error))?;
        lane.count(FOUND, u64::from(is_found));
        bytes += hands.put(number)?;
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

/// Merges values into random keys.
pub fn merge_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let tells_bytes = bench.setup.dialect() != Dialect::RocksDb2013;
    while lane.go() {
        let number = hands.dice.below(bench.numbers.num);
        let bytes = hands.merge(number)?;
        if tells_bytes {
            lane.add_bytes(bytes);
        }
        lane.finish(MERGE, 1);
    }
    lane.say(format!("( updates:{})", bench.numbers.read_writes));
    Ok(())
}
