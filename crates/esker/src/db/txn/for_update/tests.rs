//! Tests of `for_update`.

use super::*;
use crate::db::txn::test_keyspace::keyspace;

#[test]
fn each_key_is_held_against_writes_since_its_own_read() {
    let (ships, crews) = (keyspace(1), keyspace(2));
    let reads: [(&Arc<KeyspaceParts>, &str, u64); 7] = [
        (&ships, "anna", 5),
        (&ships, "", 5),
        (&ships, "bela", 5),
        (&crews, "bela", 5),
        (&crews, "cleo", 7),
        (&ships, "cleo", 7),
        (&ships, "anna", 7),
    ];
    let mut for_update = ForUpdate::default();
    assert!(for_update.unchanged().is_empty());
    for (parts, key, seen) in reads {
        for_update.push(parts, key.as_bytes(), SeqNo::new(seen));
    }
    let conditions = for_update.unchanged();
    assert_eq!(conditions.len(), reads.len());
    for (condition, (parts, key, seen)) in conditions.iter().zip(reads) {
        assert_eq!(condition.keyspace, parts.id);
        assert!(Arc::ptr_eq(condition.current, &parts.current));
        assert!(matches!(condition.target, Target::Key(own) if own == key.as_bytes()));
        assert_eq!(condition.seen.get(), seen);
    }
    // Those at one number, of one keyspace, are told of once.
    assert_eq!(for_update.spans.len(), 4);
}
