//! Tests of `gather`.

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::cursor::Way;
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::key::{self, Trailer};
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::sst::block::builder::BlockBuilder;
use crate::store::sst::block::checked::Checked;
use crate::store::sst::block::cursor::BlockCursor;

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

const KINDS: [Kind; 5] = [
    Kind::Delete,
    Kind::Merge,
    Kind::PutExpiring,
    Kind::PutExpiringMillis,
    Kind::PutSeparated,
];

/// Mostly plain values of different keys.
fn random_rows(random: &mut Random) -> Rows {
    let mut rows = Rows::new();
    for number in 0..random.below(80) {
        let long = [b'k'; 70];
        let prefix_len = if random.one_in(10) { 70 } else { 3 };
        let key = [&long[..prefix_len], format!("{:05}", number * 3).as_bytes()].concat();
        let version_count = if random.one_in(12) { 3 } else { 1 };
        for _ in 0..version_count {
            let kind = match random.one_in(12) {
                true => KINDS[random.below(5) as usize],
                false => Kind::Put,
            };
            let trailer = Trailer::new(SeqNo::new(random.below(100)), kind);
            let len = random.below(150) as usize;
            rows.push((key::encode(&key, trailer), random.bytes(len)));
        }
    }
    rows.sort_by(|l, r| key::compare(&Comparator::Bytewise, &l.0, &r.0));
    rows.dedup_by(|l, r| l.0 == r.0);
    rows
}

fn cursor_over(rows: &Rows, interval: usize) -> BlockCursor {
    let mut builder = BlockBuilder::new(interval, false);
    for (internal, value) in rows {
        builder.add(internal, hash64(key::user_key(internal)), value);
    }
    let mut cursor = BlockCursor::default();
    cursor.enter(Checked::new(builder.finish().to_vec()).unwrap());
    cursor
}

fn is_for(row: &(Vec<u8>, Vec<u8>), at: SeqNo) -> bool {
    let (_, trailer) = key::split(&row.0);
    trailer.kind() == Kind::Put && trailer.seqno() <= at
}

/// Whether row `index` may follow, or precede, its neighbour in a chunk.
fn is_alone(rows: &Rows, index: usize) -> bool {
    let own = key::user_key(&rows[index].0);
    index > 0 && key::user_key(&rows[index - 1].0) != own
}

/// Rows of a random block and a cursor on one of them, of which the place is the last part; `None`
/// where the block came out empty.
fn cursor_in_random_block(random: &mut Random) -> Option<(Rows, BlockCursor, usize)> {
    let rows = random_rows(random);
    if rows.is_empty() {
        return None;
    }
    let mut cursor = cursor_over(&rows, 1 + random.below(20) as usize);
    let from = random.below(rows.len() as u64) as usize;
    assert!(cursor.seek(&Comparator::Bytewise, &rows[from].0).unwrap());
    Some((rows, cursor, from))
}

#[test]
fn a_lookahead_is_what_lies_behind() {
    // Random blocks, places and numbers wanted, both ways, beside the rows in a vector; then a step
    // either way from where the cursor came to.
    let mut random = Random::new(4);
    let mut taken_count = 0;
    for round in 0..2000 {
        let Some((rows, mut cursor, from)) = cursor_in_random_block(&mut random) else {
            continue;
        };
        let is_back = random.one_in(2);
        let way = if is_back { Way::Back } else { Way::Forward };
        let count_max = 1 + random.below(70) as usize;
        let mut chunk = EntryChunk::default();
        let is_taken = cursor.lookahead(way, count_max, &mut chunk);
        taken_count += u32::from(is_taken);
        let is_last = from == if is_back { 0 } else { rows.len() - 1 };
        assert!(!(is_taken && is_last), "{round}");
        let reached = match (is_taken, is_back) {
            (false, _) => from,
            (true, false) => from + chunk.len(),
            (true, true) => from - chunk.len(),
        };
        assert_eq!(cursor.key(), rows[reached].0, "{round}");
        assert_eq!(cursor.value(), rows[reached].1, "{round}");
        let mut at = from;
        let count = if is_taken { chunk.len() } else { 0 };
        for step in 1..=count {
            at = if is_back { at - 1 } else { at + 1 };
            assert_eq!(chunk.key(), rows[at].0, "{round}");
            assert_eq!(chunk.value(), rows[at].1, "{round}");
            let is_on = if is_back {
                chunk.step_back()
            } else {
                chunk.step()
            };
            assert_eq!(is_on, step < count, "{round}");
        }
        assert_eq!(at, reached, "{round}");
        if random.one_in(2) {
            assert_eq!(cursor.next().unwrap(), reached + 1 < rows.len());
            if let Some(row) = rows.get(reached + 1) {
                assert_eq!(cursor.key(), row.0, "{round}");
            }
        } else {
            assert_eq!(cursor.prev().unwrap(), reached > 0);
        }
    }
    // Where there is none, nothing was shown.
    assert!(taken_count > 1000, "{taken_count}");
}

#[test]
fn a_chunk_is_what_one_by_one_would_find() {
    // Random blocks, places, readers, limits and numbers wanted, both ways, beside the rows in a
    // vector; then a step either way from where the cursor came to.
    let mut random = Random::new(3);
    for round in 0..3000 {
        let Some((rows, mut cursor, from)) = cursor_in_random_block(&mut random) else {
            continue;
        };
        let at = SeqNo::new(40 + random.below(100));
        let way = if random.one_in(2) {
            Way::Forward
        } else {
            Way::Back
        };
        let limit_at = random.below(rows.len() as u64) as usize;
        let is_ahead = if way == Way::Forward {
            limit_at > from
        } else {
            limit_at < from
        };
        let limit = is_ahead.then(|| key::user_key(&rows[limit_at].0));
        let count_max = 1 + random.below(100) as usize;
        let terms = Terms {
            comparator: &Comparator::Bytewise,
            at,
            limit,
            count_max,
        };
        let is_within = |index: usize| {
            let own = key::user_key(&rows[index].0);
            limit.is_none_or(|limit| {
                if way == Way::Forward {
                    own < limit
                } else {
                    own > limit
                }
            })
        };
        let is_in = |index: &usize| {
            is_for(&rows[*index], at) && is_alone(&rows, *index) && is_within(*index)
        };
        let mut chunk = EntryChunk::default();
        let is_gathered = cursor.gather(way, &terms, &mut chunk);
        let (first, last) = match way {
            Way::Forward => {
                let more = (from + 1..rows.len()).take(count_max - 1).take_while(is_in);
                (from, from + more.count())
            }
            Way::Back => {
                let count = (0..=from).rev().take_while(is_in).count();
                (from + 1 - count.max(1), from)
            }
        };
        let reached = match (is_gathered, way) {
            (false, _) => from,
            (true, Way::Forward) => from + chunk.len() - 1,
            (true, Way::Back) => from + 1 - chunk.len(),
        };
        match way {
            // Long keys may fill the room before.
            Way::Forward => assert!(reached <= last, "{round}"),
            Way::Back => assert!(reached >= first, "{round}"),
        }
        assert_eq!(cursor.key(), rows[reached].0, "{round}");
        assert_eq!(cursor.value(), rows[reached].1, "{round}");
        if is_gathered {
            let mut all: Vec<usize> = (from.min(reached)..=from.max(reached)).collect();
            if way == Way::Back {
                all.reverse();
            }
            for index in all {
                assert_eq!(chunk.user_key(), key::user_key(&rows[index].0), "{round}");
                assert_eq!(chunk.value(), rows[index].1, "{round}");
                let has_more = if way == Way::Forward {
                    chunk.step()
                } else {
                    chunk.step_back()
                };
                assert_eq!(has_more, index != reached, "{round}");
            }
        }
        if random.one_in(2) {
            assert_eq!(cursor.next().unwrap(), reached + 1 < rows.len());
            if let Some(row) = rows.get(reached + 1) {
                assert_eq!(cursor.key(), row.0, "{round}");
            }
        } else {
            assert_eq!(cursor.prev().unwrap(), reached > 0);
            if reached > 0 {
                assert_eq!(cursor.key(), rows[reached - 1].0, "{round}");
            }
        }
    }
}

#[test]
fn all_of_a_usual_block_is_one_chunk_backwards() {
    // Forty entries, of which the first alone may have a newer version in the block before.
    let row = |number: u32| {
        let key = format!("{number:016}").into_bytes();
        let trailer = Trailer::new(SeqNo::new(7), Kind::Put);
        (key::encode(&key, trailer), vec![b'v'; 100])
    };
    let rows: Rows = (0..40).map(row).collect();
    let mut cursor = cursor_over(&rows, 16);
    assert!(cursor.seek_to_last().unwrap());
    let terms = Terms {
        comparator: &Comparator::Bytewise,
        at: SeqNo::MAX,
        limit: None,
        count_max: 128,
    };
    let mut chunk = EntryChunk::default();
    assert!(cursor.gather(Way::Back, &terms, &mut chunk));
    assert_eq!(chunk.len(), 39);
    assert_eq!(cursor.key(), rows[1].0);
}

#[test]
fn damaged_entries_end_a_chunk() {
    // One byte of the entries changed: the chunk ends there or holds it as it is now, and nothing
    // panics.
    let mut random = Random::new(4);
    for _ in 0..3000 {
        let rows = random_rows(&mut random);
        let mut builder = BlockBuilder::new(1 + random.below(20) as usize, false);
        for (internal, value) in &rows {
            builder.add(internal, 0, value);
        }
        let mut bytes = builder.finish().to_vec();
        let place = random.below(bytes.len() as u64) as usize;
        bytes[place] ^= 1 << random.below(8);
        let Ok(block) = Checked::new(bytes) else {
            continue;
        };
        let mut cursor = BlockCursor::default();
        cursor.enter(block);
        let way = if random.one_in(2) {
            Way::Forward
        } else {
            Way::Back
        };
        let mut is_on = match way {
            Way::Forward => cursor.seek_to_first(),
            Way::Back => cursor.seek_to_last(),
        };
        let terms = Terms {
            comparator: &Comparator::Bytewise,
            at: SeqNo::MAX,
            limit: None,
            count_max: 1 + random.below(60) as usize,
        };
        let mut chunk = EntryChunk::default();
        for _ in 0..2 * rows.len() {
            if !matches!(is_on, Ok(true)) {
                break;
            }
            chunk.clear();
            if cursor.gather(way, &terms, &mut chunk) {
                assert!(!chunk.is_empty());
                while chunk.step() {
                    assert!(chunk.user_key().len() + chunk.value().len() < 1 << 20);
                }
            }
            is_on = match way {
                Way::Forward => cursor.next(),
                Way::Back => cursor.prev(),
            };
        }
    }
}
