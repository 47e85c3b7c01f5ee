//! Who goes on, who is told so and when, and what nobody is told too early.

use super::*;
use crate::meta::epoch::Epoch;
use crate::meta::ids::TableId;
use crate::meta::notices::Notices;
use crate::meta::outcome::{Cause, Outcome};
use crate::meta::plan::directives;
use crate::meta::repair::repairs;
use crate::meta::rows::TableStatus;
use crate::meta::trial::{Trial, UNIX_MS, epoch, group, new_table, report};

/// A table of one partition with three replicas, on five nodes; and where these are.
fn partition() -> (Trial, GroupId, Vec<(ReplicaId, NodeId)>) {
    let mut trial = Trial::new(5);
    let table = trial.table(new_table("t", 1, 3));
    let id = group(table.0, 0);
    trial.rounds(2);
    let nodes = trial.state.partitions[&id].wished.clone();
    (trial, id, nodes.into_iter().collect())
}

/// Its members, as its last leader has told them.
fn members_of(trial: &Trial, id: GroupId) -> Configuration {
    let known = trial.live.group(id).expect("it was led");
    known.configuration.clone()
}

/// Nobody leads the replica on a node any more; its log ends there.
fn leaderless(trial: &mut Trial, id: GroupId, node: NodeId, (last_term, last): (u64, u64)) {
    let members = members_of(trial, id);
    let replica = trial.replica(node, id).expect("it is there");
    replica.role = Role::Follower;
    replica.configuration = None;
    replica.leaderless = Some(Leaderless {
        last_term,
        last,
        configuration: members,
    });
}

/// The nodes of all replicas but the first so many are dead, and those left know no leader.
fn lose(trial: &mut Trial, id: GroupId, replicas: &[(ReplicaId, NodeId)], left: usize) {
    for (at, (_, node)) in replicas.iter().enumerate() {
        match at < left {
            true => leaderless(trial, id, *node, (5, 9)),
            false => drop(trial.reports.remove(node)),
        }
    }
}

fn waits(trial: &Trial, id: GroupId) -> String {
    match verdict(&trial.state, &trial.live, id) {
        Verdict::Waits(why) => why,
        other => panic!("{other:?}"),
    }
}

fn lost(trial: &Trial, id: GroupId) -> Recover {
    match verdict(&trial.state, &trial.live, id) {
        Verdict::Lost(recover, _) => recover,
        other => panic!("{other:?}"),
    }
}

fn told_to(trial: &Trial, node: NodeId) -> Vec<Directive> {
    let report = &trial.reports[&node];
    let told = directives(&trial.state, &trial.live, report).into_iter();
    let is_of_recovery = |it: &Directive| {
        matches!(
            it,
            Directive::Recover { .. } | Directive::Fence { .. } | Directive::Destroy { .. }
        )
    };
    told.filter(is_of_recovery).collect()
}

/// The replica on a node leads, alone, by an entry.
fn leads_alone(trial: &mut Trial, id: GroupId, (base, node): (ReplicaId, NodeId)) {
    let last = trial.state.recoveries[&id].last;
    let one = trial.replica(node, id).expect("it is there");
    one.role = Role::Leader;
    (one.term, one.applied, one.leaderless) = (1 << 20, 20, None);
    one.configuration = Some(Configuration {
        replica_max: last.0,
        ..Configuration::first(20, &[(base, node)])
    });
}

#[test]
fn nobody_says_that_a_group_is_led_whose_leader_was_not_heard_lately() {
    let (mut trial, id, _) = partition();
    trial.hear();
    // A longer pause would not have been watched.
    (0..4).for_each(|_| trial.live.pass(500));
    assert_eq!(verdict(&trial.state, &trial.live, id), Verdict::Led);
    trial.live.pass(500);
    let Verdict::Waits(why) = verdict(&trial.state, &trial.live, id) else {
        panic!("it may have ended");
    };
    assert!(why.contains("was not heard for 2 s: ask again"), "{why}");
    trial.hear();
    assert_eq!(verdict(&trial.state, &trial.live, id), Verdict::Led);
}

#[test]
fn a_group_goes_on_with_the_replica_that_is_left() {
    let (mut trial, id, replicas) = partition();
    assert_eq!(verdict(&trial.state, &trial.live, id), Verdict::Led);
    lose(&mut trial, id, &replicas, 1);
    trial.seconds(6);
    assert!(waits(&trial, id).contains("may be on its way"));
    trial.seconds(4);
    let recover = lost(&trial, id);
    assert_eq!((recover.base, recover.node), replicas[0]);
    // Another leader of meta has heard nobody yet, and then not the silence.
    let mut live = Live::new();
    for second in 0..10 {
        let Verdict::Waits(why) = verdict(&trial.state, &live, id) else {
            panic!("second {second}");
        };
        assert!(why.contains("not all nodes were heard") || why.contains("may be on its way"));
        live.pass(1000);
        for report in trial.reports.values() {
            live.hear(&trial.state, report);
        }
    }
    assert!(matches!(
        verdict(&trial.state, &live, id),
        Verdict::Lost(..)
    ));
}

#[test]
fn who_has_a_majority_or_a_leader_is_not_given_up() {
    let (mut trial, id, replicas) = partition();
    lose(&mut trial, id, &replicas, 2);
    trial.seconds(12);
    assert!(waits(&trial, id).contains("elect by themselves"));
    // One of them stands still for want of room: it may go on later.
    let stall = Some("its disk is full".to_owned());
    trial.replica(replicas[1].1, id).expect("it is there").stall = stall;
    trial.seconds(1);
    assert!(waits(&trial, id).contains("elect by themselves"));
    // One has a leader that meta does not hear.
    trial
        .replica(replicas[0].1, id)
        .expect("it is there")
        .leaderless = None;
    trial.seconds(1);
    assert!(waits(&trial, id).contains("has not said that nobody leads"));
    let (mut trial, id, replicas) = partition();
    lose(&mut trial, id, &replicas, 0);
    trial.seconds(12);
    assert!(waits(&trial, id).contains("no sound replica"));
    let meta = verdict(&trial.state, &trial.live, META);
    assert!(matches!(meta, Verdict::Waits(_)));
}

#[test]
fn the_longest_log_of_the_newest_members_goes_on() {
    let (mut trial, id, replicas) = partition();
    let mut table = trial.state.partitions[&id].clone();
    lose(&mut trial, id, &replicas, 1);
    // Two more were members once, and one of them is none by what the others know.
    let nodes: Vec<NodeId> = (1..=5).map(NodeId).collect();
    let free = nodes
        .iter()
        .filter(|node| !replicas.iter().any(|one| one.1 == **node));
    let free: Vec<NodeId> = free.copied().collect();
    table.replica_max = 5;
    trial.state.partitions.insert(id, table);
    let members = |version, all: &[(ReplicaId, NodeId)]| Configuration {
        replica_max: 5,
        ..Configuration::first(version, all)
    };
    let (fourth, fifth) = ((ReplicaId(4), free[0]), (ReplicaId(5), free[1]));
    let newest = members(30, &[replicas[0], fourth, replicas[1], replicas[2]]);
    let older = members(25, &[fifth, replicas[0], replicas[1], replicas[2]]);
    let mut put = |(replica, node), configuration: &Configuration, ends| {
        trial.put(node, id, replica, None);
        let (last_term, last) = ends;
        let one = trial.replica(node, id).expect("it was put");
        one.leaderless = Some(Leaderless {
            last_term,
            last,
            configuration: configuration.clone(),
        });
    };
    put(fourth, &newest, (6, 40));
    put(fifth, &older, (9, 90));
    let first = trial.replica(replicas[0].1, id).expect("it is there");
    first.leaderless = Some(Leaderless {
        last_term: 6,
        last: 41,
        configuration: older.clone(),
    });
    trial.seconds(12);
    // Two of four are no majority. The first one's configuration is older, and its log is longer.
    assert_eq!(lost(&trial, id).base, replicas[0].0);
    // Who has most is waited for, and nobody else takes its place.
    let stall = Some("its disk is full".to_owned());
    trial.replica(replicas[0].1, id).expect("it is there").stall = stall;
    trial.seconds(1);
    assert!(waits(&trial, id).contains("its disk is full"));
    let first = trial.replica(replicas[0].1, id).expect("it is there");
    first.damage = Some("a bit".to_owned());
    trial.seconds(1);
    assert_eq!(lost(&trial, id).base, fourth.0);
}

#[test]
fn one_report_without_a_replica_is_no_loss() {
    let (mut trial, id, replicas) = partition();
    lose(&mut trial, id, &replicas, 1);
    trial
        .reports
        .insert(replicas[1].1, crate::meta::trial::report(replicas[1].1.0));
    trial.seconds(12);
    assert!(matches!(
        verdict(&trial.state, &trial.live, id),
        Verdict::Lost(..)
    ));
    // It has it again for a moment.
    trial.put(replicas[1].1, id, replicas[1].0, None);
    let members = members_of(&trial, id);
    trial.replica(replicas[1].1, id).expect("put").leaderless = Some(Leaderless {
        last_term: 5,
        last: 9,
        configuration: members,
    });
    trial.seconds(1);
    assert!(waits(&trial, id).contains("elect by themselves"));
    trial
        .reports
        .insert(replicas[1].1, crate::meta::trial::report(replicas[1].1.0));
    trial.seconds(1);
    assert!(waits(&trial, id).contains("has not said yet what became"));
    trial.seconds(1);
    assert_eq!(lost(&trial, id).base, replicas[0].0);
}

/// A partition of which a loss was accepted; its second survivor is its last one.
fn accepted() -> (Trial, GroupId, Vec<(ReplicaId, NodeId)>) {
    let (mut trial, id, replicas) = partition();
    accept_loss(&mut trial, id, &replicas);
    (trial, id, replicas)
}

/// Of a partition the first replica alone is left, and goes on.
fn accept_loss(trial: &mut Trial, id: GroupId, replicas: &[(ReplicaId, NodeId)]) {
    lose(trial, id, replicas, 1);
    trial.seconds(12);
    let recover = lost(trial, id);
    trial.done(Deed::Recover { recover });
}

#[test]
fn the_entry_is_of_what_was_decided() {
    let (mut trial, id, replicas) = partition();
    lose(&mut trial, id, &replicas, 1);
    trial.seconds(12);
    let recover = lost(&trial, id);
    let other = |change: fn(&mut Recover)| {
        let mut other = recover.clone();
        change(&mut other);
        Deed::Recover { recover: other }
    };
    assert_eq!(trial.refused(other(|it| it.version += 1)), Cause::Stale);
    assert_eq!(trial.refused(other(|it| it.group = META)), Cause::NoTable);
    assert_eq!(trial.refused(other(|it| it.base.0 = 9)), Cause::BadArgument);
    assert_eq!(trial.refused(other(|it| it.node.0 = 9)), Cause::BadArgument);
    trial.done(Deed::Recover {
        recover: recover.clone(),
    });
    let row = &trial.state.recoveries[&id];
    assert_eq!(
        (row.base, row.last, row.is_done),
        (replicas[0].0, ReplicaId(3), false)
    );
    assert_eq!(row.decided_ms, UNIX_MS);
    let wished: Vec<_> = trial.state.partitions[&id]
        .wished
        .clone()
        .into_iter()
        .collect();
    assert_eq!(wished, replicas[..1]);
    // Said again it changes nothing.
    let before = trial.state.clone();
    assert_eq!(trial.apply(Deed::Recover { recover }), Outcome::Done);
    assert_eq!(trial.state, before);
    // A lost one is never wished again.
    let wish = crate::meta::command::Wish {
        group: id,
        version: trial.state.partitions[&id].version,
        add: Vec::new(),
        adopt: vec![replicas[1]],
        drop: Vec::new(),
    };
    assert_eq!(trial.refused(Deed::Wish { wish }), Cause::BadArgument);
    // With its table the row goes.
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let table = TableId(1);
    let command = crate::meta::command::Command {
        unix_ms: UNIX_MS + 1_000_000_000,
        deed: Deed::ForgetTable { table },
    };
    trial.apply_command(&command);
    assert!(trial.state.recoveries.is_empty());
}

#[test]
fn the_base_is_told_until_an_entry_says_that_it_has_gone_on() {
    let (mut trial, id, replicas) = accepted();
    let (base, node) = replicas[0];
    let last = ReplicaId(3);
    let recover = Directive::Recover {
        group: id,
        replica: base,
        last,
    };
    assert_eq!(told_to(&trial, node), std::slice::from_ref(&recover));
    let far = |trial: &Trial| match verdict(&trial.state, &trial.live, id) {
        Verdict::GoesOn(goes, at, far) if (goes, at) == (base, node) => far,
        other => panic!("{other:?}"),
    };
    assert!(far(&trial).ends_with("is to go on alone, and is about to"));
    // Its disk has no room: it is no use to wait for it.
    let one = trial.replica(node, id).expect("it is there");
    one.stall = Some("the disk is full".to_owned());
    trial.seconds(1);
    assert!(waits(&trial, id).ends_with("and does not for now: the disk is full"));
    // It leads, and no entry of its own says yet who the members are; or others lead it.
    let one = trial.replica(node, id).expect("it is there");
    (one.role, one.leaderless, one.stall) = (Role::Follower, None, None);
    trial.seconds(1);
    assert_eq!(told_to(&trial, node), [recover]);
    assert!(far(&trial).contains("another one leads it still"));
    leads_alone(&mut trial, id, (base, node));
    trial.seconds(1);
    assert_eq!(told_to(&trial, node), []);
    let mut notices = Notices::default();
    let said = notices.look(&trial.state, &trial.live);
    assert!(said.iter().any(|line| line.contains("is to go on alone")));
    let due = repairs(&trial.state, &trial.live, UNIX_MS);
    let noted = due
        .iter()
        .find(|it| matches!(it.deed, Deed::NoteRecovered { .. }));
    trial.apply_command(noted.expect("it is due"));
    assert!(trial.state.recoveries[&id].is_done);
    let said = notices.look(&trial.state, &trial.live);
    assert!(said.iter().any(|line| line.contains("has gone on with")));
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
    assert_eq!(verdict(&trial.state, &trial.live, id), Verdict::Led);
    // Restarted it is told nothing, and is the one.
    leaderless_alone(&mut trial, id, (base, node));
    trial.seconds(1);
    assert_eq!(told_to(&trial, node), []);
}

fn leaderless_alone(trial: &mut Trial, id: GroupId, (_, node): (ReplicaId, NodeId)) {
    let one = trial.replica(node, id).expect("it is there");
    (one.role, one.configuration) = (Role::Follower, None);
}

/// The node with a lost replica is back.
fn comes_back(trial: &mut Trial, id: GroupId, (replica, node): (ReplicaId, NodeId)) {
    trial
        .reports
        .insert(node, crate::meta::trial::report(node.0));
    trial.put(node, id, replica, None);
    let report = trial.reports.get_mut(&node).expect("a node");
    (report.incarnation, report.asks) = (2, 7);
}

#[test]
fn a_lost_replica_goes_once_another_one_has_led_without_it() {
    let (mut trial, id, replicas) = accepted();
    let (base, node) = replicas[0];
    let back = replicas[1];
    comes_back(&mut trial, id, back);
    trial.seconds(2);
    assert_eq!(told_to(&trial, back.1), [], "the base has not led");
    leads_alone(&mut trial, id, (base, node));
    trial.seconds(1);
    assert_eq!(told_to(&trial, back.1), [], "and no entry says so");
    let groups = vec![(id, base)];
    trial.done(Deed::NoteRecovered { groups });
    let fence = Directive::Fence {
        group: id,
        replica: back.0,
    };
    assert_eq!(told_to(&trial, back.1), std::slice::from_ref(&fence));
    // The base does not go on: the lost one may be the last copy that does.
    trial.replica(node, id).expect("it is there").stall = Some("a full disk".to_owned());
    trial.seconds(1);
    assert_eq!(told_to(&trial, back.1), []);
    let one = trial.replica(node, id).expect("it is there");
    one.stall = None;
    trial.seconds(1);
    assert_eq!(told_to(&trial, back.1), [fence]);
    leaderless_alone(&mut trial, id, (base, node));
    trial.seconds(1);
    assert_eq!(told_to(&trial, back.1), [], "nobody leads");
}

#[test]
fn the_word_of_who_was_lost_and_what_was_known_before_is_over() {
    let (mut trial, id, replicas) = partition();
    // The last leader had a newer configuration than the base will ever have.
    let known = trial.live.group(id).expect("it is led").clone();
    let dead = trial.replica(known.node, id).expect("it leads");
    dead.term = 1 << 30;
    dead.configuration.as_mut().expect("it leads").version = 1000;
    trial.hear();
    let left: Vec<_> = replicas
        .iter()
        .filter(|one| one.1 != known.node)
        .copied()
        .collect();
    let order = [left[0], left[1], (known.leader, known.node)];
    lose(&mut trial, id, &order, 1);
    trial.seconds(12);
    let recover = lost(&trial, id);
    assert_eq!((recover.base, recover.node), left[0]);
    trial.done(Deed::Recover { recover });
    leads_alone(&mut trial, id, left[0]);
    trial.seconds(1);
    let led = trial.live.led_group(id).expect("the base leads");
    assert_eq!((led.leader, led.configuration.version), (left[0].0, 20));
    // The dead leader is not dead, and says so.
    comes_back(&mut trial, id, (known.leader, known.node));
    let dead = trial.replica(known.node, id).expect("it was put");
    (dead.role, dead.term) = (Role::Leader, 1 << 40);
    dead.configuration = Some(known.configuration);
    trial.seconds(1);
    let led = trial.live.led_group(id).expect("the base leads");
    assert_eq!(led.leader, left[0].0);
}

#[test]
fn who_asks_is_freed_but_for_groups_that_go_on_without_it() {
    let (mut trial, id, replicas) = accepted();
    let (base, node) = replicas[0];
    let free =
        |trial: &Trial, node: NodeId| freed(&trial.state, &trial.live, &trial.reports[&node]);
    assert_eq!(free(&trial, node), None, "it does not ask");
    trial.reports.get_mut(&node).expect("a node").asks = 3;
    assert_eq!(free(&trial, node), None, "that report was not taken");
    trial.seconds(1);
    let but = |asked, held: &[GroupId]| {
        Some(Directive::Free {
            asked,
            held: held.to_vec(),
        })
    };
    assert_eq!(
        free(&trial, node),
        but(3, &[id]),
        "it is told to go on first"
    );
    comes_back(&mut trial, id, replicas[1]);
    trial.seconds(1);
    assert_eq!(free(&trial, replicas[1].1), but(7, &[id]));
    leads_alone(&mut trial, id, (base, node));
    let groups = vec![(id, base)];
    trial.done(Deed::NoteRecovered { groups });
    assert_eq!(free(&trial, node), but(3, &[]));
    assert_eq!(free(&trial, replicas[1].1), but(7, &[id]));
    // A later process of that node was heard.
    let mut older = trial.reports[&replicas[1].1].clone();
    older.incarnation = 1;
    assert_eq!(freed(&trial.state, &trial.live, &older), None);
    older.cluster.0 += 1;
    assert_eq!(freed(&trial.state, &trial.live, &older), None);
}

#[test]
fn one_that_was_to_go_on_and_is_gone_is_given_up_for_another() {
    let (mut trial, id, replicas) = partition();
    let kept = trial.reports.clone();
    accept_loss(&mut trial, id, &replicas);
    // It dies as well, and another one is back.
    trial.reports.remove(&replicas[0].1);
    trial
        .reports
        .insert(replicas[1].1, kept[&replicas[1].1].clone());
    leaderless(&mut trial, id, replicas[1].1, (5, 8));
    trial.seconds(12);
    let recover = lost(&trial, id);
    assert_eq!((recover.base, recover.node), replicas[1]);
    trial.done(Deed::Recover { recover });
    assert!(trial.state.is_lost(id, replicas[0].0) && !trial.state.is_lost(id, replicas[1].0));
    leads_alone(&mut trial, id, replicas[1]);
    let groups = vec![(id, replicas[1].0), (id, replicas[0].0)];
    trial.done(Deed::NoteRecovered { groups });
    assert!(trial.state.recoveries[&id].is_done);
    // From then on the first one is none of the group, also where nobody else is left.
    comes_back(&mut trial, id, replicas[0]);
    leaderless_with(&mut trial, id, replicas[0]);
    trial.reports.remove(&replicas[1].1);
    trial.seconds(12);
    assert!(waits(&trial, id).contains("no sound replica"));
}

#[test]
fn those_that_were_given_up_and_are_back_elect_nobody_by_themselves() {
    // Both are held until somebody has gone on, and who was to do so is gone.
    let (mut trial, id, replicas) = partition();
    let kept = trial.reports.clone();
    accept_loss(&mut trial, id, &replicas);
    trial.reports.remove(&replicas[0].1);
    for (back, last) in [(replicas[1], 8), (replicas[2], 9)] {
        let (_, node) = back;
        trial.reports.insert(node, kept[&node].clone());
        leaderless(&mut trial, id, node, (5, last));
    }
    trial.seconds(12);
    let recover = lost(&trial, id);
    assert_eq!((recover.base, recover.node), replicas[2]);
}

fn leaderless_with(trial: &mut Trial, id: GroupId, (replica, node): (ReplicaId, NodeId)) {
    trial.replica(node, id).expect("it is there").leaderless = Some(Leaderless {
        last_term: 9,
        last: 99,
        configuration: Configuration::first(1, &[(replica, node)]),
    });
}

/// The base has led, and has one more by its side, which learns.
fn goes_on_with(trial: &mut Trial, id: GroupId, replicas: &[(ReplicaId, NodeId)]) -> Configuration {
    let (base, node) = replicas[0];
    leads_alone(trial, id, (base, node));
    let nodes = (1..=5).map(NodeId);
    let mut free = nodes.filter(|node| !replicas.iter().any(|one| one.1 == *node));
    let (fourth, there) = (ReplicaId(4), free.next().expect("five nodes"));
    trial.put(there, id, fourth, None);
    let one = trial.replica(node, id).expect("it is there");
    let members = one.configuration.as_mut().expect("it leads");
    (members.version, members.replica_max) = (25, 4);
    members.learners.insert(fourth);
    members.nodes.insert(fourth, there);
    members.clone()
}

#[test]
fn a_base_that_has_gone_on_and_starts_again_is_freed_though_no_entry_of_meta_says_so() {
    let (mut trial, id, replicas) = accepted();
    let node = replicas[0].1;
    let members = goes_on_with(&mut trial, id, &replicas);
    let there = members.nodes[&ReplicaId(4)];
    // It stood still for want of room, so that nothing was noted; then both nodes start again.
    let one = trial.replica(node, id).expect("it is there");
    (one.role, one.configuration) = (Role::Follower, None);
    one.leaderless = Some(Leaderless {
        last_term: 1 << 20,
        last: 30,
        configuration: members,
    });
    for node in [node, there] {
        let report = trial.reports.get_mut(&node).expect("a node");
        (report.incarnation, report.asks) = (2, 4);
    }
    trial.seconds(1);
    assert!(!trial.state.recoveries[&id].is_done);
    // It would refuse to go on alone, for it is not alone; so it must not wait for that.
    for node in [node, there] {
        let report = &trial.reports[&node];
        let free = Directive::Free {
            asked: 4,
            held: Vec::new(),
        };
        assert_eq!(freed(&trial.state, &trial.live, report), Some(free));
    }
}

#[test]
fn a_group_has_gone_on_whoever_leads_those_that_the_base_has_added() {
    let (mut trial, id, replicas) = accepted();
    let mut members = goes_on_with(&mut trial, id, &replicas);
    let there = members.nodes[&ReplicaId(4)];
    members.learners.clear();
    members.voters.insert(ReplicaId(4));
    let base = trial.replica(replicas[0].1, id).expect("it is there");
    (base.role, base.configuration, base.applied) = (Role::Follower, None, 25);
    let fourth = trial.replica(there, id).expect("it was put");
    (fourth.role, fourth.term, fourth.applied) = (Role::Leader, 1 << 21, 25);
    fourth.configuration = Some(members);
    trial.seconds(1);
    let noted = recovered(&trial.state, &trial.live).expect("it has gone on");
    trial.done(noted);
    assert!(trial.state.recoveries[&id].is_done);
}

#[test]
fn a_meta_service_that_went_on_alone_leaves_out_what_the_lost_ones_may_have_given() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 1, 3));
    trial.rounds(5);
    let (id, before) = (group(table.0, 0), trial.state.clone());
    let recover = |number| Deed::RecoverMeta {
        epoch: epoch(number),
    };
    trial.done(recover(1));
    let cluster = |state: &State| state.cluster.clone().expect("begun");
    let (old, new) = (cluster(&before), cluster(&trial.state));
    assert!(new.next_table > old.next_table && new.next_node > old.next_node);
    assert!(new.tables_revision > old.tables_revision);
    assert!(new.nodes_revision > old.nodes_revision);
    let row = &trial.state.partitions[&META];
    assert_eq!(row.wished, BTreeMap::from([(ReplicaId(1), NodeId(1))]));
    assert_eq!((row.replica_max, row.unmade.len()), (5000, 0));
    let (old, row) = (&before.partitions[&id], &trial.state.partitions[&id]);
    assert_eq!(row.wished, old.wished, "the table is as it was");
    assert!(row.replica_max > old.replica_max);
    assert_eq!(trial.state.epoch(), epoch(1));
    // The same again, or an earlier one, is known.
    let once = trial.state.clone();
    trial.done(recover(1));
    trial.done(recover(0));
    assert_eq!(trial.state, once);
    trial.done(recover(2));
    assert_eq!(trial.state.epoch(), epoch(2));
    assert!(trial.state.epochs.contains_key(&1));
}

#[test]
fn what_has_a_number_that_was_left_out_is_let_alone() {
    let mut trial = Trial::new(2);
    trial.rounds(5);
    let lost = trial.state.cluster.as_ref().expect("begun").next_table;
    let deed = Deed::RecoverMeta { epoch: epoch(1) };
    trial.done(deed);
    let next = trial.state.cluster.as_ref().expect("begun").next_table;
    // A table that only the lost ones had made; and a node that only they had given a number.
    for table in [lost.0, next.0 - 1, next.0] {
        trial.put(NodeId(2), group(table, 0), ReplicaId(1), None);
    }
    trial.hear();
    let node = trial.reports[&NodeId(2)].clone();
    let told = directives(&trial.state, &trial.live, &node);
    let destroys = |one: &Directive| matches!(one, Directive::Destroy { .. });
    assert!(!told.iter().any(destroys), "{told:?}");
    let stranger = |number| {
        let told = directives(&trial.state, &trial.live, &report(number));
        matches!(told[..], [Directive::Stop { .. }])
    };
    assert!(!stranger(3) && !stranger(102) && !stranger(103));
    // Numbers that were given and taken back are still known for that.
    trial.done(Deed::RemoveNode { node: NodeId(2) });
    trial.live = Live::new();
    let told = directives(&trial.state, &trial.live, &report(2));
    assert!(matches!(told[..], [Directive::Stop { .. }]), "{told:?}");
}

#[test]
fn of_two_recoveries_of_one_number_none_forgets_what_the_other_left_out() {
    let mut trial = Trial::new(2);
    trial.rounds(5);
    let lost = trial.state.cluster.as_ref().expect("begun").next_table;
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    let beside = Epoch {
        drawn: epoch(1).drawn + 1,
        base: ReplicaId(2),
        node: NodeId(2),
        ..epoch(1)
    };
    trial.done(Deed::RecoverMeta { epoch: beside });
    trial.put(NodeId(2), group(lost.0, 0), ReplicaId(1), None);
    trial.hear();
    let node = trial.reports[&NodeId(2)].clone();
    let told = directives(&trial.state, &trial.live, &node);
    let destroys = |one: &Directive| matches!(one, Directive::Destroy { .. });
    assert!(!told.iter().any(destroys), "{told:?}");
}

#[test]
fn a_table_that_may_have_been_open_is_dropped_as_one_that_was() {
    let mut trial = Trial::new(3);
    let Outcome::Table { table } = trial.done(Deed::CreateTable {
        table: new_table("t", 1, 3),
    }) else {
        panic!("a table");
    };
    let id = group(table.0, 0);
    assert!(waits(&trial, id).contains("Nothing was written to it"));
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    assert!(waits(&trial, id).contains("ask again in some seconds"));
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1000,
        or_absent: false,
    });
    let status = trial.state.tables[&table].status;
    let now_s = UNIX_MS / 1000;
    assert!(
        matches!(status, TableStatus::Dropped { was_open: true, ends_s, .. } if ends_s > now_s),
        "{status:?}"
    );
}

#[test]
fn an_empty_voter_does_not_pass_for_what_is_left_of_a_table() {
    // All of its first voters may have been made, and be lost but for this node, which has none.
    let mut trial = Trial::new(3);
    let Outcome::Table { table } = trial.done(Deed::CreateTable {
        table: new_table("t", 1, 3),
    }) else {
        panic!("a table");
    };
    let id = group(table.0, 0);
    let first = trial.state.partitions[&id].first.clone();
    let nodes: Vec<NodeId> = first.into_values().collect();
    let is_made = |trial: &Trial| {
        let told = directives(&trial.state, &trial.live, &trial.reports[&nodes[2]]);
        let is_it =
            |one: &Directive| matches!(one, Directive::Create { group, .. } if *group == id);
        told.iter().any(is_it)
    };
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    trial.hear();
    assert!(is_made(&trial), "all nodes are there, and have nothing");
    let gone = trial.reports.remove(&nodes[0]).expect("a node");
    trial.seconds(6);
    assert!(!is_made(&trial));
    trial.reports.insert(nodes[0], gone);
    trial.put(nodes[0], id, ReplicaId(1), None);
    trial.seconds(1);
    assert!(is_made(&trial), "it has begun, and has nothing either");
    trial.replica(nodes[0], id).expect("it was put").applied = 2;
    trial.seconds(1);
    assert!(!is_made(&trial));
}

#[test]
fn a_node_that_is_in_no_list_and_runs_is_not_lost() {
    let (mut trial, id, replicas) = partition();
    let (unlisted, fourth) = (NodeId(6), ReplicaId(9));
    lose(&mut trial, id, &replicas, 1);
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    // What the lost ones alone knew: one of the three is on a node that they gave a number.
    let one = trial.replica(replicas[0].1, id).expect("it is there");
    let knows = one.leaderless.as_mut().expect("nobody leads");
    let members = [replicas[0], replicas[1], (fourth, unlisted)];
    knows.configuration = Configuration {
        version: 90,
        ..Configuration::first(90, &members)
    };
    trial.reports.insert(unlisted, report(unlisted.0));
    trial.seconds(12);
    assert!(waits(&trial, id).contains("node 6, which is in no list, and runs"));
    trial.reports.remove(&unlisted);
    trial.seconds(12);
    assert_eq!(lost(&trial, id).base, replicas[0].0);
}
