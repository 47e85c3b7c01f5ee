//! Tests of `keys`.

use std::sync::Arc;

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::sst::searchable::page_builder::{KeyOfRecord, PageBuilder};

#[test]
fn a_prefix_tells_its_key_from_both_neighbours() {
    // One byte more than it begins with like either of them, or the whole key.
    let len = |before: &str, key: &str, behind: &str| {
        let other = |other: &str| (!other.is_empty()).then(|| other.as_bytes().to_vec());
        let (before, behind) = (other(before), other(behind));
        prefix_len(before.as_deref(), key.as_bytes(), behind.as_deref())
    };
    assert_eq!(len("apple", "banana", "cherry"), 1);
    assert_eq!(len("band", "bandana", "bandit"), 5);
    assert_eq!(len("a", "band", "bandana"), 4);
    assert_eq!(len("", "band", ""), 1);
    assert_eq!(prefix_len(None, b"", Some(b"a")), 0);
}

// Keys of few letters, so that many begin others; some with several entries.
fn random_entries(random: &mut Random) -> Vec<(Vec<u8>, Trailer)> {
    let mut entries = Vec::new();
    for _ in 0..1 + random.below(120) {
        let len = random.below(7) as usize;
        let user_key: Vec<u8> = (0..len).map(|_| b'a' + random.below(2) as u8).collect();
        let count = if random.one_in(6) {
            1 + random.below(9)
        } else {
            1
        };
        for _ in 0..count {
            let trailer = Trailer::new(SeqNo::new(random.below(50)), Kind::Put);
            entries.push((user_key.clone(), trailer));
        }
    }
    entries.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
    entries.dedup();
    entries
}

fn page_of(entries: &[(Vec<u8>, Trailer)], group_entries: usize) -> Page {
    let mut builder = PageBuilder::new(group_entries);
    for (index, (user_key, trailer)) in entries.iter().enumerate() {
        let other = |key: &&Vec<u8>| *key != user_key;
        let mut before = entries[..index].iter().rev().map(|(key, _)| key);
        let mut behind = entries[index + 1..].iter().map(|(key, _)| key);
        let is_single = entries.iter().filter(|(key, _)| key == user_key).count() == 1;
        let len = match is_single {
            true => prefix_len(
                before.find(other).map(Vec::as_slice),
                user_key,
                behind.find(other).map(Vec::as_slice),
            ),
            false => user_key.len(),
        };
        builder.add(&KeyOfRecord {
            prefix: &user_key[..len],
            hash: hash64(user_key),
            trailer: *trailer,
            record_offset: index as u64 * 9,
            record_len: 9,
        });
    }
    Page::new(Arc::new(builder.finish())).unwrap()
}

#[test]
fn a_search_lands_where_a_list_says() {
    // Every landing is at the wanted entry, or at the single one that may still be before it.
    let mut random = Random::new(8);
    for round in 0..200 {
        let entries = random_entries(&mut random);
        let group_entries = [1, 2, 3, 5, 32][round % 5];
        let page = page_of(&entries, group_entries);
        for _ in 0..60 {
            let len = random.below(9) as usize;
            let user_key: Vec<u8> = (0..len).map(|_| b'a' + random.below(3) as u8).collect();
            let trailer = Trailer::seek(SeqNo::new(random.below(52)));
            let comparator = &Comparator::Bytewise;
            let wanted = Wanted {
                comparator,
                user_key: &user_key,
                trailer,
            };
            let place = entries.partition_point(|(own, own_trailer)| {
                own.cmp(&user_key).then(trailer.cmp(own_trailer)).is_lt()
            });
            let index = |spot: Spot| spot.group * group_entries + spot.entry;
            match wanted.find(&page).unwrap() {
                Landing::AtEnd => assert_eq!(place, entries.len()),
                Landing::Behind(spot) => {
                    assert_eq!(index(spot), place);
                    assert_ne!(entries[place].0, user_key);
                }
                Landing::Perhaps(spot, prefix_len) => {
                    let at = index(spot);
                    assert!(at == place || at + 1 == place, "{at} {place}");
                    assert!(entries[at].0.starts_with(&user_key[..prefix_len]));
                    // If the page has what is wanted, this is it.
                    if place < entries.len() && entries[place].0 == user_key {
                        assert_eq!(at, place);
                    }
                }
            }
        }
    }
}
