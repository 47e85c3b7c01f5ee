//! What the order that the server tells says of what clients saw: of any length, in one pass.
//!
//! A write is answered with the entry that it is in. So a write that was asked for behind the
//! answer of another one of its partition is in a later entry, and a read sees no write but the
//! last ones that had ended when it began. It sees nothing where one of these has removed what was
//! there, or where what it set has ended by the clock that the read went by.

use std::collections::BTreeMap;

use crate::cluster_node::Moment;
use crate::whole::linear::{Call, Held, Saw};

/// A call on a hash key of a partition, the entry that it was answered to be in, and where and when
/// a read was served.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    pub key: u64,
    pub call: Call,
    pub entry: Option<u64>,
    pub moment: Option<Moment>,
}

/// The first thing that cannot be, in words. `calls` are all of one partition.
pub fn check(calls: &[Noted]) -> Result<(), String> {
    writes_are_in_order(calls)?;
    let mut by_key: BTreeMap<u64, Vec<&Noted>> = BTreeMap::new();
    for noted in calls {
        by_key.entry(noted.key).or_default().push(noted);
    }
    by_key
        .values()
        .try_for_each(|calls| reads_are_of_now(calls))
}

// Of calls by their beginnings, what had ended by then.
fn walk<'a>(
    calls: impl Iterator<Item = &'a Noted>,
    mut at_end: impl FnMut(&Noted),
    mut at_begin: impl FnMut(&Noted, bool) -> Result<(), String>,
) -> Result<(), String> {
    let mut moments: Vec<(u64, bool, &Noted)> = Vec::new();
    for noted in calls {
        moments.push((noted.call.began, false, noted));
        if noted.call.saw != Saw::Nothing {
            moments.push((noted.call.ended, true, noted));
        }
    }
    moments.sort_by_key(|row| (row.0, row.1));
    for (_, is_end, noted) in moments {
        match is_end {
            true => at_end(noted),
            false => at_begin(noted, noted.call.saw == Saw::Nothing)?,
        }
    }
    Ok(())
}

fn writes_are_in_order(calls: &[Noted]) -> Result<(), String> {
    let last = std::cell::Cell::new(0_u64);
    walk(
        calls.iter().filter(|noted| noted.entry.is_some()),
        |noted| last.set(last.get().max(noted.entry.unwrap_or(0))),
        |noted, _| match noted.entry {
            Some(entry) if entry <= last.get() => Err(format!(
                "{noted:?} is not behind entry {}, which had been answered",
                last.get()
            )),
            _ => Ok(()),
        },
    )
}

// What it makes of the register, or may have made.
fn writes(noted: &Noted) -> Option<Held> {
    let is_done = noted.call.saw != Saw::Swapped(false);
    noted.call.deed.register().filter(|_| is_done)
}

fn reads_are_of_now(calls: &[&Noted]) -> Result<(), String> {
    let writers: Vec<(&Noted, Held)> = calls
        .iter()
        .filter_map(|noted| Some((*noted, writes(noted)?)))
        .collect();
    // The last entry by which the register was changed among calls that had ended.
    let last = std::cell::Cell::new(0_u64);
    walk(
        calls.iter().copied(),
        |noted| {
            if let (Some(_), Some(entry)) = (writes(noted), noted.entry) {
                last.set(last.get().max(entry));
            }
        },
        |noted, _| match noted.call.saw {
            Saw::Register(0) | Saw::Both(0, _) => sees_nothing(noted, &writers, last.get()),
            Saw::Register(seen) | Saw::Both(seen, _) => {
                sees_a_write(noted, seen, &writers, last.get())
            }
            _ => Ok(()),
        },
    )
}

// One sees nothing if nothing was there at first, or if a write explains it that is none of before.
fn sees_nothing(noted: &Noted, writers: &[(&Noted, Held)], last: u64) -> Result<(), String> {
    let now = noted.call.now.unwrap_or(u32::MAX);
    let explains = |(writer, held): &(&Noted, Held)| {
        let is_of_now = writer.entry.is_none_or(|entry| entry >= last);
        is_of_now && writer.call.began < noted.call.ended && held.at(now) == 0
    };
    match last == 0 || writers.iter().any(explains) {
        true => Ok(()),
        false => Err(format!("{noted:?} sees nothing of entry {last}")),
    }
}

fn sees_a_write(
    noted: &Noted,
    seen: u64,
    writers: &[(&Noted, Held)],
    last: u64,
) -> Result<(), String> {
    let Some((writer, held)) = writers.iter().find(|writer| writer.1.value == seen) else {
        return Err(format!("{noted:?} sees what nobody wrote"));
    };
    if writer.call.began > noted.call.ended {
        return Err(format!("{noted:?} sees what was written later: {writer:?}"));
    }
    if held.at(noted.call.now.unwrap_or(0)) == 0 {
        return Err(format!("{noted:?} sees what has ended: {writer:?}"));
    }
    match writer.entry {
        Some(entry) if entry < last => Err(format!(
            "{noted:?} sees entry {entry} though {last} had been answered"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Noted, check};
    use crate::whole::linear::{Call, Deed, Held, Saw};

    /// Key, beginning, end, what was asked and seen, and the entry; 0 for none.
    type Row = (u64, u64, u64, Deed, Saw, u64);

    fn told(rows: &[Row]) -> bool {
        told_at(rows, &vec![None; rows.len()])
    }

    // The same by clocks that are known.
    fn told_at(rows: &[Row], seconds: &[Option<u32>]) -> bool {
        let calls = rows.iter().zip(seconds).map(|(row, &now)| {
            let &(key, began, ended, deed, saw, entry) = row;
            Noted {
                key,
                call: Call {
                    began,
                    ended,
                    deed,
                    saw,
                    now,
                },
                entry: (entry > 0).then_some(entry),
                moment: None,
            }
        });
        check(&calls.collect::<Vec<_>>()).is_ok()
    }

    fn set(value: u64) -> Deed {
        Deed::Set(Held { value, ends: 0 })
    }

    fn swap(from: u64, value: u64) -> Deed {
        Deed::Swap(from, Held { value, ends: 0 })
    }

    #[test]
    fn the_order_of_the_server_is_held_against_what_was_seen() {
        use Deed::{Add, Get};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let good: &[&[Row]] = &[
            &[(1, 0, 1, set(1), Done, 5), (1, 2, 3, Get, Register(1), 0)],
            // Two in one entry overlap.
            &[(1, 0, 5, set(1), Done, 5), (2, 1, 4, set(2), Done, 5)],
            &[
                (1, 0, 9, set(1), Done, 6),
                (1, 1, 2, set(2), Done, 5),
                (1, 3, 4, Get, Register(2), 0),
            ],
            // What is not known to be done may be seen.
            &[
                (1, 0, 1, set(1), Nothing, 0),
                (1, 2, 3, Get, Register(1), 0),
            ],
            &[(1, 0, 1, Add, Counter(1), 4), (2, 2, 3, Add, Counter(1), 5)],
        ];
        for history in good {
            assert!(told(history), "{history:?}");
        }
        let bad: &[&[Row]] = &[
            &[(1, 0, 1, set(1), Done, 5), (2, 2, 3, set(2), Done, 5)],
            &[(1, 0, 1, set(1), Done, 5), (2, 2, 3, Add, Counter(1), 4)],
            &[(1, 0, 1, set(1), Done, 5), (1, 2, 3, Get, Register(0), 0)],
            &[
                (1, 0, 1, set(1), Done, 5),
                (1, 2, 3, set(2), Done, 6),
                (1, 4, 5, Get, Register(1), 0),
            ],
            &[(1, 0, 1, Get, Register(7), 0)],
            &[(1, 0, 1, Get, Register(7), 0), (1, 2, 3, set(7), Done, 2)],
            &[
                (1, 0, 1, swap(0, 1), Swapped(true), 3),
                (1, 2, 3, swap(1, 2), Swapped(true), 4),
                (1, 4, 5, Get, Register(1), 0),
            ],
        ];
        for history in bad {
            assert!(!told(history), "{history:?}");
        }
    }
    #[test]
    fn what_has_ended_or_was_removed_is_not_there() {
        use Deed::{Get, Remove, RemoveBoth};
        use Saw::{Done, Nothing, Register};
        let short = Deed::Set(Held { value: 1, ends: 50 });
        let set_then_read = |saw| [(1, 0, 1, short, Done, 5), (1, 2, 3, Get, saw, 0)];
        let at = |second| [Some(40), Some(second)];
        assert!(told_at(&set_then_read(Register(1)), &at(49)));
        assert!(!told_at(&set_then_read(Register(0)), &at(49)));
        assert!(told_at(&set_then_read(Register(0)), &at(50)));
        assert!(!told_at(&set_then_read(Register(1)), &at(50)));
        for remove in [Remove, RemoveBoth] {
            let removed = |done, entry| {
                let read = (1, 4, 5, Get, Register(0), 0);
                [
                    (1, 0, 1, set(1), Done, 5),
                    (1, 2, 3, remove, done, entry),
                    read,
                ]
            };
            assert!(told(&removed(Done, 6)));
            assert!(told(&removed(Nothing, 0)));
            // One of before explains nothing.
            assert!(!told(&[
                (1, 0, 1, remove, Done, 4),
                (1, 2, 3, set(1), Done, 5),
                (1, 4, 5, Get, Register(0), 0),
            ]));
            assert!(!told(&[
                (1, 0, 1, set(1), Done, 5),
                (1, 2, 3, remove, Done, 6),
                (1, 4, 5, Get, Register(1), 0),
            ]));
        }
    }
}
