//! Each rule of membership refuses what it is there for, and nothing else.

use super::*;
use crate::ids::NodeId;

// Voters 1 to 3 on the nodes of their numbers, learner 4 on node 4; id 5 was used once.
fn configuration() -> Configuration {
    let voters: Vec<_> = (1..4).map(|n| (ReplicaId(n), NodeId(n))).collect();
    let mut configuration = Configuration::first(1, &voters);
    configuration.learners.insert(ReplicaId(4));
    configuration.nodes.insert(ReplicaId(4), NodeId(4));
    configuration.replica_max = 5;
    configuration
}

fn facts() -> Facts {
    Facts {
        leader: ReplicaId(1),
        is_pending: false,
        is_current: (1..5).map(|n| (ReplicaId(n), true)).collect(),
    }
}

fn asked(steps: &[ChangeStep]) -> Result<(), ChangeRefusal> {
    check(
        &configuration(),
        &Change {
            steps: steps.to_vec(),
        },
        &facts(),
    )
}

fn add(id: u64, node: u64) -> ChangeStep {
    ChangeStep::AddLearner(ReplicaId(id), NodeId(node))
}

fn promote(id: u64) -> ChangeStep {
    ChangeStep::Promote(ReplicaId(id))
}

fn demote(id: u64) -> ChangeStep {
    ChangeStep::Demote(ReplicaId(id))
}

fn remove(id: u64) -> ChangeStep {
    ChangeStep::Remove(ReplicaId(id))
}

#[test]
fn a_replica_is_replaced_in_three_changes() {
    assert_eq!(asked(&[add(6, 6)]), Ok(()));
    assert_eq!(asked(&[promote(4), demote(2)]), Ok(()));
    assert_eq!(asked(&[promote(4), remove(2)]), Ok(()));
    assert_eq!(asked(&[remove(4)]), Ok(()));
}

#[test]
fn trap_3_the_leader_is_neither_removed_nor_demoted() {
    let refusal = Err(ChangeRefusal::TransferFirst(ReplicaId(1)));
    assert_eq!(asked(&[remove(1)]), refusal);
    assert_eq!(asked(&[promote(4), demote(1)]), refusal);
}

#[test]
fn an_id_is_never_used_again_and_a_node_has_one_replica() {
    assert_eq!(
        asked(&[add(5, 9)]),
        Err(ChangeRefusal::IdUsed(ReplicaId(5)))
    );
    assert_eq!(
        asked(&[add(2, 9)]),
        Err(ChangeRefusal::IdUsed(ReplicaId(2)))
    );
    assert_eq!(
        asked(&[add(6, 3)]),
        Err(ChangeRefusal::NodeTaken(ReplicaId(6)))
    );
    assert_eq!(
        asked(&[add(6, 9), add(7, 9)]),
        Err(ChangeRefusal::NodeTaken(ReplicaId(7)))
    );
}

#[test]
fn steps_need_their_role_and_one_replica_each() {
    assert_eq!(
        asked(&[promote(2)]),
        Err(ChangeRefusal::WrongRole(ReplicaId(2)))
    );
    assert_eq!(
        asked(&[demote(4)]),
        Err(ChangeRefusal::WrongRole(ReplicaId(4)))
    );
    assert_eq!(
        asked(&[remove(9)]),
        Err(ChangeRefusal::WrongRole(ReplicaId(9)))
    );
    assert_eq!(asked(&[]), Err(ChangeRefusal::Unsound));
    assert_eq!(asked(&[remove(2), demote(2)]), Err(ChangeRefusal::Unsound));
}

#[test]
fn a_learner_that_lacks_entries_does_not_vote() {
    let mut facts = facts();
    facts.is_current.insert(ReplicaId(4), false);
    let refused = check(&configuration(), &Change::of(promote(4)), &facts);
    assert_eq!(refused, Err(ChangeRefusal::NotCaughtUp(ReplicaId(4))));
}

#[test]
fn of_the_new_voters_a_majority_is_alive() {
    // Without 2, those who vote are 1 and the silent 3.
    let mut facts = facts();
    facts.is_current.insert(ReplicaId(3), false);
    let refused = check(&configuration(), &Change::of(remove(2)), &facts);
    assert_eq!(refused, Err(ChangeRefusal::NoLiveQuorum));
    assert_eq!(
        check(&configuration(), &Change::of(remove(3)), &facts),
        Ok(())
    );
}

#[test]
fn one_change_at_a_time() {
    let mut facts = facts();
    facts.is_pending = true;
    let change = Change::of(remove(4));
    assert_eq!(
        check(&configuration(), &change, &facts),
        Err(ChangeRefusal::ChangePending)
    );
    let mut joint = configuration();
    joint.outgoing.insert(ReplicaId(2));
    let refused = check(&joint, &change, &super::tests::facts());
    assert_eq!(refused, Err(ChangeRefusal::ChangePending));
}

#[test]
fn a_group_has_a_bound() {
    let many: Vec<_> = (0..REPLICAS_MAX as u64)
        .map(|n| add(10 + n, 10 + n))
        .collect();
    assert_eq!(asked(&many), Err(ChangeRefusal::TooMany));
}
