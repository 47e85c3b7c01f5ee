//! Tests of `entry_chunk`.

use std::ops::Range;

use super::*;
use crate::base::types::chunk_writer::Put;
use crate::base::types::prefix::prefix_number_16;
use crate::env::random::Random;

fn key_of(random: &mut Random, before: &[u8]) -> (usize, Vec<u8>) {
    if random.one_in(6) {
        return (before.len(), random.bytes(TRAILER_BYTES));
    }
    let shared = random.below(before.len() as u64 + 1) as usize;
    let len_max = if random.one_in(4) { 60 } else { 12 };
    let len = random.below(len_max) as usize + TRAILER_BYTES;
    (shared, random.bytes(len))
}

/// As a memory does: short keys the short way.
fn put(writer: &mut ChunkWriter<'_>, shared: usize, rest: &[u8], rest_len: usize) -> Put {
    let unshared = u8::try_from(rest_len - TRAILER_BYTES).unwrap();
    let front = rest.first_chunk();
    let put = front.and_then(|front| {
        let shared = u8::try_from(shared).ok()?;
        writer.put_short(shared, unshared, front)
    });
    put.unwrap_or_else(|| writer.put_key(shared, rest, rest_len))
}

#[test]
fn keys_come_out_as_they_went_in() {
    // Keys of all lengths built upon one another, the rest of each with and without bytes behind
    // it, some kept and some not.
    let mut random = Random::new(1);
    for _ in 0..300 {
        let mut chunk = EntryChunk::default();
        let bytes = Arc::<[u8]>::from(random.bytes(1000));
        let mut writer = chunk.begin(40, 20);
        let mut rows: Vec<(Vec<u8>, Range<usize>)> = Vec::new();
        let mut last: Vec<u8> = Vec::new();
        let mut is_first = true;
        for _ in 0..random.below(30) {
            let (shared, rest) = key_of(&mut random, &last);
            let slack = random.below(40) as usize;
            let behind = random.bytes(slack);
            let put = put(
                &mut writer,
                shared,
                &[&rest[..], &behind].concat(),
                rest.len(),
            );
            if put == Put::Refused {
                break;
            }
            let before = last.clone();
            last.truncate(shared);
            last.extend_from_slice(&rest);
            let internal = last.clone();
            last.truncate(last.len() - TRAILER_BYTES);
            assert_eq!(writer.last_user_key(), last);
            assert_eq!(writer.last_prefix(), prefix_number_16(&last));
            assert_eq!(put == Put::Again, !is_first && last == before);
            is_first = false;
            if random.one_in(3) {
                continue;
            }
            let start = random.below(900) as usize;
            writer.keep(start..start + 100);
            rows.push((internal, start..start + 100));
        }
        assert_eq!(chunk.len(), rows.len());
        chunk.bind(&bytes, false);
        assert_eq!(chunk.first_key(), rows.first().map(|row| &row.0[..]));
        assert_eq!(chunk.last_key(), rows.last().map(|row| &row.0[..]));
        for (index, (key, value)) in rows.iter().enumerate() {
            assert_eq!(chunk.user_key(), &key[..key.len() - TRAILER_BYTES]);
            assert_eq!(chunk.value(), &bytes[value.clone()]);
            assert_eq!(chunk.value_bytes(), &bytes[value.clone()]);
            assert_eq!(chunk.step(), index + 1 < rows.len());
        }
        for index in (0..rows.len()).rev() {
            assert_eq!(chunk.step_back(), index > 0);
        }
    }
}
