//! What the order that the server tells says of what clients saw: of any length, in one pass.
//!
//! A write is answered with the entry that it is in. So a write that was asked for behind the
//! answer of another one of its partition is in a later entry, and a read sees no write but the
//! last ones that had ended when it began.

use std::collections::BTreeMap;

use crate::whole::linear::{Call, Deed, Saw};

/// A call on a hash key of a partition, and the entry that it was answered to be in.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    pub key: u64,
    pub call: Call,
    pub entry: Option<u64>,
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

fn writes(noted: &Noted) -> Option<u64> {
    match (noted.call.deed, noted.call.saw) {
        (Deed::Set(value), _) | (Deed::Swap(_, value), Saw::Nothing | Saw::Swapped(true)) => {
            Some(value)
        }
        _ => None,
    }
}

fn reads_are_of_now(calls: &[&Noted]) -> Result<(), String> {
    // When each value was first asked for, and in which entry it is, if that is known.
    let mut writers: BTreeMap<u64, &Noted> = BTreeMap::new();
    for noted in calls {
        if let Some(value) = writes(noted) {
            writers.insert(value, noted);
        }
    }
    // The last entry by which the register was set among calls that had ended.
    let last = std::cell::Cell::new(0_u64);
    walk(
        calls.iter().copied(),
        |noted| {
            if let (Some(_), Some(entry)) = (writes(noted), noted.entry) {
                last.set(last.get().max(entry));
            }
        },
        |noted, _| {
            let (Saw::Register(seen) | Saw::Both(seen, _)) = noted.call.saw else {
                return Ok(());
            };
            if seen == 0 {
                return match last.get() {
                    0 => Ok(()),
                    entry => Err(format!("{noted:?} sees nothing of entry {entry}")),
                };
            }
            let Some(writer) = writers.get(&seen) else {
                return Err(format!("{noted:?} sees what nobody wrote"));
            };
            if writer.call.began > noted.call.ended {
                return Err(format!("{noted:?} sees what was written later: {writer:?}"));
            }
            match writer.entry {
                Some(entry) if entry < last.get() => Err(format!(
                    "{noted:?} sees entry {entry} though {} had been answered",
                    last.get()
                )),
                _ => Ok(()),
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::{Noted, check};
    use crate::whole::linear::{Call, Deed, Saw};

    /// Key, beginning, end, what was asked and seen, and the entry; 0 for none.
    type Row = (u64, u64, u64, Deed, Saw, u64);

    fn told(rows: &[Row]) -> bool {
        let calls = rows
            .iter()
            .map(|&(key, began, ended, deed, saw, entry)| Noted {
                key,
                call: Call {
                    began,
                    ended,
                    deed,
                    saw,
                },
                entry: (entry > 0).then_some(entry),
            });
        check(&calls.collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn the_order_of_the_server_is_held_against_what_was_seen() {
        use Deed::{Add, Get, Set, Swap};
        use Saw::{Counter, Done, Nothing, Register, Swapped};
        let good: &[&[Row]] = &[
            &[(1, 0, 1, Set(1), Done, 5), (1, 2, 3, Get, Register(1), 0)],
            // Two in one entry overlap.
            &[(1, 0, 5, Set(1), Done, 5), (2, 1, 4, Set(2), Done, 5)],
            &[
                (1, 0, 9, Set(1), Done, 6),
                (1, 1, 2, Set(2), Done, 5),
                (1, 3, 4, Get, Register(2), 0),
            ],
            // What is not known to be done may be seen.
            &[
                (1, 0, 1, Set(1), Nothing, 0),
                (1, 2, 3, Get, Register(1), 0),
            ],
            &[(1, 0, 1, Add, Counter(1), 4), (2, 2, 3, Add, Counter(1), 5)],
        ];
        for history in good {
            assert!(told(history), "{history:?}");
        }
        let bad: &[&[Row]] = &[
            &[(1, 0, 1, Set(1), Done, 5), (2, 2, 3, Set(2), Done, 5)],
            &[(1, 0, 1, Set(1), Done, 5), (2, 2, 3, Add, Counter(1), 4)],
            &[(1, 0, 1, Set(1), Done, 5), (1, 2, 3, Get, Register(0), 0)],
            &[
                (1, 0, 1, Set(1), Done, 5),
                (1, 2, 3, Set(2), Done, 6),
                (1, 4, 5, Get, Register(1), 0),
            ],
            &[(1, 0, 1, Get, Register(7), 0)],
            &[(1, 0, 1, Get, Register(7), 0), (1, 2, 3, Set(7), Done, 2)],
            &[
                (1, 0, 1, Swap(0, 1), Swapped(true), 3),
                (1, 2, 3, Swap(1, 2), Swapped(true), 4),
                (1, 4, 5, Get, Register(1), 0),
            ],
        ];
        for history in bad {
            assert!(!told(history), "{history:?}");
        }
    }
}
