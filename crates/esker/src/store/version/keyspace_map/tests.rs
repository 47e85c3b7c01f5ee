//! The map against the standard library's, and what copies share.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::types::ids::KeyspaceId;
use crate::env::random::Random;
use crate::store::version::keyspace_map::KeyspaceMap;

type Model = BTreeMap<KeyspaceId, u64>;

fn check(map: &KeyspaceMap<u64>, model: &Model) {
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    let pairs: Vec<(KeyspaceId, u64)> = map.iter().map(|(id, state)| (*id, **state)).collect();
    let wanted: Vec<(KeyspaceId, u64)> = model.iter().map(|(id, state)| (*id, *state)).collect();
    assert_eq!(pairs, wanted);
    let backwards: Vec<u64> = map.values().rev().map(|state| **state).collect();
    assert_eq!(backwards, model.values().rev().copied().collect::<Vec<_>>());
}

#[test]
fn it_is_as_the_map_of_the_standard_library() {
    let mut random = Random::new(7);
    let (mut map, mut model) = (KeyspaceMap::default(), Model::new());
    let mut before: Vec<(KeyspaceMap<u64>, Model)> = Vec::new();
    for round in 0..3_000_u64 {
        let id = KeyspaceId(u32::try_from(random.below(400)).unwrap());
        match random.below(8) {
            0..4 => {
                map.insert(id, Arc::new(round));
                model.insert(id, round);
            }
            4 | 5 => assert_eq!(map.remove(&id).map(|it| *it), model.remove(&id)),
            6 => {
                let changed = map.get_mut(&id).map(|it| *Arc::make_mut(it) = round);
                assert_eq!(changed, model.get_mut(&id).map(|it| *it = round));
            }
            _ if random.one_in(50) => {
                let is_kept = |id: &KeyspaceId| !id.0.is_multiple_of(3);
                map.retain(|id, _| is_kept(id));
                model.retain(|id, _| is_kept(id));
            }
            _ => {
                assert_eq!(map.get(&id).map(|it| **it), model.get(&id).copied());
                assert_eq!(map.contains_key(&id), model.contains_key(&id));
            }
        }
        if random.one_in(30) {
            check(&map, &model);
            before.push((map.clone(), model.clone()));
        }
        if let Some((older, its_model)) = before.last() {
            let mut found: Model = older.iter().map(|(id, it)| (*id, **it)).collect();
            let changed = older.not_shared_with(&map).map(|it| **it);
            let changed: Vec<u64> = changed.collect();
            // What both have as it was is left out by whole parts, and nothing else ever is.
            found.retain(|id, it| model.get(id) != Some(it));
            assert!(found.values().all(|it| changed.contains(it)));
            assert_eq!(older.len(), its_model.len());
        }
    }
    // No copy was changed by what became of the others.
    before.iter().for_each(|(map, model)| check(map, model));
}

#[test]
fn a_copy_in_which_one_changes_shares_all_others_but_its_part() {
    let mut map = KeyspaceMap::default();
    (0..1_000).for_each(|id| map.insert(KeyspaceId(id), Arc::new(id)));
    let mut copy = map.clone();
    assert_eq!(map.not_shared_with(&copy).count(), 0);
    *Arc::make_mut(copy.get_mut(&KeyspaceId(500)).unwrap()) += 1;
    assert!(map.not_shared_with(&copy).count() <= 64);
    // To ask for what is not there copies nothing.
    let mut copy = map.clone();
    assert!(copy.get_mut(&KeyspaceId(2_000)).is_none());
    assert!(copy.remove(&KeyspaceId(2_000)).is_none());
    assert_eq!(map.not_shared_with(&copy).count(), 0);
}
