//! What a balance moves, in what order, and that it comes to rest.

use std::collections::{BTreeMap, BTreeSet};

use esker::internals::env::random::Random;
use esker_raft::Configuration;

use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::report::{ReplicaReport, Report, Role};
use crate::meta::rows::{NodeRow, PartitionRow, Stay, TableRow, TableStatus};
use crate::meta::trial::{Trial, addresses, group, new_node, new_table, report};

use super::*;

/// Leads and replicas of each node that has any.
fn counts(trial: &Trial, table: Option<TableId>) -> [BTreeMap<u64, usize>; 2] {
    let mut counts = [BTreeMap::new(), BTreeMap::new()];
    for (id, row) in trial.state.partitions.iter().filter(|one| *one.0 != META) {
        if table.is_some_and(|table| PartitionId::of(*id).table != table) {
            continue;
        }
        let leader = trial.live.group(*id).expect("a leader").node.0;
        *counts[0].entry(leader).or_default() += 1;
        for node in row.wished.values() {
            *counts[1].entry(node.0).or_default() += 1;
        }
    }
    counts
}

fn spread_of(counts: &BTreeMap<u64, usize>, nodes: &[u64]) -> usize {
    let of = |node: &u64| counts.get(node).copied().unwrap_or_default();
    let most = nodes.iter().map(of).max().unwrap_or_default();
    most - nodes.iter().map(of).min().unwrap_or_default()
}

/// A node joins that has nothing.
fn join(trial: &mut Trial, number: u64, label: &str) {
    let node = new_node(number, label);
    trial.done(Deed::RegisterNode { node });
    let label = label.to_owned();
    trial.reports.insert(
        NodeId(number),
        Report {
            label,
            ..report(number)
        },
    );
}

#[test]
fn a_new_node_gets_its_share_and_no_group_is_ever_short() {
    // Three nodes with two tables; two more join. Every table is even at the end, and so are all of
    // them together, of leads as of replicas; meanwhile nobody has fewer voters than wished.
    let mut trial = Trial::new(3);
    let tables = [
        trial.table(new_table("t", 16, 3)),
        trial.table(new_table("u", 4, 2)),
    ];
    trial.rounds(20);
    join(&mut trial, 4, "");
    join(&mut trial, 5, "");
    let mut most = 0;
    for _ in 0..120 {
        trial.even_out(1);
        let mut under_way = 0;
        for (id, row) in trial
            .state
            .partitions
            .clone()
            .iter()
            .filter(|one| *one.0 != META)
        {
            let members = trial.members(*id);
            let wished = if PartitionId::of(*id).table == tables[0] {
                3
            } else {
                2
            };
            assert!(members.voters.len() >= wished, "{id}: {members:?}");
            under_way += usize::from(!members.voters.iter().eq(row.wished.keys()));
        }
        most = most.max(under_way);
    }
    assert!((2..=BALANCE_MOVES_MAX).contains(&most), "{most} at once");
    assert_eq!(trial.even_out(10), 0);
    for table in [Some(tables[0]), Some(tables[1]), None] {
        for counts in counts(&trial, table) {
            assert!(
                spread_of(&counts, &[1, 2, 3, 4, 5]) <= 1,
                "{table:?}: {counts:?}"
            );
        }
    }
    assert_eq!(plan(&trial.state, &trial.live).steps, []);
    let after = spread(&trial.state, &trial.live);
    assert!(after.leads < 0.5 && after.replicas < 0.5, "{after:?}");
}

#[test]
fn a_plan_reads_like_what_somebody_would_say() {
    let mut trial = Trial::new(1);
    trial.table(new_table("ships", 4, 1));
    join(&mut trial, 2, "");
    trial.hear();
    let told = plan(&trial.state, &trial.live);
    assert!(told.is_whole);
    let told: Vec<String> = told
        .steps
        .iter()
        .map(|one| one.sentence(&trial.state))
        .collect();
    assert_eq!(
        told,
        [
            "move a replica of ships.0 from node 1 (4 replicas of the table) to node 2 (0)",
            "move a replica of ships.1 from node 1 (3 replicas of the table) to node 2 (1)",
        ]
    );
    // Leads alone, where replicas are even.
    let mut trial = Trial::new(2);
    trial.table(new_table("ships", 4, 2));
    for index in 0..4 {
        lead(&mut trial, group(1, index), 1);
    }
    trial.hear();
    let told = plan(&trial.state, &trial.live);
    let told: Vec<String> = told
        .steps
        .iter()
        .map(|one| one.sentence(&trial.state))
        .collect();
    assert_eq!(
        told,
        [
            "hand the lead of ships.0 from node 1 (4 leads of the table) to node 2 (0)",
            "hand the lead of ships.1 from node 1 (3 leads of the table) to node 2 (1)",
        ]
    );
}

/// That node leads from now on.
fn lead(trial: &mut Trial, id: GroupId, node: u64) {
    let members = trial.members(id);
    let term = trial.live.group(id).map_or(6, |known| known.term + 1);
    for at in members.nodes.values() {
        let one = trial.replica(*at, id).expect("a replica");
        let leads = at.0 == node;
        one.role = if leads { Role::Leader } else { Role::Follower };
        (one.term, one.configuration) = (term, leads.then(|| members.clone()));
    }
}

#[test]
fn the_level_says_who_begins() {
    // Frozen: nobody. Steady: whoever asks, until all is even. Lively: nobody need ask.
    let uneven = || {
        let mut trial = Trial::new(2);
        trial.table(new_table("t", 8, 1));
        trial.rounds(10);
        join(&mut trial, 3, "");
        trial.seconds(6);
        trial
    };
    let moved = |trial: &Trial| counts(trial, None)[1].get(&3).copied().unwrap_or_default();
    for (level, is_asked, expected) in [
        (Level::Frozen, true, 0),
        (Level::Steady, false, 0),
        (Level::Steady, true, 2),
        (Level::Lively, false, 2),
    ] {
        let mut trial = uneven();
        trial.done(Deed::SetLevel { level });
        trial.live.ask_balance(is_asked);
        trial.even_out(60);
        assert_eq!(moved(&trial), expected, "{level:?} {is_asked}");
        if level > Level::Frozen {
            assert!(!trial.live.is_balance_asked());
        }
    }
    // A new cluster is lively.
    assert_eq!(
        uneven().state.cluster.map(|row| row.level),
        Some(Level::Lively)
    );
}

#[test]
fn what_is_silent_for_a_moment_draws_no_copies() {
    // Three of four nodes have all; the fourth is empty. One of the three restarts: nothing moves
    // until it is back and has been there for a while, unless somebody asks.
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 8, 2));
    trial.rounds(10);
    join(&mut trial, 4, "");
    let gone = trial.reports.remove(&NodeId(3)).expect("a node");
    trial.seconds(9);
    assert_eq!(round(&trial.state, &trial.live).wishes, []);
    trial.reports.insert(
        NodeId(3),
        Report {
            incarnation: 2,
            ..gone
        },
    );
    trial.hear();
    assert_eq!(round(&trial.state, &trial.live).wishes, []);
    trial.live.ask_balance(true);
    assert_ne!(round(&trial.state, &trial.live).wishes, []);
    trial.live.ask_balance(false);
    trial.seconds(6);
    assert_ne!(round(&trial.state, &trial.live).wishes, []);
}

#[test]
fn a_node_that_died_a_moment_ago_draws_no_leads() {
    // Others lead at once what it led, and it counts as alive for some seconds: with no lead at all
    // it would be the first to be given some.
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 16, 3));
    trial.even_out(20);
    trial.silence(3);
    trial.live.pass(500);
    for _ in 0..20 {
        trial.hear();
        let leads = round(&trial.state, &trial.live).leads;
        let heir = |(group, to): &(GroupId, ReplicaId)| trial.state.partitions[group].wished[to];
        assert!(
            leads.iter().all(|lead| heir(lead) != NodeId(3)),
            "{leads:?}"
        );
    }
}

#[test]
fn a_lead_on_its_way_is_not_handed_over_twice() {
    // Node 1 leads all of four; the old leader's report comes before the new one's.
    let mut trial = Trial::new(2);
    trial.table(new_table("t", 4, 2));
    trial.rounds(10);
    for index in 0..4 {
        lead(&mut trial, group(1, index), 1);
    }
    trial.hear();
    let first = round(&trial.state, &trial.live).leads;
    assert_eq!(first.len(), 2);
    for (group, to) in first {
        trial.live.hand_over(group, to);
    }
    trial.live.ask_balance(true);
    for _ in 0..4 {
        trial.hear();
        let now = round(&trial.state, &trial.live);
        assert_eq!((now.leads, now.is_done), (Vec::new(), false));
        // Who waits for the end of a balance waits for those two.
        let left = plan(&trial.state, &trial.live);
        assert_eq!((left.steps.len(), left.under_way), (0, 2));
    }
    // An heir that does not take it: others are asked, and that group not for a minute.
    trial.hear();
    let second = round(&trial.state, &trial.live).leads;
    let groups: Vec<GroupId> = second.iter().map(|one| one.0).collect();
    assert_eq!(groups, [group(1, 2), group(1, 3)]);
}

#[test]
fn a_node_on_which_one_does_not_go_on_gets_no_lead() {
    // Node 1 leads all of four. What node 2 has of one stands still, and nobody has written yet to
    // the others: with a full disk they would each be led there until somebody does.
    let mut trial = Trial::new(2);
    trial.table(new_table("t", 4, 2));
    trial.rounds(10);
    for index in 0..4 {
        lead(&mut trial, group(1, index), 1);
    }
    let stall = |trial: &mut Trial, why: Option<&str>| {
        let one = trial.replica(NodeId(2), group(1, 2));
        one.expect("a replica").stall = why.map(str::to_owned);
        trial.hear();
        plan(&trial.state, &trial.live).steps.len()
    };
    assert_eq!(stall(&mut trial, Some("out of space")), 0);
    // With room it has its share.
    assert_eq!(stall(&mut trial, None), 2);
}

/// A cluster as dice have it, in which some groups are under change and some nodes are not fit.
struct Drawn {
    state: State,
    leaders: BTreeMap<GroupId, ReplicaId>,
    /// Groups that must stay as they are.
    frozen: BTreeSet<GroupId>,
    silent: BTreeSet<NodeId>,
    full: BTreeSet<NodeId>,
}

struct Dice(Random);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }
}

impl Drawn {
    fn new(seed: u64) -> Drawn {
        let mut dice = Dice(Random::new(seed));
        let mut state = Trial::new(1).state;
        let nodes = 2 + dice.below(6);
        let has_labels = dice.below(3) == 0;
        let is_plain = dice.below(2) == 0;
        let (mut silent, mut full) = (BTreeSet::new(), BTreeSet::new());
        for number in 1..=nodes {
            let label = match has_labels {
                true => format!("host{}", dice.below(nodes)),
                false => String::new(),
            };
            let is_fit = is_plain || dice.below(4) > 0;
            match dice.below(3) {
                0 if !is_fit && silent.len() < 2 => drop(silent.insert(NodeId(number))),
                1 if !is_fit => drop(full.insert(NodeId(number))),
                _ => {}
            }
            let stay = match is_fit || dice.below(2) == 0 {
                true => Stay::Stays,
                false => Stay::Drains,
            };
            let row = NodeRow {
                nonce: number,
                addresses: addresses(number),
                label,
                incarnation: 1,
                stay,
                registered_ms: 0,
            };
            state.nodes.insert(NodeId(number), row);
        }
        if let Some(cluster) = &mut state.cluster {
            cluster.next_node = NodeId(nodes + 1);
        }
        let mut drawn = Drawn {
            state,
            leaders: BTreeMap::new(),
            frozen: BTreeSet::new(),
            silent,
            full,
        };
        for table in 1..=1 + dice.below(3) {
            drawn.add_table(&mut dice, u32::try_from(table).expect("few"), is_plain);
        }
        drawn
    }

    fn add_table(&mut self, dice: &mut Dice, table: u32, is_plain: bool) {
        let replicas = 1 + dice.below(3);
        let partitions = 1_u32 << dice.below(4);
        let row = TableRow {
            name: format!("t{table}"),
            status: TableStatus::Open,
            partition_count: partitions,
            replica_count: u32::try_from(replicas).expect("few"),
            kind: String::new(),
            envs: BTreeMap::new(),
            created_s: 0,
        };
        self.state.tables.insert(TableId(table), row);
        for index in 0..partitions {
            let mut nodes: Vec<NodeId> = self.state.nodes.keys().copied().collect();
            let mut chosen: Vec<NodeId> = Vec::new();
            while chosen.len() < usize::try_from(replicas).expect("few") && !nodes.is_empty() {
                // Rather the first ones: what is drawn is uneven.
                let end = u64::try_from(nodes.len()).expect("few");
                let at = dice.below(end).min(dice.below(end));
                let node = nodes.remove(usize::try_from(at).expect("few"));
                let host = self.state.host(node);
                if chosen.iter().all(|other| self.state.host(*other) != host) {
                    chosen.push(node);
                }
            }
            let mut row = PartitionRow::begun(&chosen);
            (row.first, row.unmade) = (BTreeMap::new(), BTreeSet::new());
            let id = group(table, index);
            let leader = 1 + dice.below(row.replica_max);
            self.leaders.insert(id, ReplicaId(leader));
            self.state.partitions.insert(id, row);
            if !is_plain && dice.below(6) == 0 {
                self.frozen.insert(id);
            }
        }
    }

    /// What the nodes that are heard report.
    fn live(&self) -> Live {
        let mut reports: BTreeMap<NodeId, Report> = self
            .state
            .nodes
            .iter()
            .map(|(node, row)| {
                (
                    *node,
                    Report {
                        label: row.label.clone(),
                        ..report(node.0)
                    },
                )
            })
            .collect();
        for (id, row) in &self.state.partitions {
            for (replica, node) in &row.wished {
                let leads = self.leaders.get(id) == Some(replica);
                let mut members: Vec<_> = row.wished.iter().map(|one| (*one.0, *one.1)).collect();
                if self.frozen.contains(id) {
                    // A member that is not wished has yet to go.
                    members.push((ReplicaId(row.replica_max + 1), NodeId(99)));
                }
                let configuration = Configuration::first(1, &members);
                reports
                    .get_mut(node)
                    .expect("a node")
                    .replicas
                    .push(ReplicaReport {
                        group: *id,
                        replica: *replica,
                        role: if leads { Role::Leader } else { Role::Follower },
                        term: 5,
                        applied: 9,
                        bytes: 0,
                        damage: None,
                        stall: None,
                        leaderless: None,
                        configuration: leads.then_some(configuration),
                    });
            }
        }
        for node in &self.full {
            reports.get_mut(node).expect("a node").space_free_bytes = 1;
        }
        let mut live = Live::new();
        for _ in 0..2 {
            live.pass(1000);
            for report in reports.values() {
                live.hear(&self.state, report);
            }
        }
        // Some fall silent.
        for _ in 0..9 {
            live.pass(1000);
            for report in reports
                .values()
                .filter(|one| !self.silent.contains(&one.node))
            {
                live.hear(&self.state, report);
            }
        }
        live
    }

    /// A step is done, as soon as it is allowed.
    fn obey(&mut self, step: &Move, live: &Live) {
        let id = step.group;
        assert!(!self.frozen.contains(&id), "{id} is under change");
        let takes = live.is_alive(step.to) && !self.state.nodes[&step.to].is_draining();
        assert!(takes && !self.full.contains(&step.to), "{step:?}");
        let row = self.state.partitions.get_mut(&id).expect("a group");
        match step.what {
            What::Lead(to) => {
                assert_eq!(row.wished[&to], step.to);
                assert_eq!(row.wished[&self.leaders[&id]], step.from);
                self.leaders.insert(id, to);
            }
            What::Replica(replica) => {
                assert_eq!(row.wished.remove(&replica), Some(step.from));
                row.replica_max += 1;
                let new = ReplicaId(row.replica_max);
                row.wished.insert(new, step.to);
                if self.leaders[&id] == replica {
                    let heir = row.wished.keys().next().copied().expect("a replica");
                    self.leaders.insert(id, heir);
                }
                let nodes: Vec<NodeId> = row.wished.values().copied().collect();
                assert!(nodes.iter().all(|node| live.is_alive(*node)), "{step:?}");
                let hosts: BTreeSet<_> = nodes.iter().map(|node| self.state.host(*node)).collect();
                assert_eq!(hosts.len(), nodes.len(), "two on a host");
            }
        }
    }

    /// How many replicas of a table that node has, or leads of it.
    fn share(&self, table: TableId, node: NodeId, is_lead: bool) -> usize {
        let has = |(id, row): &(GroupId, &PartitionRow)| match is_lead {
            true => row.wished.get(&self.leaders[id]) == Some(&node),
            false => row.wished.values().any(|at| *at == node),
        };
        self.state.groups(table).filter(has).count()
    }

    fn is_ideal(&self) -> bool {
        let has_labels = self.state.nodes.values().any(|row| !row.label.is_empty());
        let all_stay = self.state.nodes.values().all(|row| !row.is_draining());
        let is_quiet = self.silent.is_empty() && self.full.is_empty() && self.frozen.is_empty();
        is_quiet && all_stay && !has_labels
    }
}

#[test]
fn a_plan_that_was_carried_out_leaves_no_other_one() {
    // Four thousand clusters by dice: tables, labels, nodes that are full, silent or leave, groups
    // under change. Each step keeps the law; where nothing is in the way all is even at the end.
    let (mut steps, mut ideal) = (0, 0);
    for seed in 0..4000 {
        let mut drawn = Drawn::new(seed);
        let live = drawn.live();
        let first = plan(&drawn.state, &live);
        // Who is silent may have led: of what nobody leads nobody knows what is to be done.
        assert_eq!(first.is_whole, first.unheard == 0, "seed {seed}");
        for step in &first.steps {
            drawn.obey(step, &live);
        }
        steps += first.steps.len();
        let live = drawn.live();
        assert_eq!(plan(&drawn.state, &live).steps, [], "seed {seed}");
        let nodes: Vec<NodeId> = drawn.state.nodes.keys().copied().collect();
        if !drawn.is_ideal() {
            continue;
        }
        ideal += 1;
        let tables: Vec<TableId> = drawn.state.tables.keys().copied().collect();
        let spread = |counts: Vec<usize>| {
            counts
                .iter()
                .max()
                .zip(counts.iter().min())
                .map_or(0, |(a, b)| a - b)
        };
        for table in &tables {
            let of = |node: &NodeId| drawn.share(*table, *node, false);
            assert!(spread(nodes.iter().map(of).collect()) <= 1, "seed {seed}");
        }
        let all = |node: &NodeId| {
            tables
                .iter()
                .map(|table| drawn.share(*table, *node, false))
                .sum()
        };
        assert!(spread(nodes.iter().map(all).collect()) <= 1, "seed {seed}");
    }
    assert!(
        steps > 10_000 && ideal > 500,
        "{steps} steps, {ideal} ideal"
    );
}

#[test]
fn leads_are_as_even_as_any_choice_could_make_them() {
    // Small tables, by every choice of leaders there is: the sum of squares is the least one.
    for seed in 0..300 {
        let mut drawn = Drawn::new(seed);
        let live = drawn.live();
        let is_small = drawn.state.partitions.len() <= 9 && drawn.is_ideal();
        if !is_small {
            continue;
        }
        for step in &plan(&drawn.state, &live).steps {
            drawn.obey(step, &live);
        }
        let nodes: Vec<NodeId> = drawn.state.nodes.keys().copied().collect();
        for table in drawn.state.tables.keys() {
            let squares: usize = nodes
                .iter()
                .map(|node| drawn.share(*table, *node, true).pow(2))
                .sum();
            let groups: Vec<Vec<NodeId>> = drawn
                .state
                .groups(*table)
                .map(|group| group.1.wished.values().copied().collect())
                .collect();
            assert_eq!(
                squares,
                least_squares(&groups, &mut BTreeMap::new()),
                "seed {seed}"
            );
        }
    }
}

/// The least sum of squares that leaders of `groups` can have.
fn least_squares(groups: &[Vec<NodeId>], taken: &mut BTreeMap<NodeId, usize>) -> usize {
    let Some((first, others)) = groups.split_first() else {
        return taken.values().map(|count| count * count).sum();
    };
    let tried = first.iter().map(|node| {
        *taken.entry(*node).or_default() += 1;
        let least = least_squares(others, taken);
        *taken.entry(*node).or_default() -= 1;
        least
    });
    tried.min().unwrap_or_default()
}
