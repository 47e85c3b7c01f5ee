//! Tests of the prescribed random numbers.

use super::*;

fn first_keys(seed: u32) -> Vec<u32> {
    let mut park = ParkMiller::new(seed);
    (0..5).map(|_| park.uniform(1_000_000)).collect()
}

#[test]
fn first_keys_of_leveldb_are_reproduced() {
    // The keys with which published runs of a million begin.
    assert_eq!(
        first_keys(1001),
        [823_807, 366_492, 85_941, 607_685, 255_079]
    );
    assert_eq!(
        first_keys(1003),
        [857_421, 316_990, 902_440, 11_354, 989_292]
    );
    let stuck = ParkMiller::new(0x7fff_ffff).next_u32();
    assert_eq!(stuck, ParkMiller::new(1).next_u32());
}

#[test]
fn published_leveldb_runs_find_as_many_keys() {
    // The default list with a million keys, without a store: fillrandom is thread 3, overwrite 4,
    // the three readrandom 5, 6 and 10. These counts stand in published logs.
    const KEYS: u32 = 1_000_000;
    let mut is_there = vec![false; KEYS as usize];
    let mut count = 0;
    for (thread, distinct) in [(3, 631_873), (4, 864_433)] {
        let mut park = ParkMiller::new(1000 + thread);
        for _ in 0..KEYS {
            let slot = &mut is_there[park.uniform(KEYS) as usize];
            count += u32::from(!*slot);
            *slot = true;
        }
        assert_eq!(count, distinct);
    }
    for (thread, found) in [(5, 864_322), (6, 864_083), (10, 864_105)] {
        let mut park = ParkMiller::new(1000 + thread);
        let hits = (0..KEYS).filter(|_| is_there[park.uniform(KEYS) as usize]);
        assert_eq!(hits.count(), found);
    }
}

#[test]
fn twister_is_that_of_the_cpp_library() {
    // The standard names the 10 000th number of the default seed.
    let mut twister = Mt64::new(5489);
    let last = (0..10_000).map(|_| twister.next_u64()).last();
    assert_eq!(last, Some(9_981_545_732_273_789_042));
}
