//! Benchmarks that write or delete.

use crate::fail::Outcome;
use crate::make::random::Random;
use crate::measure::pace::{Pace, wait_until};
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, DELETE, Hands, MERGE, WRITE, told};

/// Puts keys in order.
pub fn sequential(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    fill(bench, lane, &mut |_, turn| turn)
}

/// Puts random keys.
pub fn random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let num = bench.numbers.num;
    fill(bench, lane, &mut |hands, _| hands.pick(num))
}

/// Puts every key once, shuffled.
pub fn unique(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut keys: Vec<u64> = (0..bench.numbers.num).collect();
    let mut random = Random::new(bench.numbers.seed_base);
    for place in (1..keys.len()).rev() {
        let other = random.below(place as u64 + 1);
        keys.swap(place, usize::try_from(other).expect("below the length"));
    }
    // The shuffle is preparation.
    lane.restart();
    fill(bench, lane, &mut |_, turn| {
        keys[usize::try_from(turn).expect("a place") % keys.len()]
    })
}

/// Puts the keys that `choose` makes of the turn, alone or in batches. Turns count what was done
/// since the warm-up: what is measured begins with the first.
fn fill(
    bench: &Bench<'_>,
    lane: &mut Lane<'_>,
    choose: &mut dyn FnMut(&mut Hands<'_>, u64) -> u64,
) -> Outcome {
    let mut hands = bench.hands(lane);
    if let Some(message) = bench.numbers.fewer_message(bench.setup) {
        lane.say(message);
    }
    let (per_batch, how) = (bench.numbers.per_batch, bench.numbers.how);
    if per_batch <= 1 {
        while lane.go() {
            let number = choose(&mut hands, lane.done());
            lane.add_bytes(hands.put(number)?);
            lane.finish(WRITE, 1);
        }
        return Ok(());
    }
    let mut batch = bench.store.batch()?;
    while lane.go() {
        for place in 0..per_batch {
            let number = choose(&mut hands, lane.done() + place);
            hands.make_key(number);
            let value = hands.feed.value(number);
            lane.add_bytes((hands.key.len() + value.len()) as u64);
            batch
                .put(&hands.key, value)
                .map_err(|error| told("put", error))?;
        }
        batch.commit(how).map_err(|error| told("put", error))?;
        lane.finish(WRITE, per_batch);
    }
    Ok(())
}

/// Deletes keys in order.
pub fn delete_sequential(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    delete(bench, lane, &mut |_, turn| turn)
}

/// Deletes random keys.
pub fn delete_random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let num = bench.numbers.num;
    delete(bench, lane, &mut |hands, _| hands.pick(num))
}

fn delete(
    bench: &Bench<'_>,
    lane: &mut Lane<'_>,
    choose: &mut dyn FnMut(&mut Hands<'_>, u64) -> u64,
) -> Outcome {
    let mut hands = bench.hands(lane);
    let how = bench.numbers.how;
    while lane.go() {
        let number = choose(&mut hands, lane.done());
        hands.make_key(number);
        bench
            .store
            .delete(&hands.key, how)
            .map_err(|error| told("del", error))?;
        lane.finish(DELETE, 1);
    }
    Ok(())
}

/// The thread that puts while others read.
pub fn put_beside(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    beside(bench, lane, &mut |hands, number| hands.put(number), WRITE)
}

/// The thread that merges while others read.
pub fn merge_beside(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    beside(bench, lane, &mut |hands, number| hands.merge(number), MERGE)
}

/// Writes random keys until the others are done, or so many as were asked for, no faster than
/// `--benchmark_write_rate_limit`.
fn beside(
    bench: &Bench<'_>,
    lane: &mut Lane<'_>,
    write: &mut dyn FnMut(&mut Hands<'_>, u64) -> Outcome<u64>,
    kind: usize,
) -> Outcome {
    let given = &bench.setup.given;
    let mut hands = bench.hands(lane);
    let is_bounded = given.is_given("writes");
    let to_the_end = given.is("finish_after_writes");
    let entry_bytes = (bench.setup.key_bytes() + bench.setup.value_bytes()).max(1);
    let limit = given.count("benchmark_write_rate_limit");
    let mut pace = (limit > 0).then(|| {
        let rate = limit as f64 / entry_bytes as f64;
        Pace::new(std::time::Instant::now(), rate, 0, 1)
    });
    while lane.go() || (to_the_end && !lane.is_over()) {
        let is_enough = (is_bounded || to_the_end) && lane.done() >= bench.numbers.writes;
        if is_enough {
            break;
        }
        if let Some(pace) = &mut pace {
            wait_until(pace.next_due());
        }
        let number = hands.pick(bench.numbers.num);
        lane.add_bytes(write(&mut hands, number)?);
        lane.finish(kind, 1);
    }
    Ok(())
}
