//! Whether what clients saw of one hash key could have happened one call after another.
//!
//! The search of Wing and Gong with the memory of Lowe: calls are taken in any order in which none
//! is before one that had ended when it began, and what was tried is not tried again.

use std::collections::HashSet;

/// Calls looked at before a history is given up as too hard.
const STEPS_MAX: usize = 3_000_000;

/// A register and a counter below one hash key. A register that was never set is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    pub register: u64,
    pub counter: i64,
}

/// What a client asked for. Each value is set once only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Set(u64),
    Get,
    /// Sets the second if the first is there.
    Swap(u64, u64),
    Add,
    Both,
}

/// What it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saw {
    /// Nobody knows whether it was done, or ever will be.
    Nothing,
    Done,
    Register(u64),
    Swapped(bool),
    Counter(i64),
    Both(u64, i64),
}

/// A call, and between which moments it was on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub began: u64,
    pub ended: u64,
    pub deed: Deed,
    pub saw: Saw,
}

/// What comes of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Linear,
    Broken,
    /// There were too many orders to try.
    TooHard,
}

/// The row behind a call; `None` if the answer cannot be that of this row.
fn after(row: Row, call: &Call) -> Option<Row> {
    let is = |fits: bool, next: Row| fits.then_some(next);
    let unknown = call.saw == Saw::Nothing;
    match (call.deed, call.saw) {
        (Deed::Set(register), _) => Some(Row { register, ..row }),
        (Deed::Get, Saw::Register(seen)) => is(seen == row.register, row),
        (Deed::Both, Saw::Both(seen, count)) => {
            is((seen, count) == (row.register, row.counter), row)
        }
        (Deed::Add, saw) => {
            let counter = row.counter + 1;
            is(
                unknown || saw == Saw::Counter(counter),
                Row { counter, ..row },
            )
        }
        (Deed::Swap(from, register), saw) => {
            let passes = row.register == from;
            let next = if passes { Row { register, ..row } } else { row };
            is(unknown || saw == Saw::Swapped(passes), next)
        }
        // A read of which nothing is known says nothing.
        _ => Some(row),
    }
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
        let mut stack: Vec<(usize, Row)> = Vec::new();
        let mut at = self.next[0];
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
                let Some((last, before)) = stack.pop() else {
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
                at = self.next[last];
                continue;
            }
            let next = after(row, &self.calls[number]);
            if let Some(next) = next {
                done[word] |= bit;
                if tried.insert((done.clone(), next)) {
                    stack.push((at, row));
                    row = next;
                    self.take_out(at);
                    if self.end_of[number] > 0 {
                        self.take_out(self.end_of[number]);
                        self.left -= 1;
                    }
                    at = self.next[0];
                    continue;
                }
                done[word] &= !bit;
            }
            at = self.next[at];
        }
        Verdict::Linear
    }
}

/// Whether there is an order that explains all answers.
pub fn check(calls: &[Call]) -> Verdict {
    Search::new(calls).run()
}

#[cfg(test)]
mod tests {
    use super::{Call, Deed, Saw, Verdict, check};

    /// Calls as (began, ended, deed, saw).
    fn told(rows: &[(u64, u64, Deed, Saw)]) -> Verdict {
        let calls = rows.iter().map(|&(began, ended, deed, saw)| Call {
            began,
            ended,
            deed,
            saw,
        });
        check(&calls.collect::<Vec<_>>())
    }

    #[test]
    fn histories_made_by_hand_are_judged_as_a_reader_would() {
        use Deed::{Add, Both, Get, Set, Swap};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let linear: &[&[(u64, u64, Deed, Saw)]] = &[
            &[],
            &[(0, 1, Set(1), Done), (2, 3, Get, Register(1))],
            // Both overlap: either may be first.
            &[
                (0, 9, Set(1), Done),
                (1, 2, Get, Register(0)),
                (3, 4, Get, Register(1)),
            ],
            &[
                (0, 9, Set(1), Done),
                (0, 9, Set(2), Done),
                (10, 11, Get, Register(1)),
            ],
            // An unknown write is seen late, or never.
            &[
                (0, 1, Set(1), Nothing),
                (5, 6, Get, Register(0)),
                (7, 8, Get, Register(1)),
            ],
            &[(0, 1, Set(1), Nothing), (5, 6, Get, Register(0))],
            &[(0, 1, Add, Nothing), (2, 3, Add, Counter(2))],
            &[
                (0, 1, Add, Nothing),
                (2, 3, Add, Counter(1)),
                (4, 5, Add, Counter(3)),
            ],
            &[
                (0, 1, Swap(0, 7), Swapped(true)),
                (2, 3, Swap(0, 8), Swapped(false)),
            ],
            &[
                (0, 1, Set(1), Done),
                (2, 3, Add, Counter(1)),
                (4, 5, Both, Saw::Both(1, 1)),
            ],
            &[(0, 1, Swap(0, 5), Nothing), (2, 3, Get, Register(5))],
        ];
        for history in linear {
            assert_eq!(told(history), Verdict::Linear, "{history:?}");
        }
        let broken: &[&[(u64, u64, Deed, Saw)]] = &[
            // A stale read, a lost write, a value from nowhere.
            &[(0, 1, Set(1), Done), (2, 3, Get, Register(0))],
            &[
                (0, 1, Set(1), Done),
                (2, 3, Set(2), Done),
                (4, 5, Get, Register(1)),
            ],
            &[(2, 3, Get, Register(9))],
            // Seen, and then not seen.
            &[
                (0, 9, Set(1), Done),
                (1, 2, Get, Register(1)),
                (3, 4, Get, Register(0)),
            ],
            // Two that each saw the other first.
            &[
                (0, 1, Set(1), Nothing),
                (2, 3, Get, Register(1)),
                (4, 5, Get, Register(0)),
            ],
            // A counter that counts twice, or forgets.
            &[(0, 1, Add, Counter(1)), (2, 3, Add, Counter(3))],
            &[(0, 1, Add, Counter(1)), (2, 3, Add, Counter(1))],
            &[(0, 1, Add, Nothing), (2, 3, Add, Counter(3))],
            // A swap that was against the rules.
            &[(0, 1, Set(1), Done), (2, 3, Swap(0, 2), Swapped(true))],
            &[(0, 1, Set(1), Done), (2, 3, Swap(1, 2), Swapped(false))],
            // Half of a change that is one.
            &[
                (0, 1, Add, Counter(1)),
                (2, 3, Set(1), Done),
                (4, 5, Both, Saw::Both(1, 0)),
            ],
            // What comes of an unknown call comes after it began.
            &[(0, 1, Get, Register(5)), (2, 3, Set(5), Nothing)],
        ];
        for history in broken {
            assert_eq!(told(history), Verdict::Broken, "{history:?}");
        }
    }
}
