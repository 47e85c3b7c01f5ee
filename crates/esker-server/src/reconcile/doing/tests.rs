//! Tests of what a node does of what it is told.

use esker_raft::{Change, ChangeStep};

use super::*;
use crate::reconcile::trial::one_of_three;

const GROUP: GroupId = GroupId(1 << 32);

fn status(replica: u64, leader: u64, version: u64) -> Status {
    let mut status = one_of_three(replica);
    status.leader = Some(ReplicaId(leader));
    status.configuration.version = version;
    status
}

fn told(directive: Directive, here: Option<Status>) -> Vec<Action> {
    let statuses = here.map(|status| (GROUP, status)).into_iter().collect();
    let mut next = 0;
    actions(vec![directive], &statuses, &mut || {
        next += 1;
        RequestId(next)
    })
}

fn create(replica: u64) -> Directive {
    Directive::Create {
        group: GROUP,
        replica: ReplicaId(replica),
        first: Vec::new(),
    }
}

fn destroy(replica: u64, without: Option<Configuration>) -> Directive {
    Directive::Destroy {
        group: GROUP,
        replica: ReplicaId(replica),
        without,
    }
}

fn change(version: u64) -> Directive {
    Directive::Change {
        group: GROUP,
        version,
        change: Change::of(ChangeStep::Remove(ReplicaId(2))),
    }
}

fn transfer(to: u64) -> Directive {
    Directive::Transfer {
        group: GROUP,
        to: ReplicaId(to),
    }
}

#[test]
fn a_replica_is_created_unless_it_or_a_newer_one_is_here() {
    assert!(matches!(told(create(4), None)[..], [Action::Create(_)]));
    assert!(matches!(
        told(create(4), Some(status(3, 1, 1)))[..],
        [Action::Create(_)]
    ));
    assert!(told(create(3), Some(status(3, 1, 1))).is_empty());
    assert!(told(create(2), Some(status(3, 1, 1))).is_empty());
}

#[test]
fn a_replica_is_destroyed_only_when_its_group_has_let_it_go() {
    // Of members 1 to 3 the third is gone, as of version 9.
    let mut without = status(1, 1, 9).configuration;
    without.voters.remove(&ReplicaId(3));
    without.nodes.remove(&ReplicaId(3));
    let gone = destroy(3, Some(without.clone()));
    assert!(matches!(
        told(gone.clone(), Some(status(3, 1, 5)))[..],
        [Action::Purge(_)]
    ));
    // It is not here: said again, or it was never opened in this life.
    assert!(matches!(told(gone.clone(), None)[..], [Action::Purge(_)]));
    // It knows a newer configuration itself, and is a member there: whoever says so is behind.
    assert!(told(gone, Some(status(3, 1, 10))).is_empty());
    // Those that are members, and those that never were, stay.
    assert!(told(destroy(2, Some(without.clone())), Some(status(2, 1, 5))).is_empty());
    assert!(told(destroy(4, Some(without)), None).is_empty());
}

#[test]
fn replicas_of_a_forgotten_table_go_and_those_of_meta_never() {
    assert!(matches!(
        told(destroy(3, None), Some(status(3, 1, 5)))[..],
        [Action::Purge(_)]
    ));
    let meta = Directive::Destroy {
        group: META,
        replica: ReplicaId(1),
        without: None,
    };
    assert!(told(meta, None).is_empty());
}

#[test]
fn a_replica_of_meta_that_never_was_a_member_goes_and_no_other() {
    let discard = |replica| Directive::Discard {
        group: META,
        replica: ReplicaId(replica),
    };
    let of_meta = |here, applied| {
        let status = status(here, 1, 5);
        let statuses = BTreeMap::from([(META, Status { applied, ..status })]);
        let mut draw = || RequestId(1);
        actions(vec![discard(here)], &statuses, &mut draw)
    };
    assert!(matches!(of_meta(4, 0)[..], [Action::Purge(_)]));
    assert!(of_meta(4, 1).is_empty(), "it has applied");
    assert!(of_meta(3, 0).is_empty(), "it votes");
    assert!(told(discard(4), None).is_empty(), "nobody knows");
}

#[test]
fn members_change_at_the_leader_and_upon_the_version_that_was_meant() {
    let (leads, follows) = (status(1, 1, 5), status(2, 1, 5));
    assert!(matches!(
        told(change(5), Some(leads.clone()))[..],
        [Action::Ask(Ask::Change { .. })]
    ));
    assert!(told(change(4), Some(leads.clone())).is_empty());
    assert!(told(change(5), Some(follows)).is_empty());
    assert!(told(change(5), None).is_empty());
    let damage = Some("its log is damaged");
    assert!(told(change(5), Some(Status { damage, ..leads })).is_empty());
}

#[test]
fn the_lead_is_handed_to_another_voter_by_who_has_it() {
    let leads = status(1, 1, 5);
    assert!(matches!(
        told(transfer(2), Some(leads.clone()))[..],
        [Action::Ask(Ask::Transfer { .. })]
    ));
    assert!(told(transfer(1), Some(leads.clone())).is_empty());
    assert!(told(transfer(9), Some(leads)).is_empty());
    assert!(told(transfer(2), Some(status(3, 1, 5))).is_empty());
}

#[test]
fn lists_are_learned_and_a_stop_is_a_stop() {
    let (revision, tables) = (1, Vec::new());
    let learned = told(Directive::Tables { revision, tables }, None);
    assert!(matches!(learned[..], [Action::Learn(_)]));
    let why = "of another cluster".to_owned();
    assert!(matches!(
        told(Directive::Stop { why }, None)[..],
        [Action::Stop(_)]
    ));
}

#[test]
fn a_group_goes_on_with_the_replica_that_is_meant_and_a_lost_one_goes_whatever_it_knows() {
    let recover = |replica| Directive::Recover {
        group: GROUP,
        replica: ReplicaId(replica),
        last: ReplicaId(9),
    };
    assert!(matches!(
        told(recover(2), Some(status(2, 1, 5)))[..],
        [Action::Ask(Ask::GoOnAlone(..))]
    ));
    assert!(told(recover(2), Some(status(3, 1, 5))).is_empty());
    assert!(told(recover(2), None).is_empty());
    let fence = |group| Directive::Fence {
        group,
        replica: ReplicaId(3),
    };
    for here in [Some(status(3, 3, 1000)), None] {
        assert!(matches!(told(fence(GROUP), here)[..], [Action::Purge(_)]));
    }
    assert!(told(fence(META), None).is_empty());
    let (asked, held) = (4, vec![GROUP]);
    let freed = told(Directive::Free { asked, held }, None);
    assert!(matches!(&freed[..], [Action::Free(4, held)] if held.contains(&GROUP)));
}
