//! What is said of nodes, and how often.

use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use esker_rpc::message::own::ShowNodesRequest;

use crate::meta::command::Deed;
use crate::meta::trial::{Trial, epoch, new_node, new_table, report};

use super::*;

/// What is said in so many seconds.
fn listen(trial: &mut Trial, notices: &mut Notices, seconds: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..seconds {
        trial.hear();
        lines.extend(notices.look(&trial.state, &trial.live));
    }
    lines
}

#[test]
fn a_silent_node_is_told_of_once_with_what_to_do() {
    let mut trial = Trial::new(4);
    trial.table(new_table("t", 4, 3));
    let mut notices = Notices::default();
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
    // Whatever it led is led by others.
    let gone = trial.reports[&NodeId(3)].clone();
    trial.silence(3);
    let lines = listen(&mut trial, &mut notices, 700);
    let replicas = trial.state.wished_counts()[&NodeId(3)];
    assert_eq!(
        lines,
        [
            format!(
                "node 3 is silent for 10 s: its {replicas} replicas are made anew elsewhere in \
                 590 s, or now by `esker node remove 3`"
            ),
            format!(
                "node 3 is silent for 600 s, and it counts as dead: its {replicas} replicas are \
                 made anew elsewhere, where there is a host for them"
            ),
        ]
    );
    trial.reports.insert(NodeId(3), gone);
    trial.hear();
    assert_eq!(notices.look(&trial.state, &trial.live), ["node 3 is back"]);
    trial.hear();
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
}

#[test]
fn nobody_is_told_that_replicas_are_made_elsewhere_where_there_is_no_elsewhere() {
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 4, 3));
    let mut notices = Notices::default();
    trial.silence(3);
    let lines = listen(&mut trial, &mut notices, 20);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let replicas = trial.state.wished_counts()[&NodeId(3)];
    assert_eq!(
        lines[0],
        format!(
            "node 3 is silent for 10 s; {replicas} of its replicas wait for another node: every \
             host that lives and stays has one of the same partition (t.0 is one): start it again, \
             or bring another one"
        )
    );
}

#[test]
fn both_what_waits_and_what_is_made_anew_is_told_of_a_silent_node() {
    // It was told of those that wait alone, as if nothing became of all others.
    let mut trial = Trial::new(4);
    trial.table(new_table("t", 4, 3));
    trial.table(new_table("wide", 2, 4));
    let mut notices = Notices::default();
    trial.silence(3);
    let lines = listen(&mut trial, &mut notices, 20);
    let moving = trial.state.wished_counts()[&NodeId(3)] - 2;
    assert_eq!(
        lines,
        [format!(
            "node 3 is silent for 10 s: {moving} of its replicas are made anew elsewhere in 590 s, \
             or now by `esker node remove 3`; 2 of its replicas wait for another node: every host \
             that lives and stays has one of the same partition (wide.0 is one): start it again, \
             or bring another one"
        )]
    );
    // As the list of nodes has it for who reads no log.
    let facts = crate::meta::node_facts::node_facts(&trial.state, &trial.live);
    assert_eq!((facts[2].stuck, facts[2].leaderless), (2, 0));
    assert!(facts[2].waits_for.starts_with("2 of its replicas wait"));
    let leads = facts
        .iter()
        .filter(|one| one.leads_meta)
        .map(|one| one.node);
    assert_eq!(leads.collect::<Vec<_>>(), [1]);
}

#[test]
fn a_node_whose_place_another_one_has_is_told_of_as_that() {
    // Node 2's directory is gone: it joins again as node 4, where node 2 was.
    let mut trial = Trial::new(3);
    let mut notices = Notices::default();
    notices.look(&trial.state, &trial.live);
    trial.reports.remove(&NodeId(2));
    let mut again = new_node(2, "");
    again.nonce = 77;
    let addresses = again.addresses.clone();
    trial.done(Deed::RegisterNode { node: again });
    trial.reports.insert(
        NodeId(4),
        crate::meta::report::Report {
            addresses,
            ..report(4)
        },
    );
    let lines = listen(&mut trial, &mut notices, 12);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("node 4 is at its address now"),
        "{lines:?}"
    );
    // Nothing counts on it, or soon nothing will: its number goes by itself.
    trial.even_out(40);
    let lines = notices.look(&trial.state, &trial.live);
    assert_eq!(
        lines,
        ["node 2 is let go of: its number is given to nobody"]
    );
}

#[test]
fn replicas_that_do_not_go_on_are_told_of_with_the_reason_until_they_do() {
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 4, 3));
    let mut notices = Notices::default();
    trial.hear();
    notices.look(&trial.state, &trial.live);
    let report = trial.reports.get_mut(&NodeId(2)).expect("a node");
    for replica in report.replicas.iter_mut().take(3) {
        replica.stall = Some("the disk is full".to_owned());
    }
    trial.hear();
    assert_eq!(
        notices.look(&trial.state, &trial.live),
        [
            "3 replicas on node 2 do not go on, and count for nothing until they do: the disk is \
             full"
        ]
    );
    trial.hear();
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
    let report = trial.reports.get_mut(&NodeId(2)).expect("a node");
    report.replicas.iter_mut().for_each(|one| one.stall = None);
    trial.hear();
    assert_eq!(
        notices.look(&trial.state, &trial.live),
        ["all replicas on node 2 go on again"]
    );
}

#[test]
fn a_clock_that_is_wrong_is_told_of_once_and_when_it_is_right_again() {
    let mut trial = Trial::new(3);
    let mut notices = Notices::default();
    let mut look = |ahead_ms: i64, seconds: u64| {
        let mut lines = Vec::new();
        for _ in 0..seconds {
            trial.hear();
            trial.live.hear_clock(NodeId(2), ahead_ms);
            lines.extend(notices.clocks(&trial.state, &trial.live));
        }
        lines
    };
    assert_eq!(look(900, 20), []);
    let line = "the clock of node 2 is 12 s behind that of node 1: records end late where it leads";
    assert_eq!(look(-12_000, 20), [(Level::Warning, line.to_owned())]);
    let line = "the clock of node 2 is near that of node 1 again";
    assert_eq!(look(-900, 20), [(Level::Note, line.to_owned())]);
    // Whoever is silent is not told of; it is the same news when it is back.
    assert_eq!(look(60_000, 20).len(), 1);
    let gone = trial.reports.remove(&NodeId(2)).expect("a node");
    for _ in 0..20 {
        trial.hear();
        assert_eq!(notices.clocks(&trial.state, &trial.live), []);
    }
    trial.reports.insert(NodeId(2), gone);
    trial.hear();
    trial.live.hear_clock(NodeId(2), 60_000);
    assert_eq!(notices.clocks(&trial.state, &trial.live).len(), 1);
}

#[test]
fn a_node_that_is_in_no_list_is_told_of_once_and_listed_beside_the_others() {
    // Its number was given by a meta service of before, in entries that are lost.
    let mut trial = Trial::new(2);
    trial.done(Deed::RecoverMeta { epoch: epoch(1) });
    trial.reports.insert(NodeId(3), report(3));
    let mut notices = Notices::default();
    trial.hear();
    let lines = notices.unlisted(&trial.live);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let (level, line) = &lines[0];
    assert_eq!(*level, Level::Warning);
    assert!(
        line.starts_with("node 3 at 127.0.0.3:34003 reports, and is in no list"),
        "{line}"
    );
    let shown = |trial: &mut Trial| match trial.ask(&MetaCall::ShowNodes(ShowNodesRequest {})) {
        MetaAnswer::ShowNodes(told) => (told.nodes.len(), told.hint_message),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&mut trial), (2, line.clone()));
    trial.hear();
    assert_eq!(notices.unlisted(&trial.live), []);
    // It is gone, and its number is given anew to nobody.
    trial.reports.remove(&NodeId(3));
    trial.seconds(6);
    assert_eq!(shown(&mut trial), (2, String::new()));
    assert_eq!(notices.unlisted(&trial.live), []);
}

#[test]
fn a_table_that_is_made_elsewhere_is_told_of_once() {
    let mut trial = Trial::new(3);
    let new = new_table("t", 1, 2);
    trial.done(Deed::CreateTable { table: new });
    let mut notices = Notices::default();
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
    let candidates = vec![NodeId(1), NodeId(3)];
    let table = TableId(1);
    trial.done(Deed::MakeAnew { table, candidates });
    let lines = notices.look(&trial.state, &trial.live);
    assert!(lines.len() == 1 && lines[0].starts_with("table t could not be made"));
    assert!(lines[0].ends_with("it is made elsewhere, as table 2"));
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
    // One that was dropped is none of these.
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let table = TableId(2);
    trial.done(Deed::ForgetTable { table });
    assert_eq!(notices.look(&trial.state, &trial.live), [""; 0]);
}

#[test]
fn what_has_no_leader_without_a_silent_node_is_promised_to_nobody() {
    // One table with one replica of each partition, and one with three.
    let mut trial = Trial::new(4);
    trial.table(new_table("solo", 4, 1));
    trial.table(new_table("t", 4, 3));
    trial.rounds(10);
    let mut notices = Notices::default();
    notices.look(&trial.state, &trial.live);
    trial.silence(3);
    let lines = listen(&mut trial, &mut notices, 20);
    let wished = trial.state.wished_counts()[&NodeId(3)];
    assert_eq!(
        lines,
        [format!(
            "node 3 is silent for 10 s: {} of its replicas are made anew elsewhere in 590 s; 1 \
             partition has no leader without node 3 (solo.1): what it has may be the only copy; \
             start it again, or if that is lost see what `esker table recover solo` says",
            wished - 1
        )]
    );
}
