//! Tests of a node's reports, on a database in memory.

use std::sync::Arc;

use esker::internals::env::sim::SimWorld;
use esker::{Db, KeyspaceOptions};
use esker_raft::{Configuration, NodeId};

use super::*;
use crate::node::Alarm;
use crate::partition::signature::Signature;

fn member(group: u64, replica: u64) -> Member {
    Member {
        group: GroupId(group),
        replica: ReplicaId(replica),
    }
}

fn home() -> Home {
    let at = |port| std::net::SocketAddrV4::new([127, 0, 0, 1].into(), port);
    Home {
        identity: Identity {
            cluster: 77,
            node: NodeId(2),
            incarnation: 5,
            is_settled: true,
            instance: 0,
            before: [0; 16],
        },
        addresses: Addresses {
            client: at(1),
            meta: None,
            peer: at(2).into(),
        },
        label: "rack 1".to_owned(),
    }
}

/// Two replicas that take part, one that leads and one that learns; and one that has not begun.
fn node() -> (Db, Replicas, BTreeMap<GroupId, Status>) {
    let db = Db::builder("/db")
        .env(SimWorld::new(1).env())
        .open()
        .unwrap();
    let (replicas, mut statuses) = (Replicas::default(), BTreeMap::new());
    for group in [7, 8, 9] {
        let options = KeyspaceOptions {
            is_unlogged: true,
            ..KeyspaceOptions::default()
        };
        let keyspace = db.keyspace_with(&format!("{group}"), options).unwrap();
        let view = View::new(
            member(group, 1),
            keyspace,
            Signature::default(),
            (40, 0, 1),
            Alarm::default(),
        );
        replicas.set_view(Arc::new(view));
        let mut configuration = Configuration::first(1, &[(ReplicaId(group - 6), NodeId(2))]);
        if group == 8 {
            configuration.learners.insert(ReplicaId(1));
        }
        let status = Status {
            replica: ReplicaId(1),
            term: 3,
            leader: Some(ReplicaId(group - 6)),
            is_established: group == 7,
            commit: 41,
            applied: 40,
            compacted: 1,
            last: 41,
            last_term: 3,
            configuration,
            is_going_alone: false,
            damage: None,
        };
        if group < 9 {
            statuses.insert(GroupId(group), status);
        }
    }
    (db, replicas, statuses)
}

fn report(reporter: &mut Reporter) -> Report {
    let (db, replicas, statuses) = node();
    let knowledge = Knowledge {
        tables_revision: 6,
        ..Knowledge::default()
    };
    let space = Space {
        total: 100,
        free: 30,
    };
    let report = reporter.report(&statuses, &replicas, (&knowledge, space, 0));
    drop((replicas, db));
    report
}

#[test]
fn a_report_has_every_replica_with_its_role() {
    let report = report(&mut Reporter::new(home(), &Found::default()));
    assert_eq!(
        (report.cluster, report.node, report.incarnation),
        (ClusterId(77), NodeId(2), 5)
    );
    assert_eq!((report.tables_revision, report.space_free_bytes), (6, 30));
    let roles: Vec<_> = report
        .replicas
        .iter()
        .map(|it| (it.group.0, it.role))
        .collect();
    assert_eq!(
        roles,
        [(7, Role::Leader), (8, Role::Learner), (9, Role::Learner)]
    );
    let told: Vec<_> = report
        .replicas
        .iter()
        .map(|it| it.configuration.is_some())
        .collect();
    assert_eq!(
        told,
        [true, false, false],
        "who leads says who the members are"
    );
    assert_eq!(report.replicas[0].applied, 40);
    assert_eq!(Report::decode(&report.encode()).unwrap(), report);
}

#[test]
fn whoever_was_elected_and_has_committed_nothing_is_not_told_to_lead() {
    let (_db, replicas, mut statuses) = node();
    let status = statuses.get_mut(&GroupId(7)).unwrap();
    status.is_established = false;
    let knowledge = Knowledge::default();
    let mut reporter = Reporter::new(home(), &Found::default());
    let report = reporter.report(&statuses, &replicas, (&knowledge, Space::default(), 0));
    let one = &report.replicas[0];
    assert_eq!((one.role, &one.configuration), (Role::Follower, &None));
    assert_eq!(one.leaderless, None, "nor that nobody does");
}

#[test]
fn a_damaged_replica_is_reported_until_it_is_destroyed() {
    let found = Found {
        damaged: vec![(member(9, 1), "its log is gone".to_owned())],
        ..Found::default()
    };
    let mut reporter = Reporter::new(home(), &found);
    let elsewhere = NodeEvent::Damaged(member(30, 4), "a block is damaged".to_owned());
    assert!(reporter.note(&elsewhere));
    assert!(reporter.note(&NodeEvent::Damaged(member(7, 1), "another".to_owned())));
    let told = report(&mut reporter).replicas;
    let damaged: Vec<_> = told.iter().filter(|it| it.damage.is_some()).collect();
    let groups: Vec<_> = damaged.iter().map(|it| it.group.0).collect();
    assert_eq!(groups, [7, 9, 30]);
    assert!(
        damaged
            .iter()
            .all(|it| it.role == Role::Follower && it.configuration.is_none())
    );
    reporter.note(&NodeEvent::Destroyed(member(30, 4)));
    assert_eq!(report(&mut reporter).replicas.len(), 3);
}

#[test]
fn meta_hears_at_once_of_a_group_that_can_be_written_to_and_of_what_goes() {
    let mut reporter = Reporter::new(home(), &Found::default());
    let leader = |replica| NodeEvent::Leader {
        member: member(7, 1),
        term: 3,
        leader: Some((ReplicaId(replica), None)),
    };
    assert!(!reporter.note(&leader(2)), "its own node says so");
    assert!(!reporter.note(&leader(1)), "it may never commit anything");
    assert!(reporter.note(&NodeEvent::Established(member(7, 1))));
    assert!(reporter.note(&NodeEvent::Left(member(7, 1))));
    assert!(!reporter.note(&NodeEvent::BadFrame("short".to_owned())));
}

#[test]
fn what_was_destroyed_here_is_told_for_it_is_never_made_again() {
    let mut reporter = Reporter::new(home(), &Found::default());
    assert_eq!(report(&mut reporter).lost, []);
    for replica in [3, 5, 4] {
        assert!(reporter.note(&NodeEvent::Destroyed(member(30, replica))));
    }
    reporter.note(&NodeEvent::Destroyed(member(31, 1)));
    let lost = [(GroupId(30), ReplicaId(5)), (GroupId(31), ReplicaId(1))];
    assert_eq!(report(&mut reporter).lost, lost);
}

#[test]
fn no_replica_goes_on_while_the_raft_log_has_no_room() {
    let mut reporter = Reporter::new(home(), &Found::default());
    let stalls = |reporter: &mut Reporter| {
        let told = report(reporter).replicas;
        told.into_iter().map(|one| one.stall).collect::<Vec<_>>()
    };
    assert_eq!(stalls(&mut reporter), [None, None, None]);
    assert!(reporter.set_log_is_full(true), "meta hears of it at once");
    assert!(!reporter.set_log_is_full(true));
    let why = || Some(stall::LOG_HAS_NO_ROOM.to_owned());
    assert_eq!(stalls(&mut reporter), [why(), why(), why()]);
    assert!(reporter.set_log_is_full(false));
    assert_eq!(stalls(&mut reporter), [None, None, None]);
}

#[test]
fn a_node_asks_until_its_last_report_is_answered() {
    let found = Found {
        running: vec![member(0, 1)],
        ..Found::default()
    };
    let mut reporter = Reporter::new(home(), &found);
    assert_eq!(report(&mut reporter).asks, 0, "meta itself is not held");
    let running = vec![member(0, 1), member(7, 1)];
    let mut reporter = Reporter::new(
        home(),
        &Found {
            running,
            ..Found::default()
        },
    );
    assert!(reporter.free(0, 0).is_none() && reporter.is_holding());
    let first = report(&mut reporter).asks;
    let second = report(&mut reporter).asks;
    assert!(0 < first && first < second);
    assert_eq!(
        reporter.free(first, 0),
        None,
        "that answer was long on its way"
    );
    // Of two groups it is not known yet what becomes of the replicas here: it asks on, at leisure.
    assert_eq!(reporter.free(second, 2), Some(true));
    assert!(!reporter.is_holding());
    let third = report(&mut reporter).asks;
    assert_eq!(reporter.free(third, 2), Some(false), "it is no news");
    let fourth = report(&mut reporter).asks;
    assert!(second < third && third < fourth);
    assert_eq!(reporter.free(fourth, 0), Some(true));
    assert_eq!(reporter.free(fourth, 0), None, "said twice it is nothing");
    assert_eq!(report(&mut reporter).asks, 0);
}

#[test]
fn who_has_no_leader_says_what_it_knows() {
    let (_db, replicas, mut statuses) = node();
    let status = statuses.get_mut(&GroupId(7)).unwrap();
    (status.leader, status.is_established) = (None, false);
    let members = status.configuration.clone();
    let mut reporter = Reporter::new(home(), &Found::default());
    let told = |reporter: &mut Reporter, statuses: &BTreeMap<GroupId, Status>| {
        let knowledge = Knowledge::default();
        let report = reporter.report(statuses, &replicas, (&knowledge, Space::default(), 0));
        report.replicas[0].clone()
    };
    let one = told(&mut reporter, &statuses);
    let leaderless = Leaderless {
        last_term: 3,
        last: 41,
        configuration: members,
    };
    assert_eq!(
        (one.configuration, one.leaderless),
        (None, Some(leaderless))
    );
    // While it goes on alone no entry says who the members are, whether it leads or not.
    for leader in [None, Some(ReplicaId(1))] {
        let status = statuses.get_mut(&GroupId(7)).unwrap();
        (status.leader, status.is_going_alone) = (leader, true);
        status.is_established = leader.is_some();
        let one = told(&mut reporter, &statuses);
        assert_eq!((one.configuration, one.leaderless), (None, None));
        assert_eq!(one.role, Role::Follower);
    }
}

#[test]
fn what_is_known_without_a_leader_has_a_bound_of_its_own() {
    let voters = [
        (ReplicaId(1), NodeId(1)),
        (ReplicaId(2), NodeId(2)),
        (ReplicaId(3), NodeId(3)),
    ];
    let leaderless = Leaderless {
        last_term: 9,
        last: 9,
        configuration: Configuration::first(1, &voters),
    };
    let replica = |group| ReplicaReport {
        leaderless: Some(leaderless.clone()),
        ..nothing_of(member(group, 1))
    };
    let mut replicas: Vec<_> = (1..=25_000).map(replica).collect();
    limit_leaderless(replicas.iter_mut());
    let told = replicas
        .iter()
        .take_while(|one| one.leaderless.is_some())
        .count();
    assert!((2500..4000).contains(&told), "{told}");
    let rest = &replicas[told..];
    assert!(
        rest.iter().all(|one| one.leaderless.is_none()),
        "the first ones"
    );
    let (db, none, statuses) = node();
    let space = Space::default();
    let mut reporter = Reporter::new(home(), &Found::default());
    let report = reporter.report(&statuses, &none, (&Knowledge::default(), space, 0));
    drop(db);
    let report = Report { replicas, ..report };
    assert!(report.encode().len() < crate::meta::limits::REPORT_BYTES_MAX);
}
