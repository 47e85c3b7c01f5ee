//! How a group goes on that has lost most of its voters for ever (docs/decisions/0033).
//!
//! What is lost is never concluded from silence alone: somebody accepts the loss, and even then it
//! is refused while a majority may be there. From the entry on every replica of before but one is
//! lost: it stays held where it is opened, and is thrown away once the one that stays has led
//! without it.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::command::{Deed, Recover};
use crate::meta::directive::Directive;
use crate::meta::ids::{META, PartitionId};
use crate::meta::limits::QUICK_MS;
use crate::meta::live::{Live, stranger};
use crate::meta::report::{Leaderless, ReplicaReport, Report, Role};
use crate::meta::rows::RecoveryRow;
use crate::meta::state::State;

/// Groups of which one command says that they have gone on.
const RECOVERED_MAX: usize = 4096;

/// Whoever was heard in that time leads what it said: two reports, and what one may be late. Later
/// nobody knows whether it does.
const LED_MS: u64 = 2_500;

/// Milliseconds of a second.
const MS_PER_S: u64 = 1000;

/// How a group fares that may have lost most of its voters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Somebody leads it.
    Led,
    /// It is told to go on with that replica, on that node; and how far that is, in words.
    GoesOn(ReplicaId, NodeId, String),
    /// It can go on, once somebody accepts the loss; and what is lost, in words.
    Lost(Recover, String),
    /// Nobody leads it, and it cannot go on so: why, in words.
    Waits(String),
}

/// A replica that is there, sound, and has no leader.
struct Survivor<'a> {
    node: NodeId,
    knows: &'a Leaderless,
    stall: Option<&'a str>,
}

type Survivors<'a> = BTreeMap<ReplicaId, Survivor<'a>>;

/// How the group fares, which is a partition of a table that was open once.
pub fn verdict(state: &State, live: &Live, group: GroupId) -> Verdict {
    match judged(state, live, group) {
        Ok(verdict) => verdict,
        Err(why) => Verdict::Waits(why),
    }
}

fn judged(state: &State, live: &Live, group: GroupId) -> Result<Verdict, String> {
    let row = state.partitions.get(&group);
    let row = row.filter(|_| group != META && state.is_settled(group));
    let row = row.ok_or_else(|| why_not_open(state, group))?;
    let undone = state.recoveries.get(&group).filter(|row| !row.is_done);
    if let Some(undone) = undone {
        let base = live.replica(undone.node, group, undone.base);
        let base = base.filter(|base| live.is_alive(undone.node) && base.damage.is_none());
        if let Some(base) = base {
            return going_on(undone, base);
        }
    } else if let Some(led) = live.led_group(group) {
        return led_by(live, led.node);
    }
    let unsure = state.nodes.keys().find(|node| is_unsure(live, **node));
    if let Some(node) = unsure.filter(|_| live.is_informed(state)) {
        let silent_s = live.silent_ms(*node) / MS_PER_S;
        return Err(format!(
            "node {} was not heard for {silent_s} s, and may be on its way: ask again in {} s",
            node.0,
            QUICK_MS / MS_PER_S - silent_s
        ));
    }
    if !live.is_informed(state) {
        return Err("not all nodes were heard yet: ask again in some seconds".to_owned());
    }
    let survivors = survivors(state, live, group)?;
    let members = newest(state, live, group, &survivors).ok_or(
        "no sound replica of it is left on any node that lives: bring back the directory of one, \
         or drop the table (with `--keep 1s` its nodes can be removed at once)",
    )?;
    let missing = missing(live, group, members, &survivors)?;
    let has_majority = |voters: &BTreeSet<ReplicaId>| {
        let there = voters.iter().filter(|one| survivors.contains_key(one));
        there.count() > voters.len() / 2
    };
    let is_whole = members.outgoing.is_empty() || has_majority(&members.outgoing);
    // As long as one of them is to go on alone all others are held, and elect nobody.
    if undone.is_none() && is_whole && has_majority(&members.voters) {
        return Err("most of its replicas are there: they elect by themselves".to_owned());
    }
    let voters = survivors.iter().filter(|one| members.votes(*one.0));
    // Whoever has most would win the election that they cannot have any more: it has all that was
    // acknowledged, as far as any of them has it.
    let longest = voters.max_by_key(|(replica, one)| {
        let knows = one.knows;
        (knows.last_term, knows.last, std::cmp::Reverse(replica.0))
    });
    let (base, it) = longest.ok_or("none of the replicas that are left has a vote")?;
    let node = it.node;
    if let Some(why) = it.stall {
        return Err(format!(
            "{base} on node {} has most, and does not go on: {why}",
            node.0
        ));
    }
    let recover = Recover {
        group,
        version: row.version,
        base: *base,
        node,
    };
    let lost = format!(
        "{base} on node {} goes on; lost: {}",
        node.0,
        missing.join(", ")
    );
    Ok(Verdict::Lost(recover, lost))
}

/// Why nothing is accepted of a table that is being made.
fn why_not_open(state: &State, group: GroupId) -> &'static str {
    match state.may_have_opened(PartitionId::of(group).table) {
        true => {
            "its table was being made when the meta service went on without its majority, and is \
             open as soon as a node has anything of it: ask again in some seconds"
        }
        false => {
            "its table is being made, and open once every partition can be written to; where most \
             nodes of one stay away, or have no room, it is made elsewhere, once there are hosts \
             enough that live. Nothing was written to it: `esker table drop` lets go of it"
        }
    }
}

/// How far the one is that is to go on alone. Errors: it cannot, for now.
fn going_on(row: &RecoveryRow, base: &ReplicaReport) -> Result<Verdict, String> {
    let name = format!("{} on node {} is to go on alone", row.base, row.node.0);
    if let Some(why) = &base.stall {
        return Err(format!("{name}, and does not for now: {why}"));
    }
    let far = match (base.role, &base.leaderless) {
        (Role::Leader, _) => format!("{name}, and leads already"),
        (_, Some(_)) => format!("{name}, and is about to"),
        // Which of the two, its report does not say.
        (_, None) => format!(
            "{name}: it is being elected, or another one leads it still, which must not run"
        ),
    };
    Ok(Verdict::GoesOn(row.base, row.node, far))
}

/// Whether a group is led that the node has led. Errors: that was long ago.
fn led_by(live: &Live, node: NodeId) -> Result<Verdict, String> {
    let silent_ms = live.silent_ms(node);
    if silent_ms < LED_MS {
        return Ok(Verdict::Led);
    }
    Err(format!(
        "node {} led it, and was not heard for {} s: ask again in {} s",
        node.0,
        silent_ms / MS_PER_S,
        (QUICK_MS - silent_ms) / MS_PER_S
    ))
}

/// Whether the node is silent, and not for so long that it counts as away.
fn is_unsure(live: &Live, node: NodeId) -> bool {
    !live.is_alive(node) && live.silent_ms(node) < QUICK_MS
}

/// The sound replicas that are there. Errors: one of them has a leader, or has not said otherwise.
fn survivors<'a>(state: &State, live: &'a Live, group: GroupId) -> Result<Survivors<'a>, String> {
    let mut survivors = BTreeMap::new();
    let has_gone_on = state.recoveries.get(&group).is_some_and(|row| row.is_done);
    for node in live.alive(state) {
        let replicas = live.node(node).into_iter();
        for one in replicas.flat_map(|node| node.of_group(group)) {
            let is_sound = one.damage.is_none() && one.applied > 0;
            // Until it has gone on, whoever was given up is as good as whoever was not.
            if !is_sound || has_gone_on && state.is_lost(group, one.replica) {
                continue;
            }
            let Some(knows) = &one.leaderless else {
                return Err(format!(
                    "{} on node {} has not said that nobody leads: ask again in some seconds",
                    one.replica, node.0
                ));
            };
            let stall = one.stall.as_deref();
            survivors.insert(one.replica, Survivor { node, knows, stall });
        }
    }
    Ok(survivors)
}

/// The newest members that anybody knows of: what was applied somewhere was committed.
fn newest<'a>(
    state: &State,
    live: &'a Live,
    group: GroupId,
    survivors: &Survivors<'a>,
) -> Option<&'a Configuration> {
    let told = survivors.values().map(|one| &one.knows.configuration);
    // The last leader may have known more; but not if that was before the group went on.
    let led = live.group(group).map(|known| &known.configuration);
    let recovery = state.recoveries.get(&group);
    let led = led.filter(|members| recovery.is_none_or(|row| row.has_gone_on(members)));
    let led = led.filter(|_| !survivors.is_empty());
    told.chain(led).max_by_key(|members| members.version)
}

/// The voters that are not there, in words. Errors: one of them may be.
fn missing(
    live: &Live,
    group: GroupId,
    members: &Configuration,
    survivors: &Survivors<'_>,
) -> Result<Vec<String>, String> {
    let voters = members.voters.union(&members.outgoing);
    let missing = voters.filter(|one| !survivors.contains_key(one));
    let told = missing.map(|replica| {
        let node = members.nodes[replica];
        if live.unlisted().any(|other| other.0 == node) {
            return Err(format!(
                "{replica} is on node {}, which is in no list, and runs: nothing is given up as \
                 long as it does",
                node.0
            ));
        }
        let is_lost = match live.node(node).filter(|_| live.is_alive(node)) {
            // It is silent, or it was removed.
            None => true,
            Some(there) => {
                let reported = live.replica(node, group, *replica);
                there.report.lost.contains(&(group, *replica))
                    || there.lacks(group, *replica)
                    || reported.is_some_and(|one| one.damage.is_some())
            }
        };
        match is_lost {
            true => Ok(format!("{replica} on node {}", node.0)),
            false => Err(format!(
                "node {} has not said yet what became of {replica}: ask again in some seconds",
                node.0
            )),
        }
    });
    told.collect()
}

/// Groups that have gone on, and of which no entry says so yet.
pub(crate) fn recovered(state: &State, live: &Live) -> Option<Deed> {
    let undone = state.recoveries.iter().filter(|row| !row.1.is_done);
    // Whoever leads them: members of which none is lost are those that the base has led.
    let led = undone.filter(|(group, row)| goes_on(live, **group, row));
    let groups = led.map(|(group, row)| (*group, row.base));
    let groups: Vec<_> = groups.take(RECOVERED_MAX).collect();
    (!groups.is_empty()).then_some(Deed::NoteRecovered { groups })
}

/// Whether the group is led by members of which none is lost, durably, by one that goes on.
fn goes_on(live: &Live, group: GroupId, row: &RecoveryRow) -> bool {
    let Some(known) = live.led_group(group) else {
        return false;
    };
    let leader = live.replica(known.node, group, known.leader);
    let is_sound = leader.is_some_and(ReplicaReport::is_sound);
    is_sound && row.has_gone_on(&known.configuration) && live.has_settled(group)
}

/// What a replica of a group that goes on is told of that.
pub(crate) fn told(state: &State, live: &Live, reported: &ReplicaReport) -> Option<Directive> {
    let (group, replica) = (reported.group, reported.replica);
    let row = state.recoveries.get(&group)?;
    let last = row.last;
    if replica == row.base && !row.is_done {
        let members = reported.configuration.as_ref();
        let leads = reported.role == Role::Leader && members.is_some_and(|it| row.has_gone_on(it));
        let is_due = reported.damage.is_none() && !leads;
        return is_due.then_some(Directive::Recover {
            group,
            replica,
            last,
        });
    }
    // Not before somebody else has all that there is: this one may be the last sound copy.
    let is_over = row.is_lost(replica) && row.is_done && goes_on(live, group, row);
    is_over.then_some(Directive::Fence { group, replica })
}

/// That the replicas of the node which has sent `report` are those that they were, if it asks:
/// all but those of groups that go on without them, or are about to go on with one of them.
///
/// `state` is of a read that was begun after the report had come.
pub fn freed(state: &State, live: &Live, report: &Report) -> Option<Directive> {
    let heard = &live.node(report.node)?.report;
    let is_last = (heard.incarnation, heard.asks) == (report.incarnation, report.asks);
    let is_ours = state.nodes.contains_key(&report.node) && stranger(state, live, report).is_none();
    if report.asks == 0 || !is_last || !is_ours {
        return None;
    }
    let stays_held = |one: &&ReplicaReport| {
        let row = state.recoveries.get(&one.group);
        row.is_some_and(|row| row.is_lost(one.replica) || is_to_go_on(row, one))
    };
    let held: BTreeSet<GroupId> = report
        .replicas
        .iter()
        .filter(stays_held)
        .map(|one| one.group)
        .collect();
    Some(Directive::Free {
        asked: report.asks,
        held: held.into_iter().collect(),
    })
}

/// Whether that is the base, and is to be told to go on before it is freed. Not once an entry says
/// who goes on with it: then it may have others by its side, and would refuse what it is told.
fn is_to_go_on(row: &RecoveryRow, one: &ReplicaReport) -> bool {
    let knows = one.leaderless.as_ref();
    let has_gone_on = knows.is_some_and(|knows| row.has_gone_on(&knows.configuration));
    one.replica == row.base && !row.is_done && !has_gone_on
}

#[cfg(test)]
mod tests;
