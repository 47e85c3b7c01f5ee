//! Whether what clients saw of one hash key could have happened one call after another.
//!
//! The just-in-time linearization of Lowe: all states that there may be are carried from answer to
//! answer, and a call is done when it has to be and not before. What a call of unknown outcome
//! makes of them is forgotten once it makes no difference, so that a history is as hard as what is
//! under way at one time, and not as it is long. Searched depth first, with a memory of what was
//! tried, one history in four of a busy machine was given up.

use std::collections::{HashMap, VecDeque};

/// States looked at before a history is given up as too hard.
const STEPS_MAX: usize = 1_000_000;

/// Calls of unknown outcome of one history, and others under way at a time: each is a bit.
const LOST_MAX: usize = 128;
const UNDER_WAY_MAX: usize = 64;

/// A value, and the second at which it ends, 0 for never. What is not there is the value 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    pub value: u64,
    pub ends: u32,
}

impl Held {
    /// What is seen of it in that second.
    pub fn at(self, now: u32) -> u64 {
        match self.ends != 0 && self.ends <= now {
            true => 0,
            false => self.value,
        }
    }
}

/// A register and a counter below one hash key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    pub register: Held,
    pub counter: Held,
}

/// What a client asked for. Each value is set once only, and is to end as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Set(Held),
    Get,
    /// Sets the second if the first is there.
    Swap(u64, Held),
    Add,
    /// Reads both at one moment: by one call for two rows, or by a scan.
    Both,
    Scan,
    /// Sets the register and the counter to one value, as one.
    SetBoth(Held),
    Remove,
    RemoveBoth,
    /// Sets the register and removes the counter, as one, if the first is there.
    Mutate(u64, Held),
}

impl Deed {
    pub fn is_read(self) -> bool {
        matches!(self, Deed::Get | Deed::Both | Deed::Scan)
    }

    /// What becomes of the register if it is done, but for deeds that leave it.
    pub fn register(self) -> Option<Held> {
        match self {
            Deed::Set(held) | Deed::SetBoth(held) => Some(held),
            Deed::Swap(_, held) | Deed::Mutate(_, held) => Some(held),
            Deed::Remove | Deed::RemoveBoth => Some(Held::default()),
            Deed::Get | Deed::Both | Deed::Scan | Deed::Add => None,
        }
    }
}

/// What it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saw {
    /// Nobody knows whether it was done, or ever will be.
    Nothing,
    Done,
    Register(u64),
    /// Whether the check passed.
    Swapped(bool),
    Counter(u64),
    Both(u64, u64),
}

/// A call, and between which moments it was on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub began: u64,
    pub ended: u64,
    pub deed: Deed,
    pub saw: Saw,
    /// The second that it was done in by the clock that it went by, where that is known.
    pub now: Option<u32>,
}

/// Who does not know the second tries two: nothing has ended yet, and everything has that can.
const SECONDS: [u32; 2] = [0, u32::MAX];

/// What comes of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Linear,
    Broken,
    /// There were too many orders to try.
    TooHard,
}

/// The row behind a call that is done in that second; `None` if the answer cannot be that of this
/// row.
pub fn after(row: Row, call: &Call, now: u32) -> Option<Row> {
    let unknown = call.saw == Saw::Nothing;
    let (register, counter) = (row.register.at(now), row.counter.at(now));
    let (fits, next) = match call.deed {
        Deed::Get => (call.saw == Saw::Register(register), row),
        Deed::Both | Deed::Scan => (call.saw == Saw::Both(register, counter), row),
        Deed::Set(register) => (true, Row { register, ..row }),
        Deed::SetBoth(held) => {
            let (register, counter) = (held, held);
            (true, Row { register, counter })
        }
        Deed::Remove => {
            let register = Held::default();
            (true, Row { register, ..row })
        }
        Deed::RemoveBoth => (true, Row::default()),
        Deed::Add => {
            // One that has ended begins anew, and never ends.
            let ends = if counter > 0 { row.counter.ends } else { 0 };
            let value = counter + 1;
            let counter = Held { value, ends };
            (call.saw == Saw::Counter(value), Row { counter, ..row })
        }
        Deed::Swap(from, held) => {
            let passes = register == from;
            let register = if passes { held } else { row.register };
            (call.saw == Saw::Swapped(passes), Row { register, ..row })
        }
        Deed::Mutate(from, held) => {
            let passes = register == from;
            let (register, counter) = (held, Held::default());
            let next = if passes {
                Row { register, counter }
            } else {
                row
            };
            (call.saw == Saw::Swapped(passes), next)
        }
    };
    (unknown || fits).then_some(next)
}

/// What may be behind a moment: the row, and which calls have made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    row: Row,
    /// Of the calls under way those that are done, by their places.
    done: u64,
    /// Of the calls of unknown outcome those that are done, by their numbers.
    used: u128,
}

/// The states of a moment. Of two that differ only in which calls of unknown outcome are done, one
/// that has done no others than the second is as good in all that comes: such calls are owed to
/// nobody. Only it is kept.
#[derive(Default)]
struct Front(HashMap<(Row, u64), Vec<u128>>);

impl Front {
    /// Whether it says more than what was there.
    fn insert(&mut self, state: State) -> bool {
        let used = self.0.entry((state.row, state.done)).or_default();
        if used.iter().any(|one| one & !state.used == 0) {
            return false;
        }
        used.retain(|one| state.used & !one != 0);
        used.push(state.used);
        true
    }

    fn has(&self, state: &State) -> bool {
        let used = self.0.get(&(state.row, state.done));
        used.is_some_and(|used| used.contains(&state.used))
    }

    fn states(&self) -> impl Iterator<Item = State> {
        let rows = self.0.iter();
        rows.flat_map(|(&(row, done), used)| {
            used.iter().map(move |&used| State { row, done, used })
        })
    }
}

/// A call of unknown outcome that has begun, and those before it that are the same in all.
struct Lost<'a> {
    call: &'a Call,
    same: u128,
}

#[derive(Default)]
struct Search<'a> {
    front: Front,
    /// Known calls under way. A place that is free again is given away again.
    under_way: Vec<Option<&'a Call>>,
    lost: Vec<Lost<'a>>,
    steps: usize,
}

impl<'a> Search<'a> {
    fn begin(&mut self, call: &'a Call) -> Result<(), Verdict> {
        if call.saw == Saw::Nothing {
            let same =
                self.lost.iter().enumerate().filter(|(_, other)| {
                    other.call.deed == call.deed && other.call.now == call.now
                });
            let same = same.map(|(at, _)| 1 << at).sum();
            self.lost.push(Lost { call, same });
            let fits = self.lost.len() <= LOST_MAX;
            return fits.then_some(()).ok_or(Verdict::TooHard);
        }
        match self.under_way.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(call),
            None => self.under_way.push(Some(call)),
        }
        let fits = self.under_way.len() <= UNDER_WAY_MAX;
        fits.then_some(()).ok_or(Verdict::TooHard)
    }

    // Only now it has to be done, and what is to be done before it: whatever else may be done by
    // now may be done later as well.
    fn end(&mut self, call: &Call) -> Result<(), Verdict> {
        let mut places = self.under_way.iter();
        let is_it = |place: &Option<&Call>| place.is_some_and(|it| std::ptr::eq(it, call));
        let at = places.position(is_it).expect("it has begun");
        let mut behind = Front::default();
        let mut before = std::mem::take(&mut self.front);
        let mut left: VecDeque<State> = before.states().collect();
        while let Some(mut state) = left.pop_front() {
            if state.done >> at & 1 == 1 {
                state.done &= !(1 << at);
                behind.insert(state);
                continue;
            }
            // A better one may have come since.
            if !before.has(&state) {
                continue;
            }
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return Err(Verdict::TooHard);
            }
            for next in self.ways_on(state) {
                if before.insert(next) {
                    left.push_back(next);
                }
            }
        }
        self.under_way[at] = None;
        self.front = behind;
        match self.front.0.is_empty() {
            true => Err(Verdict::Broken),
            false => Ok(()),
        }
    }

    // What one more call makes of it.
    fn ways_on(&self, state: State) -> impl Iterator<Item = State> {
        let places = self.under_way.iter().enumerate();
        let is_left = move |(at, place): (usize, &Option<&'a Call>)| {
            place
                .filter(|_| state.done >> at & 1 == 0)
                .map(|it| (at, it))
        };
        let known = places.filter_map(is_left).flat_map(move |(at, call)| {
            let done = state.done | 1 << at;
            rows(state.row, call).map(move |row| State { row, done, ..state })
        });
        // Of equal ones the first is taken first.
        let is_next = move |(at, lost): &(usize, &Lost<'_>)| {
            state.used >> at & 1 == 0 && lost.same & !state.used == 0
        };
        let lost = self.lost.iter().enumerate().filter(is_next);
        let lost = lost.flat_map(move |(at, lost)| {
            let used = state.used | 1 << at;
            rows(state.row, lost.call).map(move |row| State { row, used, ..state })
        });
        known.chain(lost)
    }
}

/// The rows that may be behind a call.
fn rows(row: Row, call: &Call) -> impl Iterator<Item = Row> {
    let seconds = match call.now {
        Some(now) => [Some(now), None],
        None => SECONDS.map(Some),
    };
    let seconds = seconds.into_iter().flatten();
    seconds.filter_map(move |now| after(row, call, now))
}

fn search(calls: &[Call]) -> Result<(), Verdict> {
    let mut moments: Vec<(u64, bool, &Call)> = Vec::new();
    for call in calls {
        moments.push((call.began, false, call));
        if call.saw != Saw::Nothing {
            moments.push((call.ended, true, call));
        }
    }
    // Of one moment beginnings come first: such calls overlap.
    moments.sort_by_key(|moment| (moment.0, moment.1));
    let mut search = Search::default();
    search.front.insert(State::default());
    for (_, is_end, call) in moments {
        match is_end {
            true => search.end(call)?,
            false => search.begin(call)?,
        }
    }
    Ok(())
}

/// Whether there is an order that explains all answers.
pub fn check(calls: &[Call]) -> Verdict {
    search(calls).err().unwrap_or(Verdict::Linear)
}

#[cfg(test)]
mod tests {
    use super::{Call, Deed, Held, Saw, Verdict, check};

    /// Began, ended, deed, saw, and the second if it is known.
    type Told = (u64, u64, Deed, Saw, Option<u32>);

    fn told(rows: &[Told]) -> Verdict {
        let calls = rows.iter().map(|&(began, ended, deed, saw, now)| Call {
            began,
            ended,
            deed,
            saw,
            now,
        });
        check(&calls.collect::<Vec<_>>())
    }

    // A value that never ends.
    fn plain(value: u64) -> Held {
        Held { value, ends: 0 }
    }

    fn all_are(verdict: Verdict, histories: &[&[(u64, u64, Deed, Saw)]]) {
        for history in histories {
            let rows: Vec<Told> = history
                .iter()
                .map(|row| (row.0, row.1, row.2, row.3, None))
                .collect();
            assert_eq!(told(&rows), verdict, "{history:?}");
        }
    }

    #[test]
    fn histories_made_by_hand_are_judged_as_a_reader_would() {
        use Deed::{Add, Both, Get};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let set = |value| Deed::Set(plain(value));
        let swap = |from, to| Deed::Swap(from, plain(to));
        all_are(
            Verdict::Linear,
            &[
                &[],
                &[(0, 1, set(1), Done), (2, 3, Get, Register(1))],
                // Both overlap: either may be first.
                &[
                    (0, 9, set(1), Done),
                    (1, 2, Get, Register(0)),
                    (3, 4, Get, Register(1)),
                ],
                &[
                    (0, 9, set(1), Done),
                    (0, 9, set(2), Done),
                    (10, 11, Get, Register(1)),
                ],
                // An unknown write is seen late, or never.
                &[
                    (0, 1, set(1), Nothing),
                    (5, 6, Get, Register(0)),
                    (7, 8, Get, Register(1)),
                ],
                &[(0, 1, set(1), Nothing), (5, 6, Get, Register(0))],
                &[(0, 1, Add, Nothing), (2, 3, Add, Counter(2))],
                &[
                    (0, 1, Add, Nothing),
                    (2, 3, Add, Counter(1)),
                    (4, 5, Add, Counter(3)),
                ],
                &[
                    (0, 1, swap(0, 7), Swapped(true)),
                    (2, 3, swap(0, 8), Swapped(false)),
                ],
                &[
                    (0, 1, set(1), Done),
                    (2, 3, Add, Counter(1)),
                    (4, 5, Both, Saw::Both(1, 1)),
                ],
                &[(0, 1, swap(0, 5), Nothing), (2, 3, Get, Register(5))],
            ],
        );
        all_are(
            Verdict::Broken,
            &[
                // A stale read, a lost write, a value from nowhere.
                &[(0, 1, set(1), Done), (2, 3, Get, Register(0))],
                &[
                    (0, 1, set(1), Done),
                    (2, 3, set(2), Done),
                    (4, 5, Get, Register(1)),
                ],
                &[(2, 3, Get, Register(9))],
                // Seen, and then not seen.
                &[
                    (0, 9, set(1), Done),
                    (1, 2, Get, Register(1)),
                    (3, 4, Get, Register(0)),
                ],
                // Two that each saw the other first.
                &[
                    (0, 1, set(1), Nothing),
                    (2, 3, Get, Register(1)),
                    (4, 5, Get, Register(0)),
                ],
                // A counter that counts twice, or forgets.
                &[(0, 1, Add, Counter(1)), (2, 3, Add, Counter(3))],
                &[(0, 1, Add, Counter(1)), (2, 3, Add, Counter(1))],
                &[(0, 1, Add, Nothing), (2, 3, Add, Counter(3))],
                // A swap that was against the rules.
                &[(0, 1, set(1), Done), (2, 3, swap(0, 2), Swapped(true))],
                &[(0, 1, set(1), Done), (2, 3, swap(1, 2), Swapped(false))],
                // Half of a change that is one.
                &[
                    (0, 1, Add, Counter(1)),
                    (2, 3, set(1), Done),
                    (4, 5, Both, Saw::Both(1, 0)),
                ],
                // What comes of an unknown call comes after it began.
                &[(0, 1, Get, Register(5)), (2, 3, set(5), Nothing)],
            ],
        );
    }

    #[test]
    fn changes_of_several_rows_are_judged_as_one() {
        use Deed::{Add, Both, Get, Mutate, Remove, RemoveBoth, Scan, SetBoth};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let (both, mutate) = (|value| SetBoth(plain(value)), |to| Mutate(7, plain(to)));
        all_are(
            Verdict::Linear,
            &[
                &[
                    (0, 1, both(7), Done),
                    (2, 3, Both, Saw::Both(7, 7)),
                    (4, 5, Add, Counter(8)),
                    (6, 7, Remove, Done),
                    (8, 9, Scan, Saw::Both(0, 8)),
                    (10, 11, RemoveBoth, Done),
                    (12, 13, Scan, Saw::Both(0, 0)),
                ],
                &[
                    (0, 1, both(7), Done),
                    (2, 3, mutate(9), Swapped(true)),
                    (4, 5, Both, Saw::Both(9, 0)),
                    (6, 7, mutate(10), Swapped(false)),
                    (8, 9, Both, Saw::Both(9, 0)),
                ],
                &[(0, 1, both(7), Nothing), (2, 3, Scan, Saw::Both(7, 7))],
                &[(0, 1, both(7), Nothing), (2, 3, Scan, Saw::Both(0, 0))],
            ],
        );
        all_are(
            Verdict::Broken,
            &[
                // Half of them.
                &[(0, 1, both(7), Done), (2, 3, Scan, Saw::Both(7, 0))],
                &[(0, 1, both(7), Nothing), (2, 3, Both, Saw::Both(0, 7))],
                &[
                    (0, 1, both(7), Done),
                    (2, 3, RemoveBoth, Done),
                    (4, 5, Both, Saw::Both(0, 7)),
                ],
                &[
                    (0, 1, both(7), Done),
                    (2, 3, mutate(9), Swapped(true)),
                    (4, 5, Both, Saw::Both(9, 7)),
                ],
                // A check of what was there before.
                &[
                    (0, 1, both(7), Done),
                    (2, 3, both(8), Done),
                    (4, 5, mutate(9), Swapped(true)),
                ],
                // What was removed is seen.
                &[
                    (0, 1, both(7), Done),
                    (2, 3, Remove, Done),
                    (4, 5, Get, Register(7)),
                ],
            ],
        );
    }

    #[test]
    fn values_end_by_the_clock_that_a_call_went_by() {
        use Deed::{Add, Both, Get, Set, SetBoth, Swap};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let short = |value| Held { value, ends: 50 };
        let linear: &[&[Told]] = &[
            // It is there for a clock that is behind, whatever another one said.
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Get, Register(7), Some(49)),
                (4, 5, Get, Register(0), Some(50)),
                (6, 7, Get, Register(7), Some(49)),
            ],
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Swap(0, plain(8)), Swapped(true), Some(60)),
                (4, 5, Get, Register(8), Some(70)),
            ],
            // A counter that has ended begins anew, and without an end.
            &[
                (0, 1, SetBoth(short(7)), Done, Some(40)),
                (2, 3, Add, Counter(8), Some(49)),
                (4, 5, Add, Counter(1), Some(50)),
                (6, 7, Both, Saw::Both(0, 1), Some(900)),
            ],
            // When an unknown call was done is unknown as well.
            &[
                (0, 1, SetBoth(short(7)), Done, Some(40)),
                (2, 3, Add, Nothing, None),
                (4, 5, Both, Saw::Both(0, 1), Some(60)),
            ],
            &[
                (0, 1, SetBoth(short(7)), Done, Some(40)),
                (2, 3, Add, Nothing, None),
                (4, 5, Both, Saw::Both(7, 8), Some(41)),
            ],
        ];
        for history in linear {
            assert_eq!(told(history), Verdict::Linear, "{history:?}");
        }
        let broken: &[&[Told]] = &[
            // Too late, and too early.
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Get, Register(7), Some(50)),
            ],
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Get, Register(0), Some(49)),
            ],
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Swap(7, plain(8)), Swapped(true), Some(50)),
            ],
            &[
                (0, 1, SetBoth(short(7)), Done, Some(40)),
                (2, 3, Add, Counter(8), Some(50)),
            ],
            // The end of what was there before is not that of what is there.
            &[
                (0, 1, Set(short(7)), Done, Some(40)),
                (2, 3, Set(plain(8)), Done, Some(41)),
                (4, 5, Get, Register(0), Some(60)),
            ],
        ];
        for history in broken {
            assert_eq!(told(history), Verdict::Broken, "{history:?}");
        }
    }
}
