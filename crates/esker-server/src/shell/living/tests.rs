//! Whom the meta service is taken from, by what each of them says.

use std::collections::BTreeMap;

use esker_raft::NodeId;

use super::*;

/// Replica N is on node N, and this is node 3.
fn found(voters: &[&[u64]], members: &[u64]) -> MetaFound {
    let set = |ids: &&[u64]| ids.iter().map(|id| ReplicaId(*id)).collect();
    let others = members.iter().filter(|id| **id != 3);
    MetaFound {
        cluster: 7,
        node: NodeId(3),
        replica: ReplicaId(3),
        members: members
            .iter()
            .map(|id| (ReplicaId(*id), NodeId(*id)))
            .collect(),
        voters: voters.iter().map(set).collect(),
        others: others
            .map(|id| (NodeId(*id), address()))
            .collect::<BTreeMap<_, _>>(),
        last: (1, 9),
        table_count: 0,
        node_count: members.len(),
        is_accepted: false,
        faults: Vec::new(),
    }
}

fn address() -> SocketAddrV4 {
    "127.0.0.1:34801".parse().expect("an address")
}

fn asked(node: u64, said: Said) -> Asked {
    Asked {
        node,
        address: address(),
        said,
    }
}

fn has(node: u64) -> Asked {
    asked(node, Said::Has(node))
}

#[track_caller]
fn objects(found: &MetaFound, asked: &[Asked], words: &str) {
    let told = objection(found, asked).expect("it is not to go on");
    assert!(told.contains(words), "{told}");
}

#[test]
fn it_is_taken_from_nobody_who_is_led() {
    let three = found(&[&[1, 2, 3]], &[1, 2, 3]);
    let away = asked(1, Said::IsAway);
    objects(&three, &[away, asked(2, Said::Leads)], "node 2 leads");
    objects(
        &three,
        &[away, asked(2, Said::IsLed)],
        "a leader answers node 2",
    );
    // Also one that keeps none of it.
    objects(&three, &[asked(5, Said::IsLed)], "a leader answers node 5");
}

#[test]
fn it_goes_on_where_most_are_gone() {
    let three = found(&[&[1, 2, 3]], &[1, 2, 3]);
    let [one, two] = [1, 2].map(|node| asked(node, Said::IsAway));
    assert_eq!(objection(&three, &[one, two]), None);
    assert_eq!(objection(&three, &[]), None);
    assert_eq!(
        objection(&three, &[one, two, asked(5, Said::HasNone)]),
        None
    );
    // With one of five beside it, it is not most of them.
    let five = found(&[&[1, 2, 3, 4, 5]], &[1, 2, 3, 4, 5]);
    assert_eq!(objection(&five, &[has(1), two]), None);
    assert_eq!(objection(&five, &[asked(1, Said::IsMute), two]), None);
}

#[test]
fn it_is_not_taken_from_those_who_can_elect() {
    let three = found(&[&[1, 2, 3]], &[1, 2, 3]);
    objects(&three, &[has(1), has(2)], "node 1 and 2 run and have");
    objects(&three, &[has(1), has(2)], "enough for a leader: wait");
    // Nor where this one is all that is missing.
    objects(&three, &[has(1)], "with this one are enough");
    objects(
        &three,
        &[asked(1, Said::IsMute)],
        "with this one are enough",
    );
    // One without a vote does not count, nor does this one where it has none.
    let learner = found(&[&[1, 2]], &[1, 2, 3]);
    assert_eq!(objection(&learner, &[has(1)]), None);
    objects(&learner, &[has(1), has(2)], "wait until there is one");
    // Nor where nobody else has a vote.
    objects(&found(&[&[3]], &[1, 3]), &[], "this node alone is enough");
    // Of two sets each must have most.
    let joint = found(&[&[1, 2, 3], &[1, 4, 5]], &[1, 2, 3, 4, 5]);
    assert_eq!(objection(&joint, &[has(1), has(2)]), None);
    objects(&joint, &[has(1), has(4)], "with this one are enough");
}

#[test]
fn a_replica_that_it_does_not_know_is_a_newer_one() {
    let three = found(&[&[1, 2, 3]], &[1, 2, 3]);
    objects(
        &three,
        &[asked(4, Said::Has(9))],
        "of which this node does not know",
    );
}
