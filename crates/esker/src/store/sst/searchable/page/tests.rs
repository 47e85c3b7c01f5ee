//! Tests of `page`.

use super::*;
use crate::base::types::comparator::{Comparator, CustomComparator};
use crate::env::random::Random;
use crate::store::sst::searchable::keys::{OpenGroup, Wanted};
use crate::store::sst::searchable::page_builder::{KeyOfRecord, PageBuilder};

struct Forwards;

impl CustomComparator for Forwards {
    fn name(&self) -> &str {
        "forwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
        left.cmp(right)
    }
}

fn small_page() -> Vec<u8> {
    let mut builder = PageBuilder::new(3);
    let mut offset = 0;
    for (index, prefix) in [
        "ap",
        "b",
        "ba",
        "bandana in the wind",
        "bandana in w",
        "c",
        "c",
    ]
    .into_iter()
    .enumerate()
    {
        let kind = if index == 2 { Kind::Merge } else { Kind::Put };
        builder.add(&KeyOfRecord {
            prefix: prefix.as_bytes(),
            hash: index as u64,
            trailer: Trailer::new(SeqNo::new(90 - index as u64), kind),
            record_offset: offset,
            record_len: 9 + index as u32,
        });
        offset += 9 + index as u64;
    }
    builder.finish()
}

// Everything a reader may do with a page; only that it ends, and without a panic, is asked.
fn exercise(bytes: Vec<u8>) {
    let Ok(page) = Page::new(Arc::new(bytes)) else {
        return;
    };
    // A damaged count may claim any number of groups, which are not there.
    let groups = page.group_count().min(10);
    for comparator in [Comparator::Bytewise, Comparator::Custom(Arc::new(Forwards))] {
        for user_key in [b"".as_slice(), b"b", b"bandana in the window", b"c", b"zzz"] {
            for seqno in [SeqNo::ZERO, SeqNo::new(84), SeqNo::MAX] {
                let wanted = Wanted {
                    comparator: &comparator,
                    user_key,
                    trailer: Trailer::seek(seqno),
                };
                // Any answer will do: bytes may be damaged, and must not make it panic.
                let _ = wanted.find(&page);
            }
        }
    }
    let mut open = OpenGroup::default();
    for index in 0..groups {
        // As above.
        let _ = open.open(&page, index);
        for entry in 0..open.len() {
            assert!(open.entry(entry).unwrap().prefix.len() <= KEY_BYTES_MAX);
        }
    }
}

#[test]
fn damaged_pages_never_panic() {
    // Bytes that carry a right checksum and are nevertheless wrong: every flipped bit, every
    // byte at its extremes, every cut, and noise.
    let good = small_page();
    exercise(good.clone());
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
    let mut random = Random::new(12);
    for _ in 0..800 {
        let mut bad = good.clone();
        for _ in 0..1 + random.below(6) {
            let index = random.below(bad.len() as u64) as usize;
            bad[index] = random.next_u64() as u8;
        }
        exercise(bad);
        let len = random.below(60) as usize;
        exercise(random.bytes(len));
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    // No tail, no groups, more groups than bytes.
    for bytes in [&[][..], &[0; 11], &[0; 12], &[0xff; 12], &[9; 40]] {
        assert!(Page::new(Arc::new(bytes.to_vec())).is_err(), "{bytes:?}");
    }
}
