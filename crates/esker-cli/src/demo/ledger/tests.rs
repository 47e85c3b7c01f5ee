//! What the writer writes can be computed again.

use super::{entry_count, key, parse_key, value};

#[test]
fn keys_name_their_entries() {
    // Every key of the first batches is read back; one entry more than the batch has is not.
    for number in 0..500 {
        let count = entry_count(number);
        assert!((1..=8).contains(&count));
        for index in 0..count {
            assert_eq!(parse_key(&key(number, index)), Some((number, index)));
        }
        assert_eq!(parse_key(&key(number, count)), None);
    }
    for foreign in ["", "1/0", "000000000001/00", "x", "000000000001/+0"] {
        assert_eq!(parse_key(foreign.as_bytes()), None, "{foreign}");
    }
}

#[test]
fn keys_are_in_the_order_of_batches() {
    // The prover walks the keyspace once, in order.
    let keys: Vec<_> = (0..300)
        .flat_map(|n| (0..entry_count(n)).map(move |i| key(n, i)))
        .collect();
    assert!(keys.is_sorted());
}

#[test]
fn values_follow_from_their_place() {
    // The same twice, different next door, and some larger than a block.
    assert_eq!(value(7, 1), value(7, 1));
    let distinct: std::collections::BTreeSet<_> = (0..200)
        .map(|n| value(n, 0))
        .filter(|value| value.len() > 8)
        .collect();
    assert!(distinct.len() > 150);
    assert!((0..2000).any(|n| value(n, 0).len() > 4096));
}
