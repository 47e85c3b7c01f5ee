//! Tests of `entry_list`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::*;
use crate::base::types::comparator::CustomComparator;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::seqno::SeqNo;
use crate::env::pages::HeapPages;
use crate::env::random::Random;

/// Oracle: the same entries by user key and then by descending trailer.
type Oracle = BTreeMap<(Vec<u8>, Reverse<u64>), Vec<u8>>;

/// Inserts in the dev profile, and under the interpreter.
const INSERTS: u64 = if cfg!(miri) { 120 } else { 4_000 };

fn put(writer: &mut EntryListWriter, oracle: &mut Oracle, key: &[u8], seqno: u64) {
    let trailer = Trailer::new(SeqNo::new(seqno), Kind::Put);
    let value = seqno.to_string().into_bytes();
    let entry = Entry {
        key,
        trailer,
        value: &value,
    };
    writer.insert(entry, |_| None);
    oracle.insert((key.to_vec(), Reverse(trailer.raw())), value);
}

fn owned(node: NodeRef<'_>) -> ((Vec<u8>, Reverse<u64>), Vec<u8>) {
    let Entry {
        key,
        trailer,
        value,
    } = node.entry();
    ((key.to_vec(), Reverse(trailer.raw())), value.to_vec())
}

/// Both ways through, and seeks to random targets, must agree with the oracle.
fn assert_same(list: &EntryList, oracle: &Oracle, targets: &[Vec<u8>], random: &mut Random) {
    let forward = std::iter::successors(list.first(), |&node| list.next(node));
    assert!(forward.map(owned).eq(oracle.clone()));
    let backward = std::iter::successors(list.last(), |&node| list.prev(node));
    assert!(backward.map(owned).eq(oracle.clone().into_iter().rev()));
    assert_eq!(list.count(), oracle.len());
    let forward = std::iter::successors(list.first(), |&node| list.next(node));
    for (behind, node) in forward.enumerate() {
        // Some of those ahead, as long as there are any, and nothing else.
        let ahead = oracle.len() - 1 - behind;
        assert!((ahead.min(1)..=ahead).contains(&list.fetch_behind(node)));
    }
    for key in targets {
        let trailer = Trailer::seek(SeqNo::new(random.below(INSERTS + 2)));
        let place = (key.clone(), Reverse(trailer.raw()));
        let entry =
            |found: (&(Vec<u8>, Reverse<u64>), &Vec<u8>)| (found.0.clone(), found.1.clone());
        let at_or_after = oracle.range(place.clone()..).next().map(entry);
        assert_eq!(list.seek(key, trailer).map(owned), at_or_after);
        let at_or_before = oracle.range(..=place).next_back().map(entry);
        assert_eq!(list.seek_for_prev(key, trailer).map(owned), at_or_before);
    }
}

fn check(comparator: Comparator, key_of: impl Fn(&mut Random, u64) -> Vec<u8>) {
    let mut random = Random::new(11);
    let mut writer = EntryList::create(Arc::new(HeapPages), comparator);
    let mut oracle = Oracle::new();
    for seqno in 1..=INSERTS {
        let key = key_of(&mut random, seqno);
        put(&mut writer, &mut oracle, &key, seqno);
    }
    let targets: Vec<_> = (0..INSERTS)
        .map(|seqno| key_of(&mut random, seqno))
        .collect();
    assert_same(writer.list(), &oracle, &targets, &mut random);
}

#[test]
fn random_decimal_keys_agree_with_a_btree() {
    // Sixteen digits, as benchmarks make them; half of the keys come twice or more.
    check(Comparator::Bytewise, |random, _| {
        format!("{:016}", random.below(INSERTS)).into_bytes()
    });
}

#[test]
fn rising_falling_and_zigzag_keys_agree_with_a_btree() {
    // The finger must be right whichever way the keys run.
    check(Comparator::Bytewise, |_, seqno| {
        seqno.to_be_bytes().to_vec()
    });
    check(Comparator::Bytewise, |_, seqno| {
        (!seqno).to_be_bytes().to_vec()
    });
    check(Comparator::Bytewise, |_, seqno| {
        let number = if seqno.is_multiple_of(2) {
            seqno
        } else {
            !seqno
        };
        number.to_be_bytes().to_vec()
    });
}

#[test]
fn keys_that_tie_in_their_fragments_agree_with_a_btree() {
    // Keys that part from the reference early and from one another late, and empty keys.
    check(Comparator::Bytewise, |random, _| {
        let len = usize::try_from(random.below(14)).unwrap();
        (0..len)
            .map(|_| b"\x00\xff"[usize::from(random.one_in(2))])
            .collect()
    });
}

#[test]
fn a_hot_key_agrees_with_a_btree() {
    // Thousands of versions of three keys: the newest comes first.
    check(Comparator::Bytewise, |random, _| {
        vec![b'a' + random.below(3) as u8]
    });
}

struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
        right.cmp(left)
    }
}

#[test]
fn a_custom_comparator_rules() {
    // Fragments are for bytewise keys; another order must not be misled by them.
    let mut writer =
        EntryList::create(Arc::new(HeapPages), Comparator::Custom(Arc::new(Backwards)));
    let mut oracle = Oracle::new();
    for seqno in 1..=INSERTS {
        put(
            &mut writer,
            &mut oracle,
            &(seqno * 7919 % 10_007).to_be_bytes(),
            seqno,
        );
    }
    let list = writer.list();
    let forward = std::iter::successors(list.first(), |&node| list.next(node));
    assert!(forward.map(owned).eq(oracle.clone().into_iter().rev()));
    for ((key, trailer), value) in oracle {
        let trailer = Trailer::checked(trailer.0).unwrap();
        assert_eq!(list.seek(&key, trailer).unwrap().value(), value);
        assert_eq!(list.seek_for_prev(&key, trailer).unwrap().value(), value);
    }
}

#[test]
fn an_empty_list_has_no_place_to_stand() {
    // Nothing was inserted, so there is not even a reference for fragments.
    let writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    let list = writer.list();
    assert!(list.first().is_none());
    assert!(list.last().is_none());
    assert!(list.seek(b"", Trailer::seek(SeqNo::MAX)).is_none());
    assert!(
        list.seek_for_prev(b"x", Trailer::seek(SeqNo::ZERO))
            .is_none()
    );
    assert!(list.used_bytes() < 2_000);
}

#[test]
fn fold_is_given_the_next_older_entry() {
    // The neighbour at the place of insertion is the newest older entry, or another key's.
    let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    let entry = |key, seqno, value| Entry {
        key,
        trailer: Trailer::new(SeqNo::new(seqno), Kind::Merge),
        value,
    };
    writer.insert(entry(b"a", 1, b"one"), |_| panic!("the list is empty"));
    writer.insert(entry(b"b", 2, b"two"), |_| panic!("another key"));
    writer.insert(entry(b"a", 3, b"three"), |older| {
        assert_eq!(older.value(), b"one");
        assert!(older.older().is_none());
        let value = b"one three".to_vec();
        let (kind, base) = (Kind::MergeFolded, Some(older));
        Some(Folded { kind, value, base })
    });
    let newest = writer.list().first().unwrap();
    assert_eq!(newest.entry().kind(), Kind::MergeFolded);
    assert_eq!(newest.value(), b"one three");
    assert_eq!(newest.older_unfolded().unwrap().value(), b"one");
}

#[test]
#[should_panic]
fn an_entry_that_is_there_already_is_refused() {
    // Two entries with one sequence number could not be told apart.
    let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    put(&mut writer, &mut Oracle::new(), b"a", 1);
    put(&mut writer, &mut Oracle::new(), b"a", 1);
}

#[test]
fn cursors_outlive_the_writer() {
    // An iterator may be kept after its memtable was flushed and forgotten.
    let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    put(&mut writer, &mut Oracle::new(), b"a", 1);
    let mut cursor = ListCursor::new(Arc::clone(writer.list()));
    drop(writer);
    assert!(cursor.go(|list, _| list.first()));
    assert_eq!(cursor.node().unwrap().value(), b"1");
    assert!(!cursor.go(|list, at| at.and_then(|at| list.next(at))));
    assert!(cursor.node().is_none());
}

#[test]
fn readers_never_miss_what_was_there_before_they_began() {
    // One thread inserts and tells how far it is; others must find all of it, in order.
    let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    let done = std::sync::atomic::AtomicU64::new(0);
    let key_of = |number: u64| format!("{:08}", number * 7919 % 1_000_003).into_bytes();
    let list = Arc::clone(writer.list());
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (list, done) = (&list, &done);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                loop {
                    let known = done.load(Ordering::Acquire);
                    if known > 0 {
                        let key = key_of(1 + random.below(known));
                        let found = list.seek(&key, Trailer::seek(SeqNo::MAX)).unwrap();
                        assert_eq!(found.entry().key, key);
                        let below = list
                            .seek_for_prev(&key, Trailer::seek(SeqNo::ZERO))
                            .unwrap();
                        assert_eq!(below.entry().key, key);
                        if let Some(next) = list.next(found) {
                            assert!(list.prev(next).unwrap().entry().key >= &key[..]);
                        }
                    }
                    if known == INSERTS {
                        break;
                    }
                    std::thread::yield_now();
                }
            });
        }
        for number in 1..=INSERTS {
            put(&mut writer, &mut Oracle::new(), &key_of(number), number);
            done.store(number, Ordering::Release);
        }
    });
    assert!(
        std::iter::successors(list.first(), |&n| list.next(n))
            .is_sorted_by_key(|n| n.internal_key()[..8].to_vec())
    );
}

/// Entries, enough for three levels of nodes.
const ENTRIES_OF_A_TREE: u64 = if cfg!(miri) { 300 } else { 20_000 };

fn filled(key_of: impl Fn(u64) -> u64) -> EntryListWriter {
    let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
    for seqno in 1..=ENTRIES_OF_A_TREE {
        let key = key_of(seqno).to_be_bytes();
        let entry = Entry {
            key: &key,
            trailer: Trailer::new(SeqNo::new(seqno), Kind::Put),
            value: b"",
        };
        writer.insert(entry, |_| None);
    }
    writer
}

/// Bytes for each entry beyond its key, chunks that are not handed out yet among them.
fn overhead(writer: &EntryListWriter) -> u64 {
    writer.list().used_bytes() as u64 / ENTRIES_OF_A_TREE - 8 - TRAILER_BYTES as u64
}

#[test]
#[cfg_attr(miri, ignore = "the interpreter takes too few entries to tell")]
fn rising_keys_fill_nodes() {
    // Fourteen of fifteen ways in use are 18 bytes an entry, half of them would be 34; an entry
    // itself takes 32, and a fifth of all may not be handed out yet.
    assert!(overhead(&filled(|number| number)) < 72);
}

#[test]
#[cfg_attr(miri, ignore = "the interpreter takes too few entries to tell")]
fn keys_in_any_comparator_fill_nodes_by_two_thirds() {
    let mut random = Random::new(3);
    let mask = random.next_u64();
    let scattered = filled(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mask);
    assert!(overhead(&scattered) < 84);
}

#[test]
fn where_to_look_is_right_at_the_borders_of_nodes() {
    // Before the first, behind the last, and at and beside each entry.
    let writer = filled(|number| number * 2);
    let list = writer.list();
    let newest = Trailer::seek(SeqNo::MAX);
    for number in 0..=ENTRIES_OF_A_TREE {
        let between = (number * 2 + 1).to_be_bytes();
        let ahead = list.seek(&between, newest).map(|found| found.entry().key);
        let behind = list.seek_for_prev(&between, newest);
        let ahead_of = (number + 1) * 2;
        assert_eq!(
            ahead,
            (number < ENTRIES_OF_A_TREE).then_some(&ahead_of.to_be_bytes()[..])
        );
        assert_eq!(
            behind.map(|found| found.entry().key),
            (number > 0).then_some(&(number * 2).to_be_bytes()[..])
        );
    }
    assert_eq!(
        list.last().map(|last| last.entry().key),
        Some(&(ENTRIES_OF_A_TREE * 2).to_be_bytes()[..])
    );
}
