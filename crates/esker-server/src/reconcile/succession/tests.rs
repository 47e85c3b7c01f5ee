//! Which meta service a node heeds, and when its replica of one takes part.

use super::*;
use crate::reconcile::trial::one_of_three;

fn status(replica: u64, replica_max: u64) -> Status {
    let mut status = one_of_three(replica);
    status.configuration.replica_max = replica_max;
    status
}

fn epoch(number: u64) -> Epoch {
    Epoch {
        number,
        drawn: 5,
        base: ReplicaId(1),
        node: NodeId(1),
        last: ReplicaId(100),
    }
}

/// Decided beside the first one, and later.
fn beside() -> Epoch {
    Epoch {
        drawn: 6,
        base: ReplicaId(3),
        node: NodeId(3),
        ..epoch(1)
    }
}

/// What is said of a service that has gone on.
fn gone_on(epoch: Epoch) -> Claim {
    Claim {
        epoch,
        has_gone_on: true,
    }
}

/// What is said of one that is about to.
fn about_to(epoch: Epoch) -> Claim {
    Claim {
        epoch,
        has_gone_on: false,
    }
}

/// A replica whose rows know of no recovery.
fn of_before(meta: &Status) -> (Option<&Status>, Epoch) {
    (Some(meta), Epoch::default())
}

/// No replica at all.
fn nothing() -> (Option<&'static Status>, Epoch) {
    (None, Epoch::default())
}

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn member(replica: u64) -> Member {
    Member {
        group: META,
        replica: ReplicaId(replica),
    }
}

#[test]
fn a_replica_of_meta_takes_part_once_all_were_greeted_or_have_not_answered_for_long() {
    let none = Epoch::default();
    let meta = status(2, 3);
    let mut one = Succession::new(NodeId(2), none, true);
    let first = one.pass(
        (None, true),
        of_before(&meta),
        |node| node == NodeId(3),
        at(7000),
    );
    assert_eq!(first, [Due::Say(Claim::default())]);
    assert_eq!(
        one.pass((None, true), of_before(&meta), |_| true, at(7050)),
        [Due::Free]
    );
    assert_eq!(
        one.pass((None, true), of_before(&meta), |_| true, at(7100)),
        []
    );
    // It has never heard of one of them.
    let mut one = Succession::new(NodeId(2), none, true);
    one.pass((None, true), of_before(&meta), |_| false, at(7000));
    let up = |node| node == NodeId(1);
    assert_eq!(one.pass((None, true), of_before(&meta), up, at(8999)), []);
    assert_eq!(
        one.pass((None, true), of_before(&meta), up, at(9000)),
        [Due::Free]
    );
}

#[test]
fn who_hears_of_a_later_meta_service_says_so_when_its_own_replica_is_gone() {
    let meta = status(2, 3);
    let mut one = Succession::new(NodeId(2), Epoch::default(), true);
    one.pass((None, true), of_before(&meta), |_| false, at(0));
    let due = one.pass(
        (Some(gone_on(epoch(1))), true),
        of_before(&meta),
        |_| true,
        at(50),
    );
    assert_eq!(due, [Due::Purge(member(2))]);
    // Neither freed nor said, whoever was greeted meanwhile and however long it takes.
    assert_eq!(
        one.pass(
            (Some(gone_on(epoch(1))), true),
            of_before(&meta),
            |_| true,
            at(100)
        ),
        []
    );
    let due = one.pass(
        (Some(gone_on(epoch(1))), true),
        of_before(&meta),
        |_| true,
        at(4000),
    );
    assert_eq!(due, [Due::Purge(member(2))]);
    assert_eq!(
        one.epoch(),
        Epoch::default(),
        "a crash now leaves it as it was"
    );
    let due = one.pass(
        (Some(gone_on(epoch(1))), true),
        nothing(),
        |_| true,
        at(4050),
    );
    assert_eq!(due, [Due::Keep(epoch(1))], "not said before it is kept");
    let due = one.pass(
        (Some(gone_on(epoch(1))), true),
        nothing(),
        |_| true,
        at(4100),
    );
    assert_eq!(due, [Due::Say(gone_on(epoch(1)))]);
    // What is said again, and an earlier one, is no news; a replica of the later one stays.
    let later = status(101, 101);
    assert_eq!(
        one.pass(
            (Some(gone_on(epoch(1))), true),
            of_before(&later),
            |_| true,
            at(5000)
        ),
        [Due::Free]
    );
    assert_eq!(one.epoch(), epoch(1));
}

#[test]
fn one_that_was_killed_before_its_replica_was_gone_lets_go_of_it_when_it_is_opened() {
    let meta = status(3, 3);
    let mut one = Succession::new(NodeId(3), epoch(1), true);
    let due = one.pass((None, true), of_before(&meta), |_| true, at(0));
    assert_eq!(due, [Due::Purge(member(3))]);
    assert_eq!(
        one.pass((None, true), nothing(), |_| true, at(50)),
        [Due::Say(gone_on(epoch(1)))]
    );
}

#[test]
fn the_one_that_goes_on_is_told_until_an_entry_says_so() {
    let mut one = Succession::new(NodeId(1), epoch(1), true);
    let goes_on = Due::GoOnAlone(member(1), ReplicaId(100));
    let due = one.pass((None, false), of_before(&status(1, 3)), |_| false, at(0));
    assert_eq!(due, [Due::Say(about_to(epoch(1))), goes_on]);
    // The others are forgotten, and no entry says so.
    let mut meta = status(1, 100);
    meta.is_going_alone = true;
    assert_eq!(
        one.pass((None, false), of_before(&meta), |_| false, at(9000)),
        [goes_on]
    );
    meta.is_going_alone = false;
    meta.configuration.nodes.retain(|id, _| id.0 == 1);
    assert_eq!(
        one.pass((None, false), of_before(&meta), |_| false, at(9050)),
        [Due::Free]
    );
    // Another one was recovered beside it, and holds.
    let beside = beside();
    let due = one.pass(
        (Some(gone_on(beside)), true),
        of_before(&meta),
        |_| false,
        at(9100),
    );
    assert_eq!(due, [Due::Purge(member(1))]);
}

#[test]
fn what_a_meta_service_that_yields_had_made_goes_as_well() {
    // Epoch 1 went on with replica 1, and has made 101 on node 4; another was decided beside it.
    let meta = status(101, 101);
    let mut one = Succession::new(NodeId(4), epoch(1), false);
    one.greet(of_before(&meta));
    assert_eq!(one.said(), gone_on(epoch(1)));
    assert_eq!(
        one.pass((None, true), of_before(&meta), |_| true, at(0)),
        []
    );
    let beside = beside();
    let due = one.pass(
        (Some(gone_on(beside)), true),
        of_before(&meta),
        |_| true,
        at(50),
    );
    assert_eq!(due, [Due::Purge(member(101))]);
    let due = one.pass((Some(gone_on(beside)), true), nothing(), |_| true, at(100));
    assert_eq!(due, [Due::Keep(beside)]);
}

#[test]
fn a_node_greets_with_what_it_knows_from_the_beginning() {
    let said = |node: u64, rows: (Option<&Status>, Epoch)| {
        let mut one = Succession::new(NodeId(node), epoch(1), true);
        one.greet(rows);
        one.said()
    };
    assert_eq!(said(2, of_before(&status(3, 3))), Claim::default());
    assert_eq!(said(2, of_before(&status(101, 101))), gone_on(epoch(1)));
    // What it has heard once is no more than that, before somebody who has it answers.
    assert_eq!(said(2, nothing()), about_to(epoch(1)));
    // The one on which it goes on knows by its rows whether it did, or by what it made of itself.
    let base = status(1, 3);
    assert_eq!(said(1, of_before(&base)), about_to(epoch(1)));
    assert_eq!(said(1, (Some(&base), epoch(1))), gone_on(epoch(1)));
    assert_eq!(said(1, of_before(&status(101, 101))), gone_on(epoch(1)));
    // Its replica may be damaged, and then nobody knows.
    assert_eq!(said(1, nothing()), about_to(epoch(1)));
    assert!(!Succession::new(NodeId(2), epoch(1), true).is_base());
}

#[test]
fn the_one_that_goes_on_says_so_once_its_rows_do() {
    let mut one = Succession::new(NodeId(1), epoch(1), true);
    let before = status(1, 3);
    one.greet(of_before(&before));
    let goes_on = Due::GoOnAlone(member(1), ReplicaId(100));
    let due = one.pass((None, false), of_before(&before), |_| false, at(0));
    assert_eq!(due, [goes_on]);
    let mut alone = status(1, 100);
    alone.configuration.nodes.retain(|id, _| id.0 == 1);
    let due = one.pass((None, false), of_before(&alone), |_| false, at(50));
    assert_eq!(
        due,
        [Due::Free],
        "an entry says that it is alone, and none says why"
    );
    let due = one.pass((None, false), (Some(&alone), epoch(1)), |_| false, at(100));
    assert_eq!(due, [Due::Say(gone_on(epoch(1)))]);
}

#[test]
fn a_replica_waits_for_a_service_that_is_about_to_go_on_and_does_not_go_for_it() {
    let meta = status(2, 3);
    let mut one = Succession::new(NodeId(2), Epoch::default(), true);
    one.greet(of_before(&meta));
    let coming = Some(about_to(epoch(1)));
    let due = one.pass((coming, false), of_before(&meta), |_| true, at(50));
    assert_eq!(due, [Due::Await(epoch(1))]);
    // Whoever was greeted: the others may know of it as well.
    assert_eq!(
        one.pass((coming, false), of_before(&meta), |_| true, at(9000)),
        []
    );
    assert_eq!(one.epoch(), Epoch::default());
    let due = one.pass(
        (Some(gone_on(epoch(1))), true),
        of_before(&meta),
        |_| true,
        at(9050),
    );
    assert_eq!(due, [Due::Purge(member(2))]);
    // One that cannot go on keeps nobody for ever.
    let mut one = Succession::new(NodeId(2), Epoch::default(), true);
    one.greet(of_before(&meta));
    one.pass((coming, false), of_before(&meta), |_| true, at(50));
    let due = one.pass((coming, false), of_before(&meta), |_| true, at(60_049));
    assert_eq!(due, []);
    let due = one.pass((coming, false), of_before(&meta), |_| true, at(60_050));
    assert_eq!(due, [Due::Free]);
    // One that takes part already does so until then.
    let mut one = Succession::new(NodeId(2), Epoch::default(), false);
    one.greet(of_before(&meta));
    assert_eq!(
        one.pass((coming, false), of_before(&meta), |_| true, at(50)),
        [Due::Await(epoch(1))]
    );
    // And the one that goes on is not kept from it by another that is about to.
    let mut one = Succession::new(NodeId(1), epoch(1), true);
    one.greet(of_before(&status(1, 3)));
    let coming = Some(about_to(beside()));
    let due = one.pass((coming, false), of_before(&status(1, 3)), |_| true, at(50));
    let goes_on = Due::GoOnAlone(member(1), ReplicaId(100));
    assert_eq!(due, [Due::Await(beside()), goes_on]);
}

#[test]
fn what_was_heard_once_is_said_as_long_as_somebody_answers_who_has_it() {
    // A node without a replica of meta, whose leader answers, and then does no more.
    let mut one = Succession::new(NodeId(4), epoch(1), false);
    one.greet(nothing());
    assert_eq!(one.said(), about_to(epoch(1)));
    let mut look = |is_led, ms| one.pass((None, is_led), nothing(), |_| true, at(ms));
    assert_eq!(look(false, 0), []);
    assert_eq!(look(true, 50), [Due::Say(gone_on(epoch(1)))]);
    assert_eq!(look(true, 100), []);
    assert_eq!(look(false, 9000), [Due::Say(about_to(epoch(1)))]);
}

#[test]
fn of_all_that_is_said_the_one_that_has_gone_on_counts_and_none_of_a_removed_node() {
    let mut one = Succession::new(NodeId(2), Epoch::default(), false);
    let (first, second) = (epoch(1), beside());
    let mut choose = |claims: &[Claim], removed: u64| {
        let chosen = one.choose(claims, |node| node.0 == removed);
        (chosen.0.map(|claim| claim.epoch), chosen.1)
    };
    assert_eq!(choose(&[], 0), (None, None));
    let said = [gone_on(first), about_to(second)];
    assert_eq!(choose(&said, 0), (Some(first), None));
    let said = [gone_on(first), gone_on(second)];
    assert_eq!(choose(&said, 0), (Some(second), None));
    // The later one is of a node that was removed: it hides no other one, and is told of once.
    let refused = Due::Refuse(second);
    assert_eq!(choose(&said, 3), (Some(first), Some(refused)));
    assert_eq!(choose(&said, 3), (Some(first), None));
    assert_eq!(
        choose(&[about_to(first)], 1),
        (None, Some(Due::Refuse(first)))
    );
    let told = refused.to_string();
    assert!(
        told.contains("node 3 was removed from the cluster"),
        "{told}"
    );
    // In another life as well, in which the rows do not say it yet.
    let mut again = Succession::new(NodeId(2), Epoch::default(), true).refusing(second);
    let chosen = again.choose(&said, |_| false);
    assert_eq!(chosen, (Some(gone_on(first)), Some(refused)));
    // What is heeded already is no news, though its node was removed since.
    let mut one = Succession::new(NodeId(2), second, false);
    assert_eq!(one.choose(&said, |node| node.0 == 3), (None, None));
}
