//! Tests of `lock_id`.

use super::*;

#[test]
fn keys_and_keyspaces_have_locks_of_their_own() {
    // The same key in two keyspaces, two keys in one, and both keyspaces as a whole.
    let (one, other) = (KeyspaceId(1), KeyspaceId(2));
    let ids = [
        LockId::of_key(one, b"anna"),
        LockId::of_key(one, b"berta"),
        LockId::of_key(other, b"anna"),
        LockId::of_keyspace(one),
        LockId::of_keyspace(other),
    ];
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(ids.iter().filter(|same| *same == id).count(), 1);
        assert_eq!(id.is_keyspace(), index >= 3);
    }
    assert_eq!(ids[0], LockId::of_key(one, b"anna"));
}

#[test]
fn locks_are_spread_over_the_stripes() {
    // 6400 keys, and 64 keyspaces, over 64 stripes: no stripe has more than twice its share.
    let mut key_counts = [0; 64];
    let mut keyspace_counts = [0; 64];
    for number in 0..6_400_u32 {
        let key = LockId::of_key(KeyspaceId::DEFAULT, &number.to_be_bytes());
        key_counts[key.stripe_index(64)] += 1;
        let keyspace = LockId::of_keyspace(KeyspaceId(number % 64));
        keyspace_counts[keyspace.stripe_index(64)] += 1;
    }
    assert!(key_counts.iter().all(|count| *count <= 200));
    assert_eq!(keyspace_counts, [100; 64]);
}
