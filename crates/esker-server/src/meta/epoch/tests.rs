//! Which of two meta services holds, and whom it is without.

use super::*;

const EPOCH: Epoch = Epoch {
    number: 1,
    drawn: 7,
    base: ReplicaId(2),
    node: NodeId(3),
    last: ReplicaId(9),
};

#[test]
fn a_later_epoch_is_greater_and_of_two_decided_beside_one_another_one_is() {
    let second = Epoch {
        number: 2,
        drawn: 1,
        ..EPOCH
    };
    let beside = Epoch { drawn: 8, ..EPOCH };
    assert!(Epoch::default() < EPOCH && EPOCH < beside && beside < second);
}

#[test]
fn all_replicas_of_meta_of_before_but_the_one_that_goes_on_are_lost() {
    let of = |group, replica| {
        EPOCH.is_lost(Member {
            group,
            replica: ReplicaId(replica),
        })
    };
    let lost: Vec<u64> = (1..12).filter(|replica| of(META, *replica)).collect();
    assert_eq!(lost, [1, 3, 4, 5, 6, 7, 8, 9]);
    assert!(!of(esker_raft::GroupId(1 << 32), 1));
    let none = Epoch::default();
    let member = Member {
        group: META,
        replica: ReplicaId(1),
    };
    assert!(!none.is_lost(member));
}

#[test]
fn an_epoch_comes_back_from_its_bytes_and_no_others_are_one() {
    let bytes = EPOCH.encode();
    assert_eq!(Epoch::decode(&bytes), Ok(EPOCH));
    assert!(Epoch::decode(&bytes[..bytes.len() - 1]).is_err());
    assert!(Epoch::decode(&[&bytes[..], &[0]].concat()).is_err());
    assert!(Epoch::decode(&[&[9], &bytes[1..]].concat()).is_err());
    assert!(EPOCH.is_sound() && Epoch::default().is_sound());
    for unsound in [
        Epoch { number: 0, ..EPOCH },
        Epoch {
            base: ReplicaId(0),
            ..EPOCH
        },
        Epoch {
            node: NodeId(0),
            ..EPOCH
        },
        Epoch {
            last: ReplicaId(1),
            ..EPOCH
        },
    ] {
        assert!(!unsound.is_sound(), "{unsound:?}");
    }
}
