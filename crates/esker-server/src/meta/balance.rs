//! Which leads and replicas move so that every node has its share: a plan that can be read.
//!
//! Of each table, and of all of them together, no node has two more than another one that could
//! take one: first of leads, whose moving costs a moment, then of replicas, which are copied. A
//! table comes before the sum of all, for its load is more even than that of different tables.
//! Each step lowers the sum of squares of a table's counts, or leaves it and lowers that of all:
//! so a plan ends, and one that was carried out leaves no other (docs/decisions/0031).

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::balance_model::{Counts, Model};
use crate::meta::balance_planner::{Move, Planner, What};
use crate::meta::command::{Command, Deed, Wish};
use crate::meta::limits::{
    BALANCE_EVERY_GROUPS, BALANCE_MOVES_MAX, CALM_MS, HANDOVERS_MAX, UNSURE_MS,
};
use crate::meta::live::Live;
use crate::meta::repair::repairs;
use crate::meta::rows::Level;
use crate::meta::state::State;

/// Steps of a plan that is shown.
const STEPS_MAX: usize = 10_000;

/// How many replicas and leads are looked at for a plan that is shown, and for a round: where
/// labels leave no room, all of them may be looked at in vain.
const LOOKS_MAX: [usize; 2] = [2_000_000, 200_000];

/// What would move, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Move>,
    /// All was looked at, and nothing follows.
    pub is_whole: bool,
    /// Groups of tables whose members are not those that are wished, as far as anybody knows, and
    /// leads that are on their way.
    pub under_way: usize,
    /// Groups without a leader that was heard, of which nothing moves.
    pub unheard: usize,
}

/// What is begun at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Replicas that move.
    pub wishes: Vec<Wish>,
    /// Leads that are handed over, each to a replica.
    pub leads: Vec<(GroupId, ReplicaId)>,
    /// Nothing is left to do, and nothing is on its way.
    pub is_done: bool,
}

/// How far the nodes are from having the same: standard deviations, and what changes already.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of their leads.
    pub leads: f64,
    /// Of their replicas.
    pub replicas: f64,
    /// As a [`Plan`] says it.
    pub under_way: usize,
}

/// All that moves until every node has its share, as far as replicas are sound and nobody is to
/// wait: what is being changed now stays as it is.
pub fn plan(state: &State, live: &Live) -> Plan {
    let mut planner = Planner::new(state, live, LOOKS_MAX[0]);
    planner.leads(STEPS_MAX);
    planner.moves(STEPS_MAX);
    planner.leads(STEPS_MAX);
    let unheard = planner.model.unheard;
    let is_seen = planner.looks_left > 0 && planner.steps.len() < STEPS_MAX;
    Plan {
        is_whole: is_seen && unheard == 0,
        under_way: under_way(&planner.model, live),
        unheard,
        steps: planner.steps,
    }
}

/// What is begun now of a plan: each group once, and a few replicas at a time.
pub fn round(state: &State, live: &Live) -> Round {
    let level = state
        .cluster
        .as_ref()
        .map_or(Level::Frozen, |row| row.level);
    let is_asked = live.is_balance_asked();
    let is_due = level == Level::Lively || level == Level::Steady && is_asked;
    if !is_due || live.is_cut_off(state) || !is_asked && !is_calm(state, live) {
        return Round::default();
    }
    let mut planner = Planner::new(state, live, LOOKS_MAX[1]);
    planner.is_each_once = true;
    planner.leads(HANDOVERS_MAX);
    if is_asked || !is_missing_any(state, live) {
        let most = BALANCE_MOVES_MAX.saturating_sub(planner.model.under_way);
        planner.moves(planner.steps.len() + most);
    }
    let knows_all = planner.model.unheard == 0 && planner.looks_left > 0;
    let mut round = Round {
        is_done: planner.steps.is_empty() && under_way(&planner.model, live) == 0 && knows_all,
        ..Round::default()
    };
    for step in planner.steps {
        match step.what {
            What::Lead(to) => round.leads.push((step.group, to)),
            What::Replica(replica) => round.wishes.push(Wish {
                group: step.group,
                version: state.partitions[&step.group].version,
                add: vec![step.to],
                adopt: Vec::new(),
                drop: vec![replica],
            }),
        }
    }
    round
}

/// The commands that are due: repairs, and where there are none, what evens out.
pub fn due(state: &State, live: &mut Live, unix_ms: u64) -> Vec<Command> {
    let mut due = repairs(state, live, unix_ms);
    let mends = due.iter().any(|one| matches!(one.deed, Deed::Wish { .. }));
    // The more there is to count, the rarer it is counted.
    let every_ms = 1000 * (1 + state.partitions.len() / BALANCE_EVERY_GROUPS);
    if mends || !live.is_balance_due(u64::try_from(every_ms).unwrap_or(u64::MAX)) {
        return due;
    }
    let round = round(state, live);
    for (group, to) in round.leads {
        live.hand_over(group, to);
    }
    if round.is_done {
        live.ask_balance(false);
    }
    let wishes = round.wishes.into_iter().map(|wish| Deed::Wish { wish });
    due.extend(wishes.map(|deed| Command { unix_ms, deed }));
    due
}

/// How far the nodes that live and stay are from having the same.
pub fn spread(state: &State, live: &Live) -> Spread {
    let model = Model::new(state, live);
    Spread {
        leads: deviation(&model.all.leads),
        replicas: deviation(&model.all.replicas),
        under_way: under_way(&model, live),
    }
}

/// How many groups and leads are on their way to what they are to be.
fn under_way(model: &Model<'_>, live: &Live) -> usize {
    model.under_way + live.leads_under_way()
}

/// Whether every node that lives has done so for a while, and was heard just now: one that comes
/// and goes would draw leads to it each time, and so would one that has died a moment ago and leads
/// nothing any more.
fn is_calm(state: &State, live: &Live) -> bool {
    let is_steady = |node| live.up_ms(node) >= CALM_MS && live.silent_ms(node) < UNSURE_MS;
    live.alive(state).all(is_steady)
}

/// Whether a node is silent that may come back with all that it has.
fn is_missing_any(state: &State, live: &Live) -> bool {
    let is_missing = |node: NodeId| {
        let stays = !state.nodes[&node].is_draining();
        stays
            && !live.is_alive(node)
            && !live.is_gone(node)
            && live.successor(state, node).is_none()
    };
    state.nodes.keys().any(|node| is_missing(*node))
}

/// How far counts are from their mean, in the mean.
fn deviation(counts: &Counts) -> f64 {
    let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let len = float(counts.len().max(1));
    let mean = counts.values().map(|count| float(*count)).sum::<f64>() / len;
    let squares = counts.values().map(|count| (float(*count) - mean).powi(2));
    (squares.sum::<f64>() / len).sqrt()
}

#[cfg(test)]
mod tests;
