//! Tests of `approximation`.

use std::ops::Bound;

use crate::db::handle::Db;
use crate::env::random::Random;
use crate::env::sim::SimWorld;

const KEY_COUNT: u64 = 20_000;

fn key(number: u64) -> Vec<u8> {
    format!("key {number:08}").into_bytes()
}

const WORDS: [&str; 8] = [
    "harbour ", "lantern ", "anchor ", "captain ", "mooring ", "pilot ", "tide ", "beacon ",
];

/// A value of some sixty bytes, of which a dictionary makes phrases.
fn value(random: &mut Random) -> String {
    let word = |_| WORDS[usize::try_from(random.below(8)).unwrap()];
    (0..8).map(word).collect()
}

/// Every key once, in a random order: in two levels of files, and in memory.
fn fill(world: &SimWorld, compression: &str, threshold: &str, random: &mut Random) -> Db {
    let mut builder = Db::builder("db").env(world.env());
    for (name, text) in [
        ("memtable.size", "256KiB"),
        ("sst.file_size", "64KiB"),
        ("compaction.base_level", "256KiB"),
        ("sst.compression_upper", "none"),
        ("sst.dictionary_min", "64KiB"),
        ("compression", compression),
        ("value_log.threshold", threshold),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let mut order: Vec<u64> = (0..KEY_COUNT).collect();
    for place in (1..order.len()).rev() {
        let other = usize::try_from(random.below(place as u64 + 1)).unwrap();
        order.swap(place, other);
    }
    let order_len = order.len();
    for (place, number) in order.into_iter().enumerate() {
        if place == order_len / 2 {
            // Waits for a dictionary where one is wanted.
            db.compact::<&str>(..).unwrap();
        }
        if place % 1000 == 500 {
            world.pool.run_all();
        }
        db.put(key(number), value(random)).unwrap();
    }
    db
}

#[test]
fn counts_and_sizes_are_as_exact_as_told() {
    // Random ranges against the truth, for both kinds of files: at each end of a range every run is
    // wrong by a block's entries at most, and the memtables by an eighth of what they hold.
    for (seed, compression) in [(1, "none"), (2, "searchable")] {
        let world = SimWorld::new(seed);
        let mut random = Random::new(seed);
        let db = fill(&world, compression, "none", &mut random);
        let stats = &db.stats().keyspaces[0];
        let runs: usize = stats.levels.iter().map(|level| level.run_count).sum();
        let files: u64 = stats.levels.iter().map(|level| level.size_bytes).sum();
        // Packed as phrases, all of it is less than the level below the first may be.
        let is_searchable = stats.levels.iter().any(|level| level.searchable_count > 0);
        assert_eq!(is_searchable, compression == "searchable");
        assert!(is_searchable || stats.levels.len() > 1, "{stats:?}");
        let in_files: u64 = stats.levels.iter().map(|level| level.entry_count).sum();
        assert!(in_files < KEY_COUNT, "some are in memory");
        // A block of 4 KiB has some fifty entries of some eighty bytes.
        let per_edge = 64 * runs as u64;

        let all = db.approximate::<&[u8], _>(&[..]).unwrap()[0];
        assert_eq!(all.entry_count, KEY_COUNT);
        assert_eq!((all.file_bytes, all.value_bytes), (files, 0));
        for _ in 0..300 {
            let (from, to) = (random.below(KEY_COUNT), random.below(KEY_COUNT + 1));
            let lower = match random.below(3) {
                0 => (Bound::Unbounded, 0),
                1 => (Bound::Included(key(from)), from),
                _ => (Bound::Excluded(key(from)), from + 1),
            };
            let upper = match random.below(3) {
                0 => (Bound::Unbounded, KEY_COUNT),
                1 => (Bound::Included(key(to)), (to + 1).min(KEY_COUNT)),
                _ => (Bound::Excluded(key(to)), to),
            };
            let truth = upper.1.saturating_sub(lower.1);
            let range = (lower.0, upper.0);
            let told = db
                .approximate::<Vec<u8>, _>(std::slice::from_ref(&range))
                .unwrap()[0];
            let edges = 2 * per_edge;
            assert!(
                told.entry_count.abs_diff(truth) <= edges + (KEY_COUNT - in_files) / 8,
                "{range:?} {told:?} {truth}"
            );
            assert_eq!(told.key_count(), told.entry_count);
            let share = truth as f64 / KEY_COUNT as f64;
            let bytes = (share * files as f64) as u64;
            assert!(
                told.file_bytes.abs_diff(bytes) <= edges * 130,
                "{told:?} {bytes}"
            );
            assert_eq!(db.approximate_size(range.clone()).unwrap(), told.file_bytes);
            assert_eq!(db.approximate_count(range).unwrap(), told.entry_count);
        }
    }
}

#[test]
fn deletes_hide_what_lies_below_them() {
    // In memory one entry each. In the oldest run there is none below, and a merge takes them away.
    let db = Db::builder("db")
        .env(SimWorld::new(3).env())
        .open()
        .unwrap();
    for number in 0..5000 {
        db.put(key(number), "value").unwrap();
    }
    assert_eq!(db.approximate_count(key(100)..key(1100)).unwrap(), 1000);
    assert_eq!(db.approximate_count(key(100)..key(100)).unwrap(), 0);
    assert_eq!(db.approximate_count(key(200)..key(100)).unwrap(), 0);
    assert_eq!(db.approximate_count::<&str>(..).unwrap(), 5000);
    for number in 0..500 {
        db.delete(key(number)).unwrap();
    }
    assert_eq!(db.approximate_count::<&str>(..).unwrap(), 4500);
    db.flush().unwrap();
    assert_eq!(db.approximate_count::<&str>(..).unwrap(), 4500);
    db.compact::<&str>(..).unwrap();
    assert_eq!(db.approximate_count::<&str>(..).unwrap(), 4500);
    assert!(
        db.approximate::<&str, std::ops::RangeFull>(&[])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn separated_values_are_told_apart() {
    // All values lie in the value log: its bytes are told by the entries that point to them, and
    // add up over ranges that meet.
    let world = SimWorld::new(4);
    let mut random = Random::new(4);
    let db = fill(&world, "none", "32B", &mut random);
    db.flush().unwrap();
    let live = db.stats().values.live_bytes;
    assert!(live > 40 * KEY_COUNT);
    let middle = key(KEY_COUNT / 2);
    let ranges = [
        (Bound::Unbounded, Bound::Excluded(&middle)),
        (Bound::Included(&middle), Bound::Unbounded),
        (Bound::Unbounded, Bound::Unbounded),
    ];
    let told = db.approximate::<&Vec<u8>, _>(&ranges).unwrap();
    assert_eq!(told[2].value_bytes, live);
    assert!(
        told[0].value_bytes.abs_diff(live / 2) < live / 10,
        "{told:?}"
    );
    // Each file rounds down once for each of the two.
    let sum = told[0].value_bytes + told[1].value_bytes;
    assert!(sum <= live && live - sum < 1000, "{sum} of {live}");
    assert_eq!(told[2].disk_bytes(), told[2].file_bytes + live);
    assert_eq!(told[2].memory_bytes, 0);
}

#[test]
fn no_data_is_read_for_it() {
    // A thousand ranges are asked for while the cache is empty: what is read is of the index.
    let world = SimWorld::new(5);
    let mut random = Random::new(5);
    let db = fill(&world, "none", "none", &mut random);
    db.compact::<&str>(..).unwrap();
    let looked_for = || {
        let counters = db.stats().counters;
        let of_cache = counters
            .iter()
            .filter(|(name, ..)| name.starts_with("esker_block_cache_"));
        of_cache.map(|(.., value)| value).sum::<u64>()
    };
    let before = looked_for();
    for number in 0..1000 {
        db.approximate_count(key(number)..key(number + 5000))
            .unwrap();
    }
    assert_eq!(looked_for(), before);
}
