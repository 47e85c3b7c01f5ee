//! `timeseries`: one thread writes what happens, the others read it, or delete what is too old.

use std::sync::atomic::Ordering;

use crate::fail::Outcome;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, DELETE, FOUND, Hands, READ, TRIED, WRITE, told};

/// The benchmark's name.
pub const TIME_SERIES: &str = "timeseries";

/// Bytes of a time at the end of a key.
const TIME_BYTES: usize = 8;

/// The thread that writes: a random thing, and the next moment.
pub fn write(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let things = bench.setup.given.count("key_id_range");
    while lane.go() {
        let thing = hands.dice.below(things);
        // Relaxed: a number that stands for the time, and carries nothing else.
        let moment = bench.moments.fetch_add(1, Ordering::Relaxed);
        make_key(&mut hands, thing, moment);
        let value = hands.feed.value(thing);
        let bytes = (hands.key.len() + value.len()) as u64;
        let put = bench.store.put(&hands.key, value, bench.numbers.how);
        put.map_err(|error| told("put", error))?;
        lane.add_bytes(bytes);
        lane.finish(WRITE, 1);
    }
    Ok(())
}

/// A thread beside it, which reads all times of a random thing; with `--expire_style=delete` the
/// first ones delete those that are too old, oldest first.
pub fn read_or_delete(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let given = &bench.setup.given;
    let is_first = (lane.index() as u64) < given.count("num_deletion_threads");
    let deletes = is_first && given.text("expire_style") == "delete";
    let (things, age_max) = (given.count("key_id_range"), given.count("time_range"));
    let mut hands = bench.hands(lane);
    while lane.go() {
        let thing = hands.dice.below(things);
        make_key(&mut hands, thing, 0);
        let prefix = hands.key.len() - TIME_BYTES;
        let mut cursor = bench.store.cursor()?;
        let mut is_there = cursor.seek(&hands.key)?;
        let is_of_thing = |key: &[u8]| key.get(..prefix) == Some(&hands.key[..prefix]);
        lane.count(TRIED, 1);
        lane.count(FOUND, u64::from(is_there && is_of_thing(cursor.key())));
        while is_there && is_of_thing(cursor.key()) {
            if deletes {
                let moment = moment_of(cursor.key());
                let now = bench.moments.load(Ordering::Relaxed);
                lane.add_bytes(cursor.key().len() as u64);
                if moment.saturating_add(age_max) >= now {
                    break;
                }
                let deleted = bench.store.delete(cursor.key(), bench.numbers.how);
                deleted.map_err(|error| told("del", error))?;
                lane.finish(DELETE, 1);
            } else {
                lane.add_bytes((cursor.key().len() + cursor.value().len()) as u64);
                lane.finish(READ, 1);
            }
            is_there = cursor.next()?;
        }
    }
    let (found, read) = (lane.counted(FOUND), lane.counted(TRIED));
    lane.say(format!("({found} of {read} found)"));
    Ok(())
}

/// The key of a thing at a moment, both with the highest byte first, so that those of one thing lie
/// together in the order of time; what `--key_size` has room for lies between them.
fn make_key(hands: &mut Hands<'_>, thing: u64, moment: u64) {
    let size = hands.bench.setup.key_shape.size.max(2 * TIME_BYTES);
    hands.key.clear();
    hands.key.extend_from_slice(&thing.to_be_bytes());
    hands.key.resize(size - TIME_BYTES, b'0');
    hands.key.extend_from_slice(&moment.to_be_bytes());
}

fn moment_of(key: &[u8]) -> u64 {
    let time = key.last_chunk::<TIME_BYTES>();
    time.map_or(0, |time| u64::from_be_bytes(*time))
}
