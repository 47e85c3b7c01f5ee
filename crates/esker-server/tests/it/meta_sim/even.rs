//! What is true of every round of balance, and at the end of all of them.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Change, ChangeStep, GroupId, NodeId, ReplicaId};
use esker_server::meta::balance::plan;
use esker_server::meta::command::Wish;
use esker_server::meta::directive::Directive;
use esker_server::meta::ids::{META, PartitionId, TableId};
use esker_server::meta::live::Live;
use esker_server::meta::outcome::{Cause, Outcome};
use esker_server::meta::rows::PartitionRow;
use esker_server::meta::state::State;

use super::world::{Bug, World};

/// Replicas of each node: of one table or, for none, of all.
type Counts = BTreeMap<(Option<TableId>, NodeId), usize>;

/// Replicas of tables that are not dropped.
fn counts(state: &State) -> Counts {
    let mut counts = Counts::new();
    for (id, row) in &state.partitions {
        let table = PartitionId::of(*id).table;
        if state
            .tables
            .get(&table)
            .is_some_and(|row| !row.is_dropped())
        {
            for node in row.wished.values() {
                *counts.entry((Some(table), *node)).or_default() += 1;
                *counts.entry((None, *node)).or_default() += 1;
            }
        }
    }
    counts
}

/// Whether the members of a group are those that are wished, as far as the leader knows.
pub fn is_at_rest(state: &State, live: &Live, group: GroupId) -> bool {
    let row = &state.partitions[&group];
    live.group(group).is_some_and(|known| {
        let members = &known.configuration;
        !members.is_joint()
            && members.learners.is_empty()
            && members.voters.iter().eq(row.wished.keys())
    })
}

/// Whether a replica of a group could stand on that node instead.
pub fn movable(state: &State, row: &PartitionRow, replica: ReplicaId, to: NodeId) -> bool {
    let mut others = row.wished.iter().filter(|one| *one.0 != replica);
    others.all(|other| state.host(*other.1) != state.host(to))
        && !row.wished.values().any(|at| *at == to)
}

/// Checks the wishes of one round: each is one replica of a group at rest that goes to a node that
/// lives and stays, on a host of its own, and makes a table or all of them more even.
pub fn check_round(state: &State, live: &Live, wishes: &[Wish]) {
    let mut counts = counts(state);
    for wish in wishes {
        let row = &state.partitions[&wish.group];
        let ([to], [replica], []) = (&wish.add[..], &wish.drop[..], &wish.adopt[..]) else {
            panic!("a copy goes without another one that comes: {wish:?}");
        };
        assert!(
            is_at_rest(state, live, wish.group),
            "{wish:?} is under change: {row:?}"
        );
        let stays = !state.nodes[to].is_draining();
        assert!(
            stays && live.is_alive(*to),
            "{wish:?}: to a node that is not fit"
        );
        assert!(
            movable(state, row, *replica, *to),
            "two on a host: {wish:?} {row:?}"
        );
        let from = row.wished[replica];
        let table = PartitionId::of(wish.group).table;
        let of = |counts: &Counts, table, node| counts.get(&(table, node)).copied().unwrap_or(0);
        let is_better = [Some(table), None]
            .map(|table| of(&counts, table, from) >= of(&counts, table, *to) + 2);
        assert!(
            is_better.contains(&true),
            "{wish:?} makes nothing more even"
        );
        for table in [Some(table), None] {
            *counts.entry((table, from)).or_default() -= 1;
            *counts.entry((table, *to)).or_default() += 1;
        }
    }
}

/// A wish for the sake of balance is refused only because another one came first.
pub fn check_outcome(outcome: &Outcome) {
    if let Outcome::Refused { refusal } = outcome {
        assert_eq!(refusal.cause, Cause::Stale, "{refusal:?}");
    }
}

/// At the end no replica could move, and no lead be handed over, that makes a table more even.
pub fn check_end(world: &World, live: &Live) {
    let state = &world.state;
    let left = plan(state, live).steps;
    assert!(left.is_empty(), "not at rest: {left:?}");
    let is_fit = |node: &NodeId| state.nodes.get(node).is_some_and(|row| !row.is_draining());
    let nodes: Vec<NodeId> = world.nodes.keys().copied().filter(is_fit).collect();
    let counts = counts(state);
    let mut leads: BTreeMap<(TableId, NodeId), usize> = BTreeMap::new();
    let open: Vec<_> = state
        .partitions
        .iter()
        .filter(|one| *one.0 != META && state.is_settled(*one.0))
        .filter(|one| !state.tables[&PartitionId::of(*one.0).table].is_dropped())
        .map(|(id, row)| {
            let truth = &world.groups[id];
            let leader = truth.leader.expect("a leader");
            let node = truth.members.nodes[&leader];
            let table = PartitionId::of(*id).table;
            *leads.entry((table, node)).or_default() += 1;
            (table, row, node)
        })
        .collect();
    for (table, row, leader) in open {
        for (replica, from) in &row.wished {
            for to in nodes
                .iter()
                .filter(|to| movable(state, row, *replica, **to))
            {
                let of = |node: &NodeId| counts.get(&(Some(table), *node)).copied().unwrap_or(0);
                assert!(of(from) < of(to) + 2, "{table:?} is uneven: {counts:?}");
            }
        }
        for to in row.wished.values().filter(|to| nodes.contains(to)) {
            let of = |node: NodeId| leads.get(&(table, node)).copied().unwrap_or(0);
            assert!(
                of(leader) < of(*to) + 2,
                "leads of {table:?} are uneven: {leads:?}"
            );
        }
    }
}

/// Plants a bug of the balancer in a round.
pub fn tamper_round(bug: Option<Bug>, world: &World, live: &Live, wishes: &mut Vec<Wish>) {
    let state = &world.state;
    let open = || {
        let groups = state.partitions.iter();
        groups.filter(|one| *one.0 != META && state.is_settled(*one.0))
    };
    let alive: Vec<NodeId> = live.alive(state).collect();
    let wish = |group: GroupId, row: &PartitionRow, replica, to| Wish {
        group,
        version: row.version,
        add: vec![to],
        adopt: Vec::new(),
        drop: vec![replica],
    };
    match bug {
        Some(Bug::NeverEvens) => wishes.clear(),
        // What was moved goes back.
        Some(Bug::PingPong) if wishes.is_empty() => {
            let found = open().find_map(|(id, row)| {
                let replica = *row.wished.keys().next_back()?;
                let to = alive.iter().find(|to| movable(state, row, replica, **to))?;
                is_at_rest(state, live, *id).then(|| wish(*id, row, replica, *to))
            });
            wishes.extend(found);
        }
        Some(Bug::IgnoresLabels) => {
            for one in wishes {
                let row = &state.partitions[&one.group];
                let hosts: BTreeSet<_> = row.wished.values().map(|at| state.host(*at)).collect();
                let shared = alive.iter().find(|node| {
                    hosts.contains(&state.host(**node))
                        && !row.wished.values().any(|at| at == *node)
                        && state.host(**node) != state.host(row.wished[&one.drop[0]])
                });
                one.add = shared.copied().map_or(one.add.clone(), |node| vec![node]);
            }
        }
        Some(Bug::MovesUnderChange) => {
            let found = open().find_map(|(id, row)| {
                let replica = *row.wished.keys().next_back()?;
                let to = alive.iter().find(|to| movable(state, row, replica, **to))?;
                let is_led = live.led_group(*id).is_some();
                (is_led && !is_at_rest(state, live, *id)).then(|| wish(*id, row, replica, *to))
            });
            wishes.extend(found);
        }
        Some(Bug::DropsWithoutAdding) => wishes.iter_mut().for_each(|one| one.add.clear()),
        _ => {}
    }
}

/// Plants that a group which moves loses the old replica before it has the new one.
pub fn remove_first(moved: &BTreeSet<GroupId>, state: &State, live: &Live, told: &mut [Directive]) {
    for one in told {
        let Directive::Change { group, change, .. } = one else {
            continue;
        };
        let (Some(row), Some(known)) = (state.partitions.get(group), live.group(*group)) else {
            continue;
        };
        let mut voters = known.configuration.voters.iter().copied();
        let leaving = voters.find(|id| !row.wished.contains_key(id) && *id != known.leader);
        if let (Some(leaving), true) = (leaving, moved.contains(group))
            && matches!(change.steps[0], ChangeStep::AddLearner(..))
        {
            *change = Change::of(ChangeStep::Remove(leaving));
        }
    }
}
