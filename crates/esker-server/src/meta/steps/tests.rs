//! From any members to any wish: each step keeps the copies, and the way ends.

use std::collections::{BTreeMap, BTreeSet};

use crate::meta::live::Live;
use crate::meta::report::{ReplicaReport, Report, Role};
use crate::meta::rows::PartitionRow;
use crate::meta::trial::{Trial, group, new_table, report};

use super::*;
use esker_raft::Configuration;

/// A group whose replicas are where it is told, as reports would tell it.
struct Walk {
    trial: Trial,
    known: LiveGroup,
    wished: BTreeMap<ReplicaId, NodeId>,
    id: GroupId,
    /// Nodes that are silent.
    dead: BTreeSet<NodeId>,
}

fn ids(pairs: &[(u64, u64)]) -> Vec<(ReplicaId, NodeId)> {
    pairs
        .iter()
        .map(|(id, node)| (ReplicaId(*id), NodeId(*node)))
        .collect()
}

impl Walk {
    fn new(members: &[(u64, u64)], wished: &[(u64, u64)], leader: u64, dead: &[u64]) -> Walk {
        let mut trial = Trial::new(6);
        let table = trial.table(new_table("t", 1, 1));
        let members = Configuration::first(1, &ids(members));
        let leader = ReplicaId(leader);
        Walk {
            id: group(table.0, 0),
            known: LiveGroup {
                leader,
                node: members.nodes[&leader],
                term: 9,
                applied: 4,
                configuration: members,
            },
            wished: ids(wished).into_iter().collect(),
            trial,
            dead: dead.iter().map(|node| NodeId(*node)).collect(),
        }
    }

    /// What nodes that live report: members, and new replicas that wait where there is room.
    fn live(&self) -> Live {
        let mut live = Live::new();
        let members = &self.known.configuration;
        let mut reports: BTreeMap<NodeId, Report> = BTreeMap::new();
        for node in (1..=6).map(NodeId).filter(|node| !self.dead.contains(node)) {
            reports.insert(node, report(node.0));
        }
        let here = members
            .nodes
            .iter()
            .chain(self.wished.iter().filter(|(replica, node)| {
                let is_free = !members.nodes.values().any(|at| at == *node);
                is_free && !members.has_left(**replica)
            }));
        for (replica, node) in here {
            let Some(report) = reports.get_mut(node) else {
                continue;
            };
            let leads = *replica == self.known.leader;
            report.replicas.push(ReplicaReport {
                stall: None,
                leaderless: None,
                group: self.id,
                replica: *replica,
                role: if leads { Role::Leader } else { Role::Follower },
                term: 9,
                applied: u64::from(members.contains(*replica)),
                bytes: 0,
                damage: None,
                configuration: leads.then(|| members.clone()),
            });
        }
        for report in reports.values() {
            assert!(live.hear(&self.trial.state, report));
        }
        live
    }

    /// What is wished, all of it noted as made.
    fn row(&self) -> PartitionRow {
        PartitionRow {
            version: 1,
            replica_max: 9,
            first: BTreeMap::new(),
            unmade: BTreeSet::new(),
            wished: self.wished.clone(),
        }
    }

    fn step(&self) -> Option<Step> {
        next_step(self.id, &self.row(), &self.known, &self.live())
    }

    /// Goes the whole way; returns the least number of voters on it, and its steps.
    fn walk(&mut self) -> (usize, Vec<Step>) {
        let mut least = usize::MAX;
        let mut steps = Vec::new();
        loop {
            self.renew();
            let Some(step) = self.step() else { break };
            self.take(&step);
            least = least.min(self.known.configuration.voters.len());
            steps.push(step);
            assert!(steps.len() < 50, "{steps:?}");
        }
        (least, steps)
    }

    /// What is wished under an id that is spent is wished under another one.
    fn renew(&mut self) {
        let members = &self.known.configuration;
        let spent: Vec<_> = self
            .wished
            .keys()
            .filter(|id| members.has_left(**id))
            .collect();
        let Some(spent) = spent.first().map(|id| **id) else {
            return;
        };
        let node = self.wished.remove(&spent).expect("it is wished");
        let most = self
            .wished
            .keys()
            .last()
            .map_or(0, |id| id.0)
            .max(members.replica_max);
        self.wished.insert(ReplicaId(most + 1), node);
    }

    fn take(&mut self, step: &Step) {
        let members = &mut self.known.configuration;
        match step {
            Step::Transfer(to) => {
                assert!(members.voters.contains(to) && *to != self.known.leader);
                assert!(!self.dead.contains(&members.nodes[to]));
                self.known.leader = *to;
                self.known.node = members.nodes[to];
            }
            Step::Change(change) => {
                assert!(change.is_sound());
                members.version += 1;
                for step in &change.steps {
                    let replica = step.replica();
                    match step {
                        ChangeStep::AddLearner(_, node) => {
                            assert!(replica.0 > members.replica_max);
                            assert!(!members.nodes.values().any(|at| at == node));
                            members.replica_max = replica.0;
                            members.learners.insert(replica);
                            members.nodes.insert(replica, *node);
                        }
                        ChangeStep::Promote(_) => {
                            assert!(members.learners.remove(&replica));
                            members.voters.insert(replica);
                        }
                        ChangeStep::Remove(_) => {
                            assert_ne!(replica, self.known.leader);
                            assert!(members.nodes.remove(&replica).is_some());
                            members.voters.remove(&replica);
                            members.learners.remove(&replica);
                        }
                        ChangeStep::Demote(_) | ChangeStep::Alone(..) => {
                            panic!("nobody is told so")
                        }
                    }
                }
                let alive = members.voters.iter().map(|id| &members.nodes[id]);
                let alive = alive.filter(|node| !self.dead.contains(*node)).count();
                assert!(alive > members.voters.len() / 2, "no quorum lives");
            }
        }
    }

    fn has_arrived(&self) -> bool {
        self.known
            .configuration
            .voters
            .iter()
            .eq(self.wished.keys())
            && self.known.configuration.learners.is_empty()
    }
}

#[test]
fn a_replica_moves_without_a_copy_less() {
    for leader in 1..=3 {
        let members = [(1, 1), (2, 2), (3, 3)];
        let mut walk = Walk::new(&members, &[(2, 2), (3, 3), (4, 4)], leader, &[]);
        let (least, steps) = walk.walk();
        assert!(walk.has_arrived() && least == 3, "{steps:?}");
        // Added, handed over if the leader goes, and then one joint change.
        assert_eq!(steps.len(), if leader == 1 { 3 } else { 2 });
    }
}

#[test]
fn a_single_replica_moves_by_way_of_two() {
    let mut walk = Walk::new(&[(1, 1)], &[(2, 2)], 1, &[]);
    let (least, steps) = walk.walk();
    assert!(
        walk.has_arrived() && least == 1 && steps.len() == 4,
        "{steps:?}"
    );
}

#[test]
fn a_lost_replica_comes_back_to_its_own_node_by_leaving_first() {
    let members = [(1, 1), (2, 2), (3, 3)];
    let mut walk = Walk::new(&members, &[(1, 1), (2, 2), (4, 3)], 1, &[]);
    let (least, steps) = walk.walk();
    assert!(walk.has_arrived() && least == 2, "{steps:?}");
    // A lost leader hands over first.
    let mut walk = Walk::new(&members, &[(2, 2), (3, 3), (4, 1)], 1, &[]);
    let (_, steps) = walk.walk();
    assert!(
        walk.has_arrived() && matches!(steps[0], Step::Transfer(_)),
        "{steps:?}"
    );
    // One that is alone has nobody to hand over to, and stays.
    let walk = Walk::new(&[(1, 1)], &[(2, 1)], 1, &[]);
    assert_eq!(walk.step(), None);
}

#[test]
fn the_dead_leave_first_and_never_inherit() {
    let members = [(1, 1), (2, 2), (3, 3)];
    // Two of three go, and the dead one is not kept longer than the other.
    let mut walk = Walk::new(&members, &[(1, 1), (4, 4), (5, 5)], 1, &[3]);
    let (_, steps) = walk.walk();
    assert!(walk.has_arrived());
    let first = steps.iter().find_map(|step| match step {
        Step::Change(change) => change.steps.iter().find_map(|step| match step {
            ChangeStep::Remove(replica) => Some(*replica),
            _ => None,
        }),
        Step::Transfer(_) => None,
    });
    assert_eq!(first, Some(ReplicaId(3)));
    // The leader goes; of those that stay, 2 is silent.
    let walk = Walk::new(&members, &[(2, 2), (3, 3)], 1, &[2]);
    assert_eq!(walk.step(), Some(Step::Transfer(ReplicaId(3))));
}

#[test]
fn what_is_under_way_or_not_made_yet_waits() {
    let members = [(1, 1), (2, 2), (3, 3)];
    let wished = [(2, 2), (3, 3), (4, 4)];
    // The node of the new one is silent.
    assert_eq!(Walk::new(&members, &wished, 1, &[4]).step(), None);
    let mut joint = Walk::new(&members, &wished, 1, &[]);
    joint.known.configuration.outgoing.insert(ReplicaId(1));
    assert_eq!(joint.step(), None);
    // An id that has left never comes back.
    let mut left = Walk::new(&members, &[(1, 1), (2, 2), (3, 3), (4, 4)], 1, &[]);
    left.known.configuration.replica_max = 4;
    assert_eq!(left.step(), None);
    // It is there, and that is not noted yet.
    let walk = Walk::new(&members, &wished, 1, &[]);
    let unmade = [ReplicaId(4)].into();
    let row = PartitionRow {
        unmade,
        ..walk.row()
    };
    assert_eq!(next_step(walk.id, &row, &walk.known, &walk.live()), None);
    // A learner that has no image does not vote.
    let mut learner = Walk::new(&members, &wished, 1, &[]);
    let step = learner.step().expect("it is added");
    learner.take(&step);
    let mut live = learner.live();
    let mut waiting = report(4);
    waiting.replicas.push(ReplicaReport {
        stall: None,
        leaderless: None,
        group: learner.id,
        replica: ReplicaId(4),
        role: Role::Learner,
        term: 9,
        applied: 0,
        bytes: 0,
        damage: None,
        configuration: None,
    });
    assert!(live.hear(&learner.trial.state, &waiting));
    assert_eq!(
        next_step(learner.id, &learner.row(), &learner.known, &live),
        None
    );
}

#[test]
fn one_that_a_full_disk_keeps_from_being_made_holds_up_no_other() {
    let members = [(1, 1), (2, 2), (3, 3)];
    let walk = Walk::new(&members, &[(1, 1), (4, 4), (5, 5)], 1, &[]);
    let step = |space_free_bytes| {
        let mut live = walk.live();
        let mut row = walk.row();
        row.unmade.insert(ReplicaId(4));
        // It lives, and has not made its replica.
        let report = Report {
            space_free_bytes,
            ..report(4)
        };
        assert!(live.hear(&walk.trial.state, &report));
        next_step(walk.id, &row, &walk.known, &live)
    };
    // With room it is about to.
    assert_eq!(step(900), None);
    let added = ChangeStep::AddLearner(ReplicaId(5), NodeId(5));
    assert_eq!(step(1), Some(change([added])));
}

#[test]
fn every_way_ends_at_its_wish() {
    // All members of up to three on four nodes, all wishes on five.
    let mut ways = 0;
    for count in 1..=3_u64 {
        let members: Vec<(u64, u64)> = (1..=count).map(|id| (id, id)).collect();
        for mask in 1..32_u64 {
            let nodes: Vec<u64> = (1..=5).filter(|node| mask >> (node - 1) & 1 == 1).collect();
            if nodes.len() > 3 {
                continue;
            }
            for renewed in [false, true] {
                let mut next = count;
                let wished: Vec<(u64, u64)> = nodes
                    .iter()
                    .map(|&node| match node <= count && !(renewed && node == 1) {
                        true => (node, node),
                        false => {
                            next += 1;
                            (next, node)
                        }
                    })
                    .collect();
                for leader in 1..=count {
                    let mut walk = Walk::new(&members, &wished, leader, &[]);
                    let (least, steps) = walk.walk();
                    let alone = count == 1 && renewed && nodes == [1];
                    assert!(
                        walk.has_arrived() || alone,
                        "{members:?} {wished:?}: {steps:?}"
                    );
                    let is_renewed = renewed && nodes.contains(&1);
                    let floor = members.len().min(wished.len()) - usize::from(is_renewed);
                    assert!(alone || least >= floor, "{members:?} {wished:?}: {steps:?}");
                    ways += 1;
                }
            }
        }
    }
    assert_eq!(ways, 25 * 2 * 6);
}
