//! What is told again and again.

use esker_raft::{GroupId, ReplicaId};

use super::*;

fn member(group: u64) -> Member {
    Member {
        group: GroupId(group),
        replica: ReplicaId(1),
    }
}

#[test]
fn what_nothing_comes_of_is_asked_for_at_once_a_few_times_only() {
    let (ship, boat) = (Deed::Create(member(7)), Deed::Create(member(8)));
    let mut repeats = Repeats::default();
    let mut tell = |deeds: &[Deed], deed| {
        repeats.hear(deeds.iter().copied().collect());
        repeats.telling(deed)
    };
    assert_eq!(tell(&[ship], ship), Telling::New);
    for _ in 1..AT_ONCE_MAX {
        assert_eq!(tell(&[ship], ship), Telling::Soon);
    }
    for _ in 0..100 {
        assert_eq!(tell(&[ship], ship), Telling::Often);
    }
    // A replica that cannot go on alone, since others lead it still, is told so as well.
    let alone = Action::Ask(Ask::GoOnAlone(member(9), ReplicaId(5)));
    assert_eq!(Deed::of(&alone), Some(Deed::GoOnAlone(member(9))));
    // Another one is new, and this one is not again for that.
    assert_eq!(tell(&[ship, boat], boat), Telling::New);
    assert_eq!(tell(&[ship, boat], ship), Telling::Often);
    assert_eq!(tell(&[Deed::Purge(member(7))], ship), Telling::New);
    assert_eq!(tell(&[ship], ship), Telling::New);
}
