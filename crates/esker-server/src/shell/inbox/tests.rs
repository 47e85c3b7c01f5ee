//! What is applied wakes nobody who does not wait for it.

use esker_raft::ReplicaId;

use super::*;

fn member(replica: u64) -> Member {
    Member {
        group: GroupId(1),
        replica: ReplicaId(replica),
    }
}

#[test]
fn what_is_applied_is_told_only_to_one_who_waits() {
    let (inbox, outlet) = inbox();
    let is_told = || matches!(outlet.receiver.try_recv(), Ok(Told::Applied));
    inbox.applied(member(1), 5);
    inbox.applied(member(2), 7);
    inbox.applied(member(1), 6);
    assert!(!is_told());
    assert!(outlet.await_applied(), "there is news: do not sleep");
    let news = outlet.take_applied();
    assert_eq!(news, BTreeMap::from([(member(1), 6), (member(2), 7)]));
    assert!(!outlet.await_applied(), "there is none");
    inbox.applied(member(1), 8);
    inbox.applied(member(1), 9);
    assert!(is_told());
    assert!(!is_told(), "once is enough");
    assert_eq!(outlet.take_applied(), BTreeMap::from([(member(1), 9)]));
}
