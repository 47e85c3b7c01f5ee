//! Tests of `sharded`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::env::random::Random;

const BLOCK_BYTES: usize = 4096;

fn key(file: u64, block: u64) -> BlockKey {
    let offset = block * 4096;
    let file = FileNumber(file);
    BlockKey { file, offset }
}

fn insert(cache: &ShardedCache<Arc<u64>>, key: BlockKey, value: u64, charge_bytes: usize) {
    cache.insert(key, Arc::new(value), charge_bytes);
    assert!(cache.used_bytes() <= cache.capacity_bytes());
}

#[test]
fn what_is_found_is_what_was_put_last() {
    // Random calls of every kind against a map that forgets nothing: a hit must be the newest
    // value of its key, removed files are gone, and the budget holds after every call.
    let mut random = Random::new(3);
    let cache = ShardedCache::new(3 << 20);
    let mut oracle: HashMap<BlockKey, u64> = HashMap::new();
    for step in 0..60_000 {
        let key = key(random.below(20), random.below(150));
        match random.below(1000) {
            0 => {
                cache.remove_file(key.file);
                oracle.retain(|old, _| old.file != key.file);
            }
            1 => {
                let capacity = usize::try_from(random.below(4 << 20)).unwrap();
                cache.set_capacity_bytes(capacity);
            }
            2..250 => {
                let charge = usize::try_from(random.below(9000)).unwrap();
                insert(&cache, key, step, charge);
                oracle.insert(key, step);
            }
            250..400 => {
                let charge = usize::try_from(random.below(9000)).unwrap();
                cache.offer(key, Arc::new(step), charge);
                oracle.insert(key, step);
            }
            _ => {
                if let Some(found) = cache.get(&key) {
                    assert_eq!(Some(&*found), oracle.get(&key));
                }
            }
        }
        assert!(cache.used_bytes() <= cache.capacity_bytes());
    }
    assert!(cache.hits() > 1000 && cache.misses() > 1000);
    for file in 0..20 {
        cache.remove_file(FileNumber(file));
    }
    assert_eq!(cache.used_bytes(), 0);
}

#[test]
fn what_leaves_is_handed_out() {
    // Of equal blocks each that comes into a full cache hands out one that is no longer there, of
    // which nobody else has a handle.
    let cache = ShardedCache::new(1 << 20);
    let mut gone = 0;
    for block in 0..1000 {
        let left = cache.insert(key(1, block), Arc::new(block), BLOCK_BYTES);
        if let Some(left) = left {
            assert!(cache.get(&key(1, *left)).is_none());
            assert_eq!(Arc::into_inner(left).map(|left| left < block), Some(true));
            gone += 1;
        }
    }
    let held = (0..1000).filter(|block| cache.get(&key(1, *block)).is_some());
    assert_eq!(held.count() + gone, 1000);
}

#[test]
fn what_fits_stays() {
    // Below its budget a cache evicts nothing.
    let cache = ShardedCache::new(32 << 20);
    for block in 0..3000 {
        insert(&cache, key(1, block), block, BLOCK_BYTES);
    }
    assert!((0..3000).all(|block| cache.get(&key(1, block)).is_some()));
    assert_eq!((cache.hits(), cache.misses()), (3000, 0));
    let charged = BLOCK_BYTES + ShardedCache::<Arc<u64>>::ENTRY_BYTES;
    let of_files = cache.used_bytes() - 3000 * charged;
    assert_eq!(of_files, 32 * Shard::<Arc<u64>>::FILE_BYTES);
}

#[test]
fn what_is_offered_once_pushes_nothing_out() {
    // While there is room, all that is offered is kept. Then nothing leaves for what is offered
    // once, although nobody used it; what is offered again and again is kept, the fifth time at the
    // latest.
    let cache = ShardedCache::new(8 << 20);
    let offer = |key, value| cache.offer(key, Arc::new(value), BLOCK_BYTES);
    let first_full = (0..)
        .find(|block| {
            let had_room = cache.has_room(&key(1, *block), BLOCK_BYTES);
            offer(key(1, *block), *block);
            !had_room
        })
        .unwrap();
    let used_bytes = cache.used_bytes();
    for block in 0..20_000 {
        // The shards that are not full yet become so.
        offer(key(2, block), block);
    }
    assert!(cache.used_bytes() > used_bytes);
    assert!((0..first_full).all(|block| cache.get(&key(1, block)).is_some()));
    assert!(cache.get(&key(2, 19_999)).is_none());
    let is_kept = |_: &i32| {
        offer(key(2, 19_999), 7);
        cache.get(&key(2, 19_999)).is_some()
    };
    assert!((1..5).find(is_kept).is_some());
    assert_eq!(cache.get(&key(2, 19_999)).as_deref(), Some(&7));
    assert!(cache.used_bytes() <= cache.capacity_bytes());
}

#[test]
fn one_long_scan_does_not_flush_the_hot_set() {
    // A hot set of half the budget is read now and then, while a scan of ten times the budget
    // passes by.
    let cache = ShardedCache::new(8 << 20);
    let hot = |block| key(1, block);
    for _ in 0..3 {
        for block in 0..1000 {
            if cache.get(&hot(block)).is_none() {
                insert(&cache, hot(block), block, BLOCK_BYTES);
            }
        }
    }
    for block in 0..20_000 {
        let scanned = key(2, block);
        assert!(cache.get(&scanned).is_none());
        insert(&cache, scanned, block, BLOCK_BYTES);
    }
    let kept = (0..1000)
        .filter(|&block| cache.get(&hot(block)).is_some())
        .count();
    assert!(kept >= 990, "{kept}");
}

#[test]
fn a_new_hot_set_takes_over() {
    // Resisting scans must not mean holding on to what was hot once.
    let cache = ShardedCache::new(8 << 20);
    let mut random = Random::new(4);
    for file in [1, 2] {
        let hits_before = cache.hits();
        for step in 0..60_000 {
            if step == 40_000 {
                assert!(cache.hits() > hits_before);
            }
            let key = key(file, random.below(1500));
            if cache.get(&key).is_none() {
                insert(&cache, key, step, BLOCK_BYTES);
            }
        }
        let kept = (0..1500)
            .filter(|&block| cache.get(&key(file, block)).is_some())
            .count();
        assert!(kept > 1350, "{kept}");
    }
}

#[test]
fn a_block_beyond_its_share_is_not_kept() {
    // Not an error: the reader has its block, the cache goes on; an older one of that key leaves.
    let cache = ShardedCache::new(1 << 20);
    insert(&cache, key(1, 1), 1, BLOCK_BYTES);
    insert(&cache, key(1, 1), 2, 2 << 20);
    insert(&cache, key(1, 2), 2, usize::MAX);
    assert!(cache.get(&key(1, 1)).is_none());
    assert!(cache.get(&key(1, 2)).is_none());
    assert_eq!(cache.used_bytes(), 0);
}

#[test]
fn shrinking_evicts_at_once_and_keeps_the_handles_alive() {
    // The budget is one hard number; who holds a block keeps it all the same.
    let cache = ShardedCache::new(16 << 20);
    for block in 0..2000 {
        insert(&cache, key(1, block), block, BLOCK_BYTES);
    }
    let held = cache.get(&key(1, 7)).unwrap();
    cache.set_capacity_bytes(1 << 20);
    assert!(cache.used_bytes() <= 1 << 20);
    assert!(cache.used_bytes() > 1 << 19);
    let left: Vec<_> = (0..2000)
        .filter(|&block| cache.get(&key(1, block)).is_some())
        .collect();
    assert!(left.len() > 100);
    cache.set_capacity_bytes(0);
    assert_eq!(cache.used_bytes(), 0);
    assert_eq!(*held, 7);
    cache.set_capacity_bytes(1 << 20);
    insert(&cache, key(1, 7), 8, 100);
    assert_eq!(*cache.get(&key(1, 7)).unwrap(), 8);
}

#[test]
fn what_is_held_takes_from_the_budget_until_it_is_let_go() {
    // A reader holds each tenth block of far more than fit: what is pinned and what is cached stay
    // within the budget, but for the cache's last sixteenth; once let go, the cache has it all.
    let cache = ShardedCache::new(8 << 20);
    let mut held = Vec::new();
    let mut total_max = 0;
    for block in 0..10_000 {
        let value = Arc::new(block);
        cache.insert(key(1, block), Arc::clone(&value), BLOCK_BYTES);
        if block % 10 == 0 {
            held.push(value);
        }
        let pinned = cache.pinned_bytes();
        assert!(pinned <= held.len() * BLOCK_BYTES);
        total_max = total_max.max(pinned + cache.used_bytes());
    }
    assert!(total_max <= (8 << 20) + (8 << 20) / 64, "{total_max} bytes");
    assert!(
        cache.pinned_bytes() > 3 << 20,
        "{} bytes",
        cache.pinned_bytes()
    );
    for block in 10_000..20_000 {
        cache.insert(key(1, block), Arc::new(block), BLOCK_BYTES);
        held.extend(cache.get(&key(1, block)));
    }
    assert!(cache.pinned_bytes() > 8 << 20);
    assert!(cache.used_bytes() <= (8 << 20) / 16);
    assert!(cache.used_bytes() > (8 << 20) / 32);
    held.clear();
    cache.cells.iter().for_each(Cell::look_through);
    assert_eq!((cache.pinned_bytes(), cache.pinned_count()), (0, 0));
    for block in 20_000..24_000 {
        insert(&cache, key(1, block), block, BLOCK_BYTES);
    }
    assert!(cache.used_bytes() > 7 << 20);
}

#[test]
fn threads_share_it_within_the_budget() {
    // Readers, writers and a remover at once: every hit is right, and the budget holds in the end.
    let cache: ShardedCache<Arc<u64>> = ShardedCache::new(2 << 20);
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let cache = &cache;
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..8000 {
                    let (file, block) = (random.below(8), random.below(200));
                    let value = file * 1000 + block;
                    match cache.get(&key(file, block)) {
                        Some(found) => assert_eq!(*found, value),
                        None => {
                            cache.insert(key(file, block), Arc::new(value), BLOCK_BYTES);
                        }
                    }
                    if random.one_in(500) {
                        cache.remove_file(FileNumber(file));
                    }
                }
            });
        }
    });
    assert!(cache.used_bytes() <= cache.capacity_bytes());
}
