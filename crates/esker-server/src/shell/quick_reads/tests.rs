//! Tests of `quick_reads`.

use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{BatchGetRequest, FullKey, MultiGetRequest};

use super::*;

fn named(keys: usize) -> KeyCall {
    KeyCall::MultiGet(MultiGetRequest {
        sort_keys: vec![Blob::of(b"key"); keys],
        ..MultiGetRequest::default()
    })
}

#[test]
fn a_slow_read_sends_the_next_ones_to_the_threads() {
    // Quick ones change nothing; a slow one sends so many to others, then one is tried again. One
    // that is three times as slow sends three times as many.
    let calls = [
        (KeyCall::Get(Blob::of(b"key")), QuickKind::One, SLOW),
        (named(100), QuickKind::Together, SLOW_TOGETHER),
    ];
    for (call, kind, slow) in calls {
        for times in [1, 3] {
            let reads = QuickReads::default();
            for _ in 0..100 {
                assert_eq!(reads.kind_of(&call), Some(kind));
                reads.took(kind, slow / 2);
            }
            reads.took(kind, slow * times);
            for _ in 0..AFTER_SLOW * times {
                assert_eq!(reads.kind_of(&call), None);
            }
            assert_eq!(reads.kind_of(&call), Some(kind));
        }
    }
}

#[test]
fn a_slow_kind_does_not_slow_the_other() {
    let reads = QuickReads::default();
    let get = KeyCall::Get(Blob::of(b"key"));
    reads.took(QuickKind::Together, SLOW_TOGETHER);
    assert_eq!(reads.kind_of(&get), Some(QuickKind::One));
    assert_eq!(reads.kind_of(&named(2)), None);
    reads.took(QuickKind::One, Duration::from_secs(3600));
    let waits = (0..).take_while(|_| reads.kind_of(&get).is_none());
    let bound = usize::try_from(AFTER_SLOW * TIMES_MAX).unwrap();
    assert_eq!(
        waits.count(),
        bound,
        "a machine that stood still is tried again"
    );
}

#[test]
fn what_walks_over_rows_is_never_served_in_passing() {
    // A socket would wait for it, however fast the last one was.
    let reads = QuickReads::default();
    let batch = |keys| {
        KeyCall::BatchGet(BatchGetRequest {
            keys: vec![FullKey::default(); keys],
        })
    };
    for call in [
        KeyCall::MultiGet(MultiGetRequest::default()),
        KeyCall::SortkeyCount(Blob::of(b"key")),
        named(TOGETHER_MAX + 1),
        batch(TOGETHER_MAX + 1),
    ] {
        assert_eq!(reads.kind_of(&call), None);
    }
    for call in [KeyCall::Ttl(Blob::of(b"key")), named(1), batch(100)] {
        assert!(reads.kind_of(&call).is_some());
    }
}
