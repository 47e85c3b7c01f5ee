//! Tests of `cursor`.

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::sst::block::builder::BlockBuilder;
use crate::store::sst::block::point::{Wanted, find};

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn random_key(random: &mut Random) -> Vec<u8> {
    let len = match random.below(10) {
        0 => 0,
        1 => random.below(300) as usize,
        _ => random.below(8) as usize,
    };
    (0..len)
        .map(|_| [0, b'a', b'b', 0xff][random.below(4) as usize])
        .collect()
}

fn random_rows(random: &mut Random) -> Rows {
    let mut rows = Rows::new();
    for _ in 0..random.below(60) {
        let key = random_key(random);
        for _ in 0..1 + random.below(3) * random.below(4) {
            let seqno = SeqNo::new(random.below(50));
            let len_max = if random.one_in(8) { 300 } else { 10 };
            let len = random.below(len_max) as usize;
            let internal = key::encode(&key, Trailer::new(seqno, Kind::Put));
            rows.push((internal, random.bytes(len)));
        }
    }
    let comparator = Comparator::Bytewise;
    rows.sort_by(|l, r| key::compare(&comparator, &l.0, &r.0));
    rows.dedup_by(|l, r| l.0 == r.0);
    rows
}

fn block_of(rows: &Rows, interval: usize, has_hash_index: bool) -> Checked {
    let mut builder = BlockBuilder::new(interval, has_hash_index);
    for (internal, value) in rows {
        builder.add(internal, hash64(key::user_key(internal)), value);
    }
    let estimate = builder.size_estimate();
    let bytes = builder.finish().to_vec();
    assert!(bytes.len() <= estimate);
    Checked::new(bytes).unwrap()
}

#[test]
fn moves_as_the_model_moves() {
    // Random blocks, and walks of seeks and steps both ways beside an index into a sorted list.
    let mut random = Random::new(5);
    let comparator = Comparator::Bytewise;
    for round in 0..400 {
        let rows = random_rows(&mut random);
        let block = block_of(&rows, 1 + random.below(20) as usize, random.one_in(2));
        let mut cursor = BlockCursor::default();
        cursor.enter(block);
        let mut place: Option<usize> = None;
        for _ in 0..60 {
            let is_on = match (random.below(6), place) {
                (0, _) => {
                    place = (!rows.is_empty()).then_some(0);
                    cursor.seek_to_first().unwrap()
                }
                (1, _) => {
                    place = rows.len().checked_sub(1);
                    cursor.seek_to_last().unwrap()
                }
                (2 | 3, Some(at)) => {
                    place = (at + 1 < rows.len()).then_some(at + 1);
                    cursor.next().unwrap()
                }
                (4, Some(at)) => {
                    place = at.checked_sub(1);
                    cursor.prev().unwrap()
                }
                _ => {
                    let newest = Trailer::seek(SeqNo::new(random.below(50)));
                    let target = key::encode(&random_key(&mut random), newest);
                    let is_before = |row: &(Vec<u8>, Vec<u8>)| {
                        key::compare(&comparator, &row.0, &target) == Ordering::Less
                    };
                    let at = rows.partition_point(is_before);
                    place = (at < rows.len()).then_some(at);
                    cursor.seek(&comparator, &target).unwrap()
                }
            };
            assert_eq!(is_on, place.is_some(), "round {round}");
            assert_eq!(cursor.is_valid(), place.is_some());
            if let Some(at) = place {
                assert_eq!(cursor.key(), rows[at].0);
                assert_eq!(cursor.value(), rows[at].1);
                assert_eq!(cursor.value_bytes(), rows[at].1);
            }
        }
    }
}

#[test]
fn point_reads_find_what_a_walk_finds() {
    // Every key of the block and many strangers, at random sequence numbers.
    let mut random = Random::new(6);
    let comparator = Comparator::Bytewise;
    for round in 0..400 {
        let rows = random_rows(&mut random);
        let block = block_of(&rows, 1 + random.below(20) as usize, random.one_in(2));
        for _ in 0..60 {
            let key = match rows.len() {
                0 => random_key(&mut random),
                _ if random.one_in(3) => random_key(&mut random),
                count => key::user_key(&rows[random.below(count as u64) as usize].0).to_vec(),
            };
            let newest = Trailer::seek(SeqNo::new(random.below(60)));
            let walked = rows.iter().find(|(internal, _)| {
                let (user_key, trailer) = key::split(internal);
                user_key == key && trailer <= newest
            });
            let wanted = Wanted {
                key: &key,
                hash: hash64(&key),
                newest,
            };
            let found = find(&block, &comparator, wanted).unwrap();
            let found = found
                .map(|(trailer, range)| (key::encode(&key, trailer), block.slice(range).to_vec()));
            assert_eq!(found.as_ref(), walked, "round {round}");
        }
    }
}

#[test]
fn long_trails_are_forgotten_and_laid_again() {
    // One restart, long keys: going back, the interval is more than a trail holds.
    let mut rows = Rows::new();
    for number in 0..400u32 {
        let mut key = vec![b'k'; 2000];
        key.extend(number.to_be_bytes());
        let internal = key::encode(&key, Trailer::new(SeqNo::ZERO, Kind::Delete));
        rows.push((internal, Vec::new()));
    }
    let mut cursor = BlockCursor::default();
    cursor.enter(block_of(&rows, 1000, false));
    let mut is_on = cursor.seek_to_last().unwrap();
    for (internal, _) in rows.iter().rev() {
        assert!(is_on);
        assert_eq!(cursor.key(), internal);
        assert!(cursor.trail.keys.len() <= TRAIL_BYTES_MAX);
        is_on = cursor.prev().unwrap();
    }
    assert!(!is_on);
}
