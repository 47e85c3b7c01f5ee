//! Tests of `snapshots`.

use super::*;

#[test]
fn equal_numbers_are_kept_apart() {
    // Two snapshots at the same number: releasing one must not release the other.
    let snapshots = Snapshots::default();
    let first = snapshots.take(SeqNo::new(5), Duration::ZERO);
    let second = snapshots.take(SeqNo::new(5), Duration::ZERO);
    let newer = snapshots.take(SeqNo::new(9), Duration::ZERO);
    assert_eq!(snapshots.seqnos(), [SeqNo::new(5), SeqNo::new(9)]);
    assert_eq!(snapshots.release(first), SeqNo::new(9));
    assert_eq!(snapshots.release(newer), SeqNo::new(5));
    assert_eq!(snapshots.seqnos(), [SeqNo::new(5)]);
    assert_eq!(snapshots.release(second), SeqNo::ZERO);
}
