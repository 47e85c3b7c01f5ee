//! Tests of `block`.

use super::*;
use crate::env::random::Random;
use crate::store::sst::index::builder::IndexBuilder;

fn handle(offset: u64) -> BlockHandle {
    BlockHandle {
        offset,
        compressed_len: 95,
        plain_len: 300,
    }
}

#[test]
fn a_search_finds_what_a_walk_finds() {
    // Random separators with long common heads, zero bytes and several versions of one key.
    let mut random = Random::new(7);
    for round in 0..300 {
        let head = b"common/head/"[..random.below(12) as usize].to_vec();
        let mut separators: Vec<(Vec<u8>, u64)> = (0..1 + random.below(40))
            .map(|_| {
                let mut key = head.clone();
                let len = random.below(12) as usize;
                key.extend((0..len).map(|_| [0, 1, b'a', 0xff][random.below(4) as usize]));
                (key, random.below(3) * 256)
            })
            .collect();
        separators.sort_by(|l, r| l.0.cmp(&r.0).then(r.1.cmp(&l.1)));
        separators.dedup();
        let mut builder = IndexBuilder::default();
        for (index, (key, trailer)) in separators.iter().enumerate() {
            builder.add(key, *trailer, handle(index as u64 * 100));
        }
        let block = IndexBlock::read(&builder.encode(0..separators.len())).unwrap();
        assert_eq!(block.len(), separators.len());
        for _ in 0..50 {
            let mut target = separators[random.below(separators.len() as u64) as usize]
                .0
                .clone();
            if random.one_in(2) {
                target.truncate(random.below(target.len() as u64 + 1) as usize);
            }
            if random.one_in(2) {
                target.push([0, 1, b'b'][random.below(3) as usize]);
            }
            let trailer = random.below(4) * 256;
            let walked = separators
                .iter()
                .position(|(key, t)| *key > target || *key == target && *t <= trailer)
                .unwrap_or(separators.len());
            let found = block.first_not_before(&Comparator::Bytewise, &target, trailer);
            assert_eq!(found, walked, "round {round}");
            if found < block.len() {
                assert_eq!(block.handle(found), handle(found as u64 * 100));
            }
        }
    }
}

#[test]
fn damaged_index_bytes_are_refused() {
    // Cuts and flipped bits never panic; most are noticed here, the others by the checksum.
    let mut builder = IndexBuilder::default();
    for index in 0..20u64 {
        builder.add(
            format!("key{index:03}").as_bytes(),
            index,
            handle(index * 100),
        );
    }
    let good = builder.encode(0..20);
    assert!(IndexBlock::read(&[]).is_err());
    assert!(IndexBlock::read(&[0]).unwrap().is_empty());
    for len in 1..good.len() {
        if let Ok(block) = IndexBlock::read(&good[..len]) {
            assert!(block.len() < 20);
        }
    }
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        if let Ok(block) = IndexBlock::read(&bad) {
            let at = block.first_not_before(&Comparator::Bytewise, b"key010", 0);
            assert!(at <= block.len());
        }
    }
}
