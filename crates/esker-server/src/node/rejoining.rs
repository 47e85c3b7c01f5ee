//! Which of the replicas on a disk may take part again, and how.
//!
//! A switch record, the keyspaces of its replica and what the raft log has of the group must fit
//! one another; where they do not, the disk has lost something, and the replica never takes part
//! again:
//!
//! | record | raft log | keyspace | |
//! |---|---|---|---|
//! | beginning | nothing, and has lost nothing | any | it begins as it was told to |
//! | beginning, living | this replica | one that began where the log does | it goes on |
//! | beginning, living | this replica | none such | retired |
//! | living | nothing | any | retired: the log has lost it |
//! | beginning, living | destroyed | any | retired: an opening destroyed it for a loss |
//! | purging | any | any | destroyed, and dropped |
//! | retired | any | any | stays so; what is left of it is kept |
//! | beginning | an older replica | any | the older one is destroyed, then as without it |
//! | none | a replica | – | destroyed: nothing is left of it |
//!
//! The log's beginning is the switch to an image: of several keyspaces of a replica its own is the
//! one whose flushed mark began at the same entry.

use std::collections::{BTreeMap, BTreeSet};

use esker::{Db, ErrorKind, Keyspace, Result};
use esker_raft::{FIRST, GroupId, LogState, Mark, Member, ReplicaId, Start};

use crate::meta::ids::META;
use crate::node::ask::Begin;
use crate::node::keyspace_name::ReplicaKeyspace;
use crate::node::stages::{Found, Stages};
use crate::node::switch::{State, Switch};
use crate::partition::mark::ReplicaMark;

/// The keyspaces that are kept.
#[derive(Debug, Default)]
pub struct Kept {
    own: BTreeSet<ReplicaKeyspace>,
    /// All keyspaces of these are: nobody knows which of them is needed.
    retired: BTreeSet<Member>,
}

impl Kept {
    /// Whether that one is.
    pub fn keeps(&self, keyspace: ReplicaKeyspace) -> bool {
        self.own.contains(&keyspace) || self.retired.contains(&keyspace.member)
    }
}

/// Records and logs; and who lost something in this opening, if the log has lost anything.
pub type Traces = (
    Vec<Switch>,
    BTreeMap<GroupId, LogState>,
    Option<Vec<(GroupId, ReplicaId)>>,
);

/// Has every replica take part that may.
pub fn begin_all(
    stages: &mut Stages,
    (switches, logs, lost): Traces,
    found: &mut Found,
) -> Result<Kept> {
    let mut kept = Kept::default();
    for (group, state) in &logs {
        let switch = switches.iter().find(|switch| switch.member.group == *group);
        if switch.is_none_or(|switch| switch.member.replica > state.replica) {
            let (group, replica) = (*group, state.replica);
            stages.consensus.destroy(Member { group, replica });
        }
    }
    let keyspaces = keyspaces_by_member(&stages.db);
    for switch in switches {
        let member = switch.member;
        let log = logs.get(&member.group);
        let log = log.filter(|state| state.replica == member.replica);
        let gone = stages.applying.destroyed(member.group);
        let is_gone = gone.is_some_and(|gone| gone >= member.replica);
        if switch.state == State::Purging {
            stages.consensus.destroy(member);
            continue;
        }
        let named = (member.group, member.replica);
        let is_named = lost.as_ref().is_some_and(|lost| lost.contains(&named));
        let is_lost = is_gone || is_named;
        let begun = match (switch.state, is_lost) {
            (State::Retired, _) => Err(why_retired(stages, member)?),
            (_, true) => Err("the raft log has lost what it promised".to_owned()),
            (_, false) => {
                let own = keyspaces.get(&member).map_or(&[][..], Vec::as_slice);
                how_it_begins((&stages.db, own), &switch, log, lost.is_some())?
            }
        };
        let opened = match begun {
            Ok(again) => match stages.applying.open(again.keyspace, again.mark.clone()) {
                Ok(()) => Ok(again),
                Err(error) if error.kind() == ErrorKind::Corruption => Err(error.to_string()),
                Err(error) => return Err(error),
            },
            Err(why) => Err(why),
        };
        match opened.and_then(|again| begin_one(stages, again)) {
            Ok((keyspace, durable)) => {
                if let Some(view) = stages.replicas.view(member.group) {
                    view.set_durable(durable);
                    view.set_flushed(view.applied());
                }
                kept.own.insert(keyspace);
                found.running.push(member);
            }
            Err(why) => {
                stages.applying.write_retired(member, &why)?;
                kept.retired.insert(member);
                found.damaged.push((member, why));
            }
        }
    }
    Ok(kept)
}

/// As it was said when it was found; a version of before kept no words.
fn why_retired(stages: &Stages, member: Member) -> Result<String> {
    let kept = stages.applying.own_rows().reason(member)?;
    Ok(kept.unwrap_or_else(|| "it has lost what it promised".to_owned()))
}

/// How a replica begins again: its keyspace, its mark, what consensus is told, and up to where its
/// log is durable.
struct Again {
    keyspace: ReplicaKeyspace,
    mark: ReplicaMark,
    start: Start,
    durable: u64,
}

type Begun = std::result::Result<(ReplicaKeyspace, u64), String>;

fn begin_one(stages: &mut Stages, again: Again) -> Begun {
    let member = again.keyspace.member;
    let start = again.start;
    let started = stages.consensus.begin_replica(Begin { member, start });
    started.map_err(|error| error.to_string())?;
    // Its group may have gone on without it while the node was away: meta says so, or frees it.
    // Of the group of meta itself nobody could.
    if member.group != META {
        stages.hold(member.group);
    }
    Ok((again.keyspace, again.durable))
}

fn keyspaces_by_member(db: &Db) -> BTreeMap<Member, Vec<ReplicaKeyspace>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let names = db.keyspaces().into_iter();
    for keyspace in names.filter_map(|name| ReplicaKeyspace::parse(&name)) {
        all.entry(keyspace.member).or_default().push(keyspace);
    }
    all
}

fn how_it_begins(
    (db, keyspaces): (&Db, &[ReplicaKeyspace]),
    switch: &Switch,
    log: Option<&LogState>,
    has_log_lost: bool,
) -> Result<std::result::Result<Again, String>> {
    let member = switch.member;
    let plain = ReplicaKeyspace {
        member,
        image: None,
    };
    let Some(state) = log else {
        let is_new = switch.state == State::Beginning && !has_log_lost;
        let rows = db.existing_keyspace(&plain.name());
        let is_bare = match &rows {
            None => true,
            Some(rows) => match rows.flushed_mark()? {
                None => is_empty(rows)?,
                Some(mark) => ReplicaMark::decode(&mark)?.is_as_begun(),
            },
        };
        return Ok(match is_new && is_bare {
            true => Ok(first_start(switch, plain)),
            false => Err("the raft log has nothing of it any more".to_owned()),
        });
    };
    let mut own: Option<(ReplicaKeyspace, ReplicaMark)> = None;
    for &keyspace in keyspaces {
        let Some(rows) = db.existing_keyspace(&keyspace.name()) else {
            continue;
        };
        let mark = match rows.flushed_mark()?.map(|mark| ReplicaMark::decode(&mark)) {
            Some(Ok(mark)) => mark,
            Some(Err(error)) if error.kind() == ErrorKind::Corruption => {
                return Ok(Err(error.to_string()));
            }
            Some(Err(error)) => return Err(error),
            None if !is_empty(&rows)? && keyspace == plain => {
                return Ok(Err("its rows have lost their mark".to_owned()));
            }
            // Nothing of it was ever flushed: it is what its group began with, or an image that
            // has not arrived.
            None if keyspace == plain => as_begun(state),
            None => continue,
        };
        let is_further =
            |other: &(_, ReplicaMark)| other.1.raft.applied.index < mark.raft.applied.index;
        if mark.raft.begun == state.begin && own.as_ref().is_none_or(is_further) {
            own = Some((keyspace, mark));
        }
    }
    let Some((keyspace, mark)) = own.filter(|(_, mark)| is_whole(mark)) else {
        return Ok(Err(
            "its keyspace is missing, or has lost its mark".to_owned()
        ));
    };
    Ok(Ok(Again {
        keyspace,
        start: Start::Again(Box::new(state.clone()), mark.raft.clone()),
        mark,
        durable: state.last.index,
    }))
}

fn is_empty(rows: &Keyspace) -> Result<bool> {
    Ok(rows.iter()?.next().transpose()?.is_none())
}

// Only the beginning of a group may be without a mark that was flushed.
fn is_whole(mark: &ReplicaMark) -> bool {
    mark.raft.begun.index <= FIRST.index || !mark.raft.configuration.nodes.is_empty()
}

fn first_start(switch: &Switch, keyspace: ReplicaKeyspace) -> Again {
    let (start, raft) = match switch.first.is_empty() {
        true => (Start::Empty, Mark::default()),
        false => (
            Start::First(switch.first.clone()),
            Mark::first(&switch.first),
        ),
    };
    Again {
        keyspace,
        mark: ReplicaMark { raft, clock_us: 0 },
        start,
        durable: 0,
    }
}

fn as_begun(state: &LogState) -> ReplicaMark {
    let is_first = state.begin.index <= FIRST.index;
    let raft = match is_first {
        true => Mark {
            applied: state.begin,
            begun: state.begin,
            configuration: state.configuration.clone(),
        },
        false => Mark::default(),
    };
    ReplicaMark { raft, clock_us: 0 }
}
