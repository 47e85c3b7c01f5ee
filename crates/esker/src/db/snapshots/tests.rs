//! Tests of `snapshots`.

use super::*;

#[test]
fn equal_numbers_are_kept_apart() {
    // Two snapshots at the same number: releasing one must not release the other.
    let snapshots = Snapshots::default();
    let first = snapshots.take(SeqNo::new(5), Duration::ZERO, SnapshotOwner::Unnamed);
    let second = snapshots.take(SeqNo::new(5), Duration::ZERO, SnapshotOwner::Unnamed);
    let newer = snapshots.take(SeqNo::new(9), Duration::ZERO, SnapshotOwner::Unnamed);
    assert_eq!(snapshots.seqnos(), [SeqNo::new(5), SeqNo::new(9)]);
    assert_eq!(snapshots.release(first), SeqNo::new(9));
    assert_eq!(snapshots.release(newer), SeqNo::new(5));
    assert_eq!(snapshots.seqnos(), [SeqNo::new(5)]);
    assert_eq!(snapshots.release(second), SeqNo::ZERO);
}

#[test]
fn each_is_listed_with_its_own_name_and_time() {
    // Two at one number, one of them with a name: what is left after a release keeps its own.
    let snapshots = Snapshots::default();
    let backup = SnapshotOwner::Named("backup".into());
    let first = snapshots.take(
        SeqNo::new(5),
        Duration::from_secs(1),
        SnapshotOwner::Unnamed,
    );
    snapshots.take(SeqNo::new(5), Duration::from_secs(2), backup.clone());
    {
        let moment = Duration::from_secs(3);
        let _pin = snapshots.pin(SeqNo::new(7), moment, SnapshotOwner::AtomicChange);
        let owners = snapshots.list().into_iter().map(|live| live.owner);
        let wanted = [
            SnapshotOwner::Unnamed,
            backup.clone(),
            SnapshotOwner::AtomicChange,
        ];
        assert!(owners.eq(wanted));
    }
    snapshots.release(first);
    let left = LiveSnapshot {
        seqno: SeqNo::new(5),
        taken_at: Duration::from_secs(2),
        owner: backup,
    };
    assert_eq!(snapshots.list(), [left]);
}
