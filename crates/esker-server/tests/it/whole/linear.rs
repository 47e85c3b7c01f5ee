//! Whether what clients saw of one hash key could have happened one call after another.
//!
//! The search of Wing and Gong with the memory of Lowe: calls are taken in any order in which none
//! is before one that had ended when it began, and what was tried is not tried again.

use std::collections::HashSet;

/// Calls looked at before a history is given up as too hard.
const STEPS_MAX: usize = 3_000_000;

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

/// A place in the list of moments: where a call begins, or where it ends.
#[derive(Clone, Copy)]
struct Moment {
    call: usize,
    is_end: bool,
}

struct Search<'a> {
    calls: &'a [Call],
    moments: Vec<Moment>,
    /// Of each moment, and of the head in place 0, which come before and after; the ends of calls
    /// by their numbers.
    next: Vec<usize>,
    before: Vec<usize>,
    end_of: Vec<usize>,
    left: usize,
}

impl<'a> Search<'a> {
    fn new(calls: &'a [Call]) -> Search<'a> {
        let mut order: Vec<(u64, bool, usize)> = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            order.push((call.began, false, number));
            if call.saw != Saw::Nothing {
                order.push((call.ended, true, number));
            }
        }
        // Of one moment beginnings come first: such calls overlap.
        order.sort_unstable();
        let moments: Vec<Moment> = order
            .iter()
            .map(|row| Moment {
                call: row.2,
                is_end: row.1,
            })
            .collect();
        let count = moments.len();
        let mut end_of = vec![0; calls.len()];
        for (at, moment) in moments.iter().enumerate().filter(|row| row.1.is_end) {
            end_of[moment.call] = at + 1;
        }
        Search {
            calls,
            next: (1..=count + 1).collect(),
            before: (0..=count + 1)
                .map(|at: usize| at.saturating_sub(1))
                .collect(),
            left: moments.iter().filter(|moment| moment.is_end).count(),
            end_of,
            moments,
        }
    }

    fn take_out(&mut self, at: usize) {
        let (before, next) = (self.before[at], self.next[at]);
        self.next[before] = next;
        self.before[next] = before;
    }

    fn put_back(&mut self, at: usize) {
        let (before, next) = (self.before[at], self.next[at]);
        self.next[before] = at;
        self.before[next] = at;
    }

    fn run(&mut self) -> Verdict {
        let mut row = Row::default();
        let mut done = vec![0_u64; self.calls.len().div_ceil(64)];
        let mut tried: HashSet<(Vec<u64>, Row)> = HashSet::new();
        let mut stack: Vec<(usize, usize, Row)> = Vec::new();
        let (mut at, mut second) = (self.next[0], 0);
        let mut steps = 0;
        while self.left > 0 {
            steps += 1;
            if steps > STEPS_MAX {
                return Verdict::TooHard;
            }
            let moment = self.moments[at - 1];
            let number = moment.call;
            let (word, bit) = (number / 64, 1 << (number % 64));
            if moment.is_end {
                // It ended, and is in no place that was tried: take back the last one.
                let Some((last, tried_second, before)) = stack.pop() else {
                    return Verdict::Broken;
                };
                let call = self.moments[last - 1].call;
                done[call / 64] &= !(1 << (call % 64));
                row = before;
                if self.end_of[call] > 0 {
                    self.put_back(self.end_of[call]);
                    self.left += 1;
                }
                self.put_back(last);
                (at, second) = self.step_on(last, tried_second);
                continue;
            }
            let call = &self.calls[number];
            let next = after(row, call, call.now.unwrap_or(SECONDS[second]));
            if let Some(next) = next {
                done[word] |= bit;
                if tried.insert((done.clone(), next)) {
                    stack.push((at, second, row));
                    row = next;
                    self.take_out(at);
                    if self.end_of[number] > 0 {
                        self.take_out(self.end_of[number]);
                        self.left -= 1;
                    }
                    (at, second) = (self.next[0], 0);
                    continue;
                }
                done[word] &= !bit;
            }
            (at, second) = self.step_on(at, second);
        }
        Verdict::Linear
    }

    // What is tried behind a call: another second, or the next one.
    fn step_on(&self, at: usize, second: usize) -> (usize, usize) {
        let call = &self.calls[self.moments[at - 1].call];
        match call.now.is_none() && second + 1 < SECONDS.len() {
            true => (at, second + 1),
            false => (self.next[at], 0),
        }
    }
}

/// Whether there is an order that explains all answers.
pub fn check(calls: &[Call]) -> Verdict {
    Search::new(calls).run()
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
