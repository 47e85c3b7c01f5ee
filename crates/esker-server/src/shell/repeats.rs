//! What a node is told to do again and again, for as long as it cannot.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::Member;

use crate::node::Ask;
use crate::reconcile::Action;

/// How often the same is told, and asked for again at once: the node may be about to do it. After
/// that it is told with each report.
const AT_ONCE_MAX: u32 = 10;

/// What may be told again and again, for want of room or of a way on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// A replica is to be here.
    Create(Member),
    /// A replica is to go.
    Purge(Member),
    /// A replica is to go on alone.
    GoOnAlone(Member),
}

/// What is to be made of something that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// It is new.
    New,
    /// It was told before, and is soon done.
    Soon,
    /// It was told often, and nothing comes of it.
    Often,
}

/// What was told last, and how often. No more than one answer of meta has.
#[derive(Debug, Default)]
pub(crate) struct Repeats(BTreeMap<Deed, u32>);

impl Deed {
    /// That of `action`, if it may be told again and again.
    pub(crate) fn of(action: &Action) -> Option<Deed> {
        match action {
            Action::Create(create) => Some(Deed::Create(create.member)),
            Action::Purge(member) => Some(Deed::Purge(*member)),
            Action::Ask(Ask::GoOnAlone(member, _)) => Some(Deed::GoOnAlone(*member)),
            Action::Learn(_) | Action::Ask(_) | Action::Free(..) | Action::Stop(_) => None,
        }
    }
}

impl Repeats {
    /// All of this was told. What was not is forgotten.
    pub(crate) fn hear(&mut self, told: BTreeSet<Deed>) {
        let again = |deed| {
            let before = self.0.get(&deed).copied().unwrap_or_default();
            (deed, before.saturating_add(1))
        };
        self.0 = told.into_iter().map(again).collect();
    }

    /// How something was told that was heard last.
    pub(crate) fn telling(&self, deed: Deed) -> Telling {
        match self.0.get(&deed) {
            None | Some(1) => Telling::New,
            Some(2..=AT_ONCE_MAX) => Telling::Soon,
            Some(_) => Telling::Often,
        }
    }
}

#[cfg(test)]
mod tests;
