//! Tests of what is claimed.

use std::path::Path;

use super::*;
use crate::base::types::comparator::CustomComparator;
use crate::env::sim::world::SimWorld;
use crate::store::batch::two_phases::{Claim, NewPrepare};
use crate::store::batch::writer::Batch;

const KEYSPACE: KeyspaceId = KeyspaceId(3);

/// Upper case is as lower case.
struct AnyCase;

impl CustomComparator for AnyCase {
    fn name(&self) -> &str {
        "any case"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
        left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase())
    }
}

// Writes to "key" and from "r" to "s", and claims from "x" on.
fn claims() -> Claims {
    let mut batch = Batch::new();
    batch.merge(KEYSPACE, b"key", b"1").unwrap();
    batch.delete_range(KEYSPACE, b"r", b"s").unwrap();
    let new = NewPrepare {
        id: b"id",
        prepared_unix_s: 1,
        claims: &[Claim {
            keyspace: KEYSPACE,
            keys: KeyRange::new(b"x".to_vec()..),
        }],
        count: 2,
    };
    let mut record = new.encode_front();
    record.extend_from_slice(BatchReader::new(batch.bytes()).unwrap().body());
    claims_of(&Prepare::read(&record).unwrap()).unwrap().0
}

fn meets(comparator: &Comparator, key: &[u8], end: Option<&[u8]>) -> bool {
    claims()[&KEYSPACE].meet(comparator, key, end)
}

#[test]
fn keys_and_ranges_are_claimed_to_their_ends() {
    let bytewise = Comparator::Bytewise;
    for claimed in [&b"key"[..], b"r", b"rzz", b"x", b"zzz"] {
        assert!(
            meets(&bytewise, claimed, None),
            "{}",
            claimed.escape_ascii()
        );
    }
    for free in [&b"kex"[..], b"key\0", b"q", b"s", b"w", b"KEY", b""] {
        assert!(!meets(&bytewise, free, None), "{}", free.escape_ascii());
    }
    // From the first up to the second, exclusive.
    for (start, end) in [
        ("a", "key\0"),
        ("key", "l"),
        ("a", "ra"),
        ("rz", "t"),
        ("t", "y"),
    ] {
        assert!(
            meets(&bytewise, start.as_bytes(), Some(end.as_bytes())),
            "{start}"
        );
    }
    for (start, end) in [("a", "key"), ("key\0", "r"), ("s", "x"), ("s", "s")] {
        assert!(
            !meets(&bytewise, start.as_bytes(), Some(end.as_bytes())),
            "{start}"
        );
    }
}

#[test]
fn claims_follow_the_order_of_their_keyspace() {
    // What the order calls one key is one key, whatever its bytes.
    let any_case = Comparator::Custom(Arc::new(AnyCase));
    assert!(meets(&any_case, b"KEY", None) && meets(&any_case, b"Rx", None));
    assert!(!meets(&any_case, b"KEZ", None));
}

#[test]
fn a_segment_is_needed_until_the_end_of_its_prepare_is_durable() {
    // Else a power cut would take the prepare with its segment, and how it ended with the log.
    let mut set = PreparedSet::default();
    let at = |segment, offset| LogPosition {
        segment: FileNumber(segment),
        offset,
    };
    set.releasing.push(Releasing {
        segment: FileNumber(2),
        until: at(4, 100),
        _values: None,
    });
    assert_eq!(set.oldest_needed(), Some(FileNumber(2)));
    let sync = SyncGroup::default();
    let env = SimWorld::new(1).env();
    env.fs.create_dir_all(Path::new("db")).unwrap();
    let file = env.fs.open_log(Path::new("db/4"), 4096).unwrap();
    sync.add_segment(FileNumber(4), file.syncer());
    sync.wrote(at(4, 100));
    set.release(&sync);
    assert_eq!(set.oldest_needed(), Some(FileNumber(2)));
    sync.sync_all(&*env.pool).unwrap();
    set.release(&sync);
    assert!(set.is_empty());
}
