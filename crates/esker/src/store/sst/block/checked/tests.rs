//! Tests of `checked`.

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::sst::block::builder::BlockBuilder;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block::point::{Wanted, find};

fn small_block() -> Vec<u8> {
    let mut builder = BlockBuilder::new(2, true);
    for (index, key) in [b"apple".as_slice(), b"apply", b"banana", b"band", b"cat"]
        .into_iter()
        .enumerate()
    {
        let internal = key::encode(key, Trailer::new(SeqNo::new(index as u64), Kind::Put));
        builder.add(&internal, hash64(key), b"value");
    }
    builder.finish().to_vec()
}

// Everything a reader may do with a block; only that it ends, and without a panic, is asked.
fn exercise(bytes: Vec<u8>) {
    let Ok(block) = Checked::new(bytes) else {
        return;
    };
    let comparator = Comparator::Bytewise;
    for key in [b"".as_slice(), b"apply", b"bandit", b"zzz"] {
        let newest = Trailer::seek(SeqNo::MAX);
        let hash = hash64(key);
        // Any answer will do: bytes may be damaged, and must not make it panic.
        let _ = find(&block, &comparator, Wanted { key, hash, newest });
        let mut cursor = BlockCursor::default();
        cursor.enter(block.clone());
        let mut forward = cursor.seek(&comparator, &key::encode(key, newest));
        while matches!(forward, Ok(true)) {
            forward = cursor.next();
        }
        let mut backward = cursor.seek_to_last();
        while matches!(backward, Ok(true)) {
            assert!(cursor.value().len() <= block.entries().len());
            backward = cursor.prev();
        }
    }
}

#[test]
fn damaged_blocks_never_panic() {
    // Bytes that carry a right checksum and are nevertheless wrong: every flipped bit, every
    // byte at its extremes, every cut, and noise.
    let good = small_block();
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        exercise(bad);
    }
    for index in 0..good.len() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[index] = byte;
            exercise(bad);
        }
        exercise(good[..index].to_vec());
    }
    let mut random = Random::new(11);
    for _ in 0..3000 {
        let mut bad = good.clone();
        for _ in 0..1 + random.below(6) {
            let index = random.below(bad.len() as u64) as usize;
            bad[index] = random.next_u64() as u8;
        }
        exercise(bad);
        let len = random.below(40) as usize;
        exercise(random.bytes(len));
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    // No tail, more restarts than bytes, restarts that go back, buckets that name nothing.
    let refuse = |bytes: &[u8]| assert!(Checked::new(bytes.to_vec()).is_err(), "{bytes:?}");
    refuse(b"");
    refuse(&[0, 0, 0]);
    refuse(&[1, 0, 0, 0]);
    refuse(&[0xff, 0xff, 0xff, 0x7f]);
    refuse(&[0, 0, 0, 0, 0x80]);
    let good = small_block();
    assert!(Checked::new(good.clone()).is_ok());
    let buckets_end = good.len() - 6;
    let mut bad = good.clone();
    bad[buckets_end - 1] = 3;
    refuse(&bad);
}

#[test]
fn the_hash_index_denies_strangers() {
    // Most keys that are not in the block are recognised without looking at an entry.
    let mut builder = BlockBuilder::new(16, true);
    for number in 0..100 {
        let key = format!("key{number:05}");
        let internal = key::encode(key.as_bytes(), Trailer::new(SeqNo::ZERO, Kind::Put));
        builder.add(&internal, hash64(key.as_bytes()), b"");
    }
    let block = Checked::new(builder.finish().to_vec()).unwrap();
    let absent = (0..1000)
        .filter(|n: &u32| block.bucket(hash64(&n.to_le_bytes())) == Bucket::Absent)
        .count();
    assert!(absent > 350, "{absent}");
    for number in 0..100 {
        let key = format!("key{number:05}");
        assert_ne!(block.bucket(hash64(key.as_bytes())), Bucket::Absent);
    }
}

#[test]
fn an_empty_block_is_empty() {
    // A block that was finished before anything was added.
    let block = Checked::new(BlockBuilder::new(16, true).finish().to_vec()).unwrap();
    let mut cursor = BlockCursor::default();
    cursor.enter(block);
    assert!(!cursor.seek_to_first().unwrap());
    assert!(!cursor.seek_to_last().unwrap());
    let target = key::encode(b"k", Trailer::seek(SeqNo::MAX));
    assert!(!cursor.seek(&Comparator::Bytewise, &target).unwrap());
}

#[test]
fn what_lies_behind_a_block_in_its_memory_means_nothing() {
    // Memory is a little longer than most blocks, and holds what an earlier block left there.
    let plain = small_block();
    let mut memory = plain.clone();
    memory.extend_from_slice(&[0xff; 100]);
    let block = Checked::in_memory(memory.into(), plain.len()).unwrap();
    let known = Checked::new(plain).unwrap();
    assert_eq!(block.entries(), known.entries());
    assert_eq!(block.restart_count(), known.restart_count());
    for key in [b"apple".as_slice(), b"cat", b"none"] {
        assert_eq!(block.bucket(hash64(key)), known.bucket(hash64(key)));
    }
    assert!(Checked::in_memory(Arc::from([0; 3]), 4).is_err());
}

#[test]
fn memory_that_somebody_holds_is_not_used_again() {
    // A reader who kept the block, or a value of it, must not see it change.
    let block = Checked::new(small_block()).unwrap();
    let other = block.clone();
    assert!(other.into_memory().is_none());
    let value = block.slice(0..31);
    assert!(block.into_memory().is_none());
    drop(value);
    assert!(Checked::new(small_block()).unwrap().into_memory().is_some());
}
