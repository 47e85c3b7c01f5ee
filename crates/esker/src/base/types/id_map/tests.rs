//! Tests of `id_map`.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};

use super::*;
use crate::base::types::ids::{FileNumber, KeyspaceId};

fn hash(key: impl Hash) -> u64 {
    BuildHasherDefault::<IdHasher>::default().hash_one(key)
}

#[test]
fn numbers_in_a_row_fall_into_places_of_their_own() {
    // A map of 1024 places looks at the low ten bits, and tells keys of one place apart by the top
    // seven: of 1024 files in a row, or every eighth, no two may share both.
    for step in [1, 2, 8, 1000] {
        let places: HashSet<(u64, u64)> = (0..1024)
            .map(|number| hash(FileNumber(number * step)))
            .map(|hash| (hash & 1023, hash >> 57))
            .collect();
        assert!(places.len() > 960, "{step}: {}", places.len());
    }
}

#[test]
fn a_map_holds_what_was_put_in() {
    // Small and large numbers, and a key that is no single number.
    let mut map = IdMap::default();
    for number in [0, 1, 7, u32::MAX] {
        map.insert(KeyspaceId(number), number);
    }
    assert_eq!(map.get(&KeyspaceId(7)), Some(&7));
    assert_eq!(map.get(&KeyspaceId(8)), None);
    assert_eq!(map.len(), 4);
    assert_ne!(hash("a"), hash("b"));
}
