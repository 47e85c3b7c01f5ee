//! Benchmarks that write or delete.

use crate::fail::Outcome;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, DELETE, Hands, WRITE, told};

/// Puts keys in order.
pub fn sequential(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    fill(bench, lane, &mut |_, turn| turn)
}

/// Puts random keys.
pub fn random(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let num = bench.numbers.num;
    fill(bench, lane, &mut |hands, _| hands.dice.below(num))
}

/// Puts the keys that `choose` makes of the turn.
fn fill(
    bench: &Bench<'_>,
    lane: &mut Lane<'_>,
    choose: &mut dyn FnMut(&mut Hands<'_>, u64) -> u64,
) -> Outcome {
    let mut hands = bench.hands(lane);
    if let Some(message) = bench.numbers.fewer_message(bench.setup) {
        lane.say(message);
    }
    while lane.go() {
        let number = choose(&mut hands, lane.done());
        lane.add_bytes(hands.put(number)?);
        lane.finish(WRITE, 1);
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
    delete(bench, lane, &mut |hands, _| hands.dice.below(num))
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

/// The thread that puts random keys while others read: until they are done, or as often as
/// `--writes` says.
pub fn put_beside(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut hands = bench.hands(lane);
    let is_bounded = bench.setup.given.is_given("writes");
    while lane.go() && !(is_bounded && lane.done() >= bench.numbers.writes) {
        let number = hands.dice.below(bench.numbers.num);
        lane.add_bytes(hands.put(number)?);
        lane.finish(WRITE, 1);
    }
    Ok(())
}
