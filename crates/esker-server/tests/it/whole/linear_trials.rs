//! The search for an order of calls against one that tries all of them, on histories from dice.
//!
//! Each history is of a run in which calls were done one after another, by rows of its own, so it
//! has an order. Then one answer is another one, or a call is said to have ended earlier. Long
//! ones, of a machine that has much to do, are judged as well, whatever was not answered in them.

use std::collections::BTreeMap;

use esker::internals::env::random::Random;

use crate::whole::linear::{Call, Deed, Held, Row, Saw, Verdict, after, check};

const HISTORIES: u64 = 4000;

/// Calls of one: all orders of them are tried.
const CALLS: u64 = 7;

/// The clock of a call whose second is not known is one of these.
const ANY: [u32; 2] = [0, u32::MAX];

const REGISTER: &str = "register";
const COUNTER: &str = "counter";

/// Rows as somebody would write them down: a value, and when it ends.
#[derive(Default)]
struct Notes(BTreeMap<&'static str, Held>);

impl Notes {
    fn read(&self, name: &str, now: u32) -> u64 {
        let held = self.0.get(name);
        let lives = held.filter(|held| held.ends == 0 || now < held.ends);
        lives.map_or(0, |held| held.value)
    }

    // Does it, and says what was seen.
    fn take(&mut self, deed: Deed, now: u32) -> Saw {
        let (register, counter) = (self.read(REGISTER, now), self.read(COUNTER, now));
        match deed {
            Deed::Get => return Saw::Register(register),
            Deed::Both | Deed::Scan => return Saw::Both(register, counter),
            Deed::Set(held) => {
                self.0.insert(REGISTER, held);
            }
            Deed::SetBoth(held) => {
                self.0.insert(REGISTER, held);
                self.0.insert(COUNTER, held);
            }
            Deed::Remove => {
                self.0.remove(REGISTER);
            }
            Deed::RemoveBoth => self.0.clear(),
            Deed::Add => {
                let before = self.0.get(COUNTER).filter(|_| counter > 0);
                let ends = before.map_or(0, |held| held.ends);
                let value = counter + 1;
                self.0.insert(COUNTER, Held { value, ends });
                return Saw::Counter(value);
            }
            Deed::Swap(from, held) if from == register => {
                self.0.insert(REGISTER, held);
                return Saw::Swapped(true);
            }
            Deed::Mutate(from, held) if from == register => {
                self.0.insert(REGISTER, held);
                self.0.remove(COUNTER);
                return Saw::Swapped(true);
            }
            Deed::Swap(..) | Deed::Mutate(..) => return Saw::Swapped(false),
        }
        Saw::Done
    }
}

fn draw_deed(dice: &mut Random, value: u64, seen: u64) -> Deed {
    let ends = [0, 0, 20, 40][usize::try_from(dice.below(4)).unwrap()];
    let held = Held { value, ends };
    let from = if dice.one_in(3) { 0 } else { seen };
    match dice.below(11) {
        0 | 1 => Deed::Set(held),
        2 => Deed::SetBoth(held),
        3 => Deed::Swap(from, held),
        4 => Deed::Mutate(from, held),
        5 | 6 => Deed::Add,
        7 => Deed::Remove,
        8 => Deed::RemoveBoth,
        9 => Deed::Both,
        _ => Deed::Get,
    }
}

// What was done one after another, by clocks between 0 and 60 that need not agree.
fn draw_history(dice: &mut Random) -> Vec<Call> {
    let mut notes = Notes::default();
    let mut calls = Vec::new();
    let mut seen = 0;
    for number in 1..=CALLS {
        let deed = draw_deed(dice, 100 + number, seen);
        let moment = 20 + number * 10;
        let (began, ended) = (moment - dice.below(10) * 2, moment + dice.below(10) * 2);
        let second = u32::try_from(dice.below(60)).unwrap();
        let is_known = dice.one_in(2);
        // Who does not know the second goes by a clock at one end of time.
        let second = match is_known {
            true => second,
            false => ANY[usize::try_from(dice.below(2)).unwrap()],
        };
        let is_unknown = !deed.is_read() && dice.one_in(5);
        let is_done = !is_unknown || dice.one_in(2);
        let saw = match is_done {
            true => notes.take(deed, second),
            false => Saw::Nothing,
        };
        if let Saw::Register(value) | Saw::Both(value, _) = saw {
            seen = value;
        }
        calls.push(Call {
            began,
            ended,
            deed,
            saw: if is_unknown { Saw::Nothing } else { saw },
            now: is_known.then_some(second),
        });
    }
    calls
}

// One answer is another one, or one call ended earlier or began later than it did.
fn spoil(dice: &mut Random, calls: &mut [Call]) {
    let pick = dice.below(calls.len() as u64);
    let call = &mut calls[usize::try_from(pick).unwrap()];
    let value = 100 + dice.below(CALLS + 1);
    call.saw = match (dice.below(3), call.saw) {
        (0, saw) => {
            call.ended = call.began;
            saw
        }
        (_, Saw::Register(_)) => Saw::Register(value),
        (_, Saw::Both(_, counter)) if dice.one_in(2) => Saw::Both(value, counter),
        (_, Saw::Both(register, counter)) => Saw::Both(register, counter + 1),
        (_, Saw::Swapped(passed)) => Saw::Swapped(!passed),
        (_, Saw::Counter(count)) => Saw::Counter((count + dice.below(3)).saturating_sub(1)),
        (1, saw) => {
            call.began = call.ended;
            saw
        }
        (_, saw) => saw,
    };
}

// Whether some order explains all answers: each call that is left and had not to be behind another
// one that is left may be the next. Those of unknown outcome may never be done.
fn has_order(calls: &[Call], left: &mut Vec<usize>, row: Row) -> bool {
    let is_owed = |number: &usize| calls[*number].saw != Saw::Nothing;
    if !left.iter().any(is_owed) {
        return true;
    }
    for at in 0..left.len() {
        let number = left[at];
        let call = &calls[number];
        let is_behind = |other: &usize| is_owed(other) && calls[*other].ended < call.began;
        if left.iter().any(is_behind) {
            continue;
        }
        left.remove(at);
        let seconds = call.now.map_or(ANY.to_vec(), |now| vec![now]);
        let mut rows = seconds.into_iter().filter_map(|now| after(row, call, now));
        let is_found = rows.any(|next| has_order(calls, left, next));
        left.insert(at, number);
        if is_found {
            return true;
        }
    }
    false
}

#[test]
fn the_search_finds_what_trying_all_orders_finds() {
    let mut dice = Random::new(28);
    let (mut linear, mut broken) = (0, 0);
    for number in 0..HISTORIES {
        let mut calls = draw_history(&mut dice);
        assert_eq!(check(&calls), Verdict::Linear, "{number}: {calls:?}");
        (0..1 + dice.below(2)).for_each(|_| spoil(&mut dice, &mut calls));
        let mut left: Vec<usize> = (0..calls.len()).collect();
        let verdict = match has_order(&calls, &mut left, Row::default()) {
            true => Verdict::Linear,
            false => Verdict::Broken,
        };
        assert_eq!(check(&calls), verdict, "{number}: {calls:?}");
        match verdict {
            Verdict::Linear => linear += 1,
            _ => broken += 1,
        }
    }
    println!("{linear} had an order all the same, {broken} had none");
    assert!(
        linear > HISTORIES / 10 && broken > HISTORIES / 4,
        "{linear} {broken}"
    );
}

/// Long histories, and the calls of one: as many as clients of real nodes make on one hash key.
const LONG_HISTORIES: u64 = 40;
const LONG: usize = 300;

/// Clients of them, and calls of unknown outcome, which may be done at any time since.
const CLIENTS: usize = 5;
const LOST_MAX: usize = 12;

/// A call on its way.
struct Asked {
    began: u64,
    deed: Deed,
    saw: Option<Saw>,
}

// What clients see of whom many writes are done late, or never, and never answered.
fn draw_long_history(dice: &mut Random) -> Vec<Call> {
    let (mut notes, mut calls) = (Notes::default(), Vec::new());
    let mut asked: [Option<Asked>; CLIENTS] = std::array::from_fn(|_| None);
    let mut lost: Vec<Deed> = Vec::new();
    let (mut moment, mut lost_count, mut seen) = (0, 0, 0);
    while calls.len() < LONG {
        moment += 1;
        if !lost.is_empty() && dice.one_in(30) {
            let pick = dice.below(lost.len() as u64);
            // What it would have said nobody hears.
            let _ = notes.take(lost.remove(usize::try_from(pick).unwrap()), 0);
        }
        let at = usize::try_from(dice.below(CLIENTS as u64)).unwrap();
        let call = |asked: &Asked, saw| Call {
            began: asked.began,
            ended: moment,
            deed: asked.deed,
            saw,
            now: Some(0),
        };
        match asked[at].take() {
            None => {
                // None ends for a clock that stands at 0.
                let deed = draw_deed(dice, 1000 + moment, seen);
                let (began, saw) = (moment, None);
                asked[at] = Some(Asked { began, deed, saw });
            }
            Some(one) if one.saw.is_none() => {
                let is_lost = lost_count < LOST_MAX && !one.deed.is_read() && dice.one_in(12);
                if is_lost {
                    lost_count += 1;
                    lost.push(one.deed);
                    calls.push(call(&one, Saw::Nothing));
                } else {
                    let saw = Some(notes.take(one.deed, 0));
                    asked[at] = Some(Asked { saw, ..one });
                }
            }
            Some(one) => {
                let saw = one.saw.unwrap_or(Saw::Nothing);
                if let Saw::Register(value) | Saw::Both(value, _) = saw {
                    seen = value;
                }
                calls.push(call(&one, saw));
            }
        }
    }
    // What is on its way may have been done.
    let left = asked
        .into_iter()
        .flatten()
        .filter(|one| !one.deed.is_read());
    calls.extend(left.map(|one| Call {
        began: one.began,
        ended: moment,
        deed: one.deed,
        saw: Saw::Nothing,
        now: Some(0),
    }));
    calls
}

// One answer of the last ones is another one, so that no order is to be found.
fn spoil_the_end(calls: &mut [Call]) {
    let answers = calls.iter_mut().rev().find_map(|call| match &mut call.saw {
        Saw::Counter(count) | Saw::Both(_, count) => Some(count),
        _ => None,
    });
    // No counter is ever that high.
    *answers.unwrap() += 1_000_000;
}

#[test]
fn no_history_is_too_hard_however_much_of_it_nobody_answered() {
    let mut dice = Random::new(77);
    let mut lost = 0;
    for number in 0..LONG_HISTORIES {
        let mut calls = draw_long_history(&mut dice);
        lost += calls.iter().filter(|it| it.saw == Saw::Nothing).count();
        assert_eq!(check(&calls), Verdict::Linear, "{number}: {calls:?}");
        spoil_the_end(&mut calls);
        assert_eq!(check(&calls), Verdict::Broken, "{number}: {calls:?}");
    }
    let histories = usize::try_from(LONG_HISTORIES).unwrap();
    assert!(
        lost > histories * LOST_MAX * 9 / 10,
        "{lost} of unknown outcome"
    );
}
