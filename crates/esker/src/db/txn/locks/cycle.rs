//! Finds a circle in who waits for whom.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::db::txn::locks::lock_id::TxnId;

/// A shortest circle of owners through `start`, which comes first: each waits for the next, the
/// last for the first. `waits_for` says for whom an owner waits; nobody, if it does not wait.
pub fn find_cycle(
    start: TxnId,
    mut waits_for: impl FnMut(TxnId) -> Vec<TxnId>,
) -> Option<Vec<TxnId>> {
    // Whom the search has met, and who waits for it. Each is looked at once, so this ends.
    let mut found_from = BTreeMap::new();
    let mut to_visit = VecDeque::from([start]);
    while let Some(owner) = to_visit.pop_front() {
        for next in waits_for(owner) {
            if next == start {
                return Some(path(start, owner, &found_from));
            }
            if let Entry::Vacant(vacant) = found_from.entry(next) {
                vacant.insert(owner);
                to_visit.push_back(next);
            }
        }
    }
    None
}

/// The way from `start` to `end`.
fn path(start: TxnId, end: TxnId, found_from: &BTreeMap<TxnId, TxnId>) -> Vec<TxnId> {
    let mut path = vec![end];
    let mut at = end;
    while at != start {
        at = found_from[&at];
        path.push(at);
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests;
