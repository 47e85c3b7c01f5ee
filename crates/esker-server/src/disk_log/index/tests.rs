//! Tests of `index`.

use esker_raft::{Configuration, HardState, NodeId};

use super::*;
use crate::disk_log::format::{Kind, begin_checkpoint};

fn index() -> Index {
    let mut index = Index::default();
    let place = Place {
        segment: FileNumber(3),
        offset: 50,
    };
    let group = GroupId(1);
    let configuration = Configuration::first(4, &[(ReplicaId(2), NodeId(9))]);
    let state = HardState {
        term: 3,
        vote: 2,
        commit: 4,
    };
    let replica = ReplicaId(1);
    let records = [
        Record::Destroy { group, replica },
        Record::Begin {
            group,
            replica: ReplicaId(2),
            index: 4,
            term: 2,
            configuration,
        },
        Record::Hard { group, state },
    ];
    for record in &records {
        index.follow(record, place).unwrap();
    }
    index
}

#[test]
fn a_checkpoint_says_all_but_where_entries_lie() {
    let index = index();
    let bytes = index.checkpoint();
    let (kind, parts) = Parts::of(&bytes).unwrap();
    assert!(matches!(kind, Kind::Checkpoint(_)));
    let told = Index::from_checkpoint(parts).unwrap();
    assert!(index.agrees_with(&told));
    for len in 11..bytes.len() {
        let (_, parts) = Parts::of(&bytes[..len]).unwrap();
        // Cut between groups it is another checkpoint; anywhere else it is none.
        let cut = Index::from_checkpoint(parts);
        assert!(cut.is_err() || !index.agrees_with(&cut.unwrap()), "{len}");
    }
}

#[test]
fn records_that_cannot_come_next_are_refused() {
    let place = Place {
        segment: FileNumber(3),
        offset: 90,
    };
    let group = GroupId(1);
    let compact = |index| Record::Compact {
        group,
        index,
        term: 2,
    };
    let both = |record: &Record| {
        let followed = index().follow(record, place).is_ok();
        assert_eq!(
            index().may_follow(std::slice::from_ref(record)).is_ok(),
            followed
        );
        followed
    };
    assert!(both(&compact(4)) && !both(&compact(5)));
    let replica = ReplicaId(1);
    let again = Record::Begin {
        group,
        replica,
        index: 9,
        term: 9,
        configuration: Configuration::first(9, &[(replica, NodeId(9))]),
    };
    assert!(!both(&again), "it was destroyed");
    let stranger = Record::Compact {
        group: GroupId(2),
        index: 1,
        term: 1,
    };
    assert!(!both(&stranger));
    // What one record makes of a group holds for the next one.
    let destroy = Record::Destroy {
        group,
        replica: ReplicaId(2),
    };
    assert!(index().may_follow(&[destroy.clone(), compact(4)]).is_err());
    let begin = |replica| Record::Begin {
        group,
        replica,
        index: 9,
        term: 9,
        configuration: Configuration::first(9, &[(replica, NodeId(9))]),
    };
    assert!(
        index()
            .may_follow(&[destroy.clone(), begin(ReplicaId(2))])
            .is_err()
    );
    assert!(
        index()
            .may_follow(&[destroy, begin(ReplicaId(3)), compact(9)])
            .is_ok()
    );
}

#[test]
fn parts_of_a_checkpoint_out_of_their_order_are_refused() {
    let group = GroupId(1);
    let hard = Record::Hard {
        group,
        state: HardState::default(),
    };
    let mut bytes = begin_checkpoint();
    put_record(&mut bytes, &hard);
    let (_, parts) = Parts::of(&bytes).unwrap();
    assert!(Index::from_checkpoint(parts).is_err());
}

#[test]
fn a_late_destroy_of_an_older_replica_takes_nothing_from_its_successor() {
    let mut index = index();
    let (group, place) = (
        GroupId(1),
        Place {
            segment: FileNumber(3),
            offset: 90,
        },
    );
    let state = HardState::default();
    let late = Record::Destroy {
        group,
        replica: ReplicaId(1),
    };
    // What follows it in the same append may still speak of the successor.
    let records = [late.clone(), Record::Hard { group, state }];
    index.may_follow(&records).unwrap();
    for record in &records {
        index.follow(record, place).unwrap();
    }
    assert_eq!(index.group(group).unwrap().replica, ReplicaId(2));
    let own = Record::Destroy {
        group,
        replica: ReplicaId(2),
    };
    assert!(
        index
            .may_follow(&[own.clone(), Record::Hard { group, state }])
            .is_err()
    );
    index.follow(&own, place).unwrap();
    assert!(index.group(group).is_none());
    assert_eq!(index.destroyed(group), Some(ReplicaId(2)));
}
