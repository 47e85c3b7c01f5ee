//! Tests of `quick_reads`.

use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::MultiGetRequest;

use super::*;

#[test]
fn a_slow_read_sends_the_next_ones_to_the_threads() {
    // Quick ones change nothing; a slow one sends so many to others, then one is tried again.
    let reads = QuickReads::default();
    let get = KeyCall::Get(Blob::of(b"key"));
    for _ in 0..100 {
        assert!(reads.is_quick(&get));
        reads.took(SLOW / 2);
    }
    reads.took(SLOW);
    for _ in 0..AFTER_SLOW {
        assert!(!reads.is_quick(&get));
    }
    assert!(reads.is_quick(&get));
}

#[test]
fn what_reads_many_rows_is_never_served_in_passing() {
    // A socket would wait for it, however fast the last one was.
    let reads = QuickReads::default();
    assert!(!reads.is_quick(&KeyCall::MultiGet(MultiGetRequest::default())));
    assert!(!reads.is_quick(&KeyCall::SortkeyCount(Blob::of(b"key"))));
    assert!(reads.is_quick(&KeyCall::Ttl(Blob::of(b"key"))));
}
