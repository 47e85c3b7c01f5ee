//! Tests of `memtable`.

use super::*;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::types::expiry::Expiry;
use crate::env::random::Random;

/// Writes of one round of the model test.
const WRITES: u64 = if cfg!(miri) { 40 } else { 600 };

/// One write, as it was asked for.
#[derive(Clone, Debug)]
struct Write {
    kind: Kind,
    key: Vec<u8>,
    value: Vec<u8>,
}

fn insert(writer: &mut MemtableWriter, seqno: u64, kind: Kind, key: &[u8], value: &[u8]) {
    writer.insert(Trailer::new(SeqNo::new(seqno), kind), key, value);
}

/// What the writes up to `at` make of a key: base and operands, oldest first, folded.
fn expected(rule: &MergeRule, writes: &[Write], key: &[u8], at: usize) -> Option<Vec<u8>> {
    let mut value: Option<Vec<u8>> = None;
    for write in &writes[..at] {
        match write.kind {
            Kind::RangeDelete if write.key[..] <= *key && *key < write.value[..] => value = None,
            _ if write.key != key => {}
            Kind::Delete => value = None,
            Kind::Put => value = Some(write.value.clone()),
            kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                value = Some(write.value[kind.expiry_bytes()..].to_vec());
            }
            Kind::Merge => value = rule.0.fold(key, value.as_deref(), &[&write.value]).ok(),
            Kind::RangeDelete
            | Kind::MergeFolded
            | Kind::PutSeparated
            | Kind::PutSeparatedExpiring
            | Kind::PutSeparatedExpiringMillis => {}
        }
    }
    value
}

/// Folds what a reader meets, newest first, as the head of the memtable's file says.
fn read<'a>(
    rule: &MergeRule,
    key: &[u8],
    entries: impl Iterator<Item = Entry<'a>>,
    hidden_below: SeqNo,
) -> Option<Vec<u8>> {
    let mut operands = Vec::new();
    let mut base = None;
    for entry in entries.take_while(|entry| entry.seqno() > hidden_below) {
        match entry.kind() {
            Kind::Merge | Kind::MergeFolded => operands.push(entry.value),
            Kind::Put => base = Some(entry.value),
            kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                base = Some(&entry.value[kind.expiry_bytes()..]);
            }
            Kind::Delete
            | Kind::RangeDelete
            | Kind::PutSeparated
            | Kind::PutSeparatedExpiring
            | Kind::PutSeparatedExpiringMillis => {}
        }
        if !entry.kind().is_merge() {
            break;
        }
    }
    operands.reverse();
    if operands.is_empty() {
        return base.map(<[u8]>::to_vec);
    }
    rule.0.fold(key, base, &operands).ok()
}

/// The same through a cursor, which meets every merge.
fn read_by_cursor(
    rule: &MergeRule,
    table: &Arc<Memtable>,
    key: &[u8],
    at: SeqNo,
    hidden_below: SeqNo,
) -> Option<Vec<u8>> {
    let mut cursor = table.cursor();
    let mut is_valid = cursor
        .seek(&key::encode(key, Trailer::seek(at)))
        .expect("memory");
    let mut met: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut is_folded = false;
    while is_valid && key::user_key(cursor.key()) == key {
        let kind = key::split(cursor.key()).1.kind();
        if !(is_folded && kind.is_merge()) {
            met.push((
                cursor.key().to_vec(),
                cursor.value().expect("memory does not fail").to_vec(),
            ));
        }
        is_folded |= kind == Kind::MergeFolded;
        is_valid = cursor.next().expect("memory");
    }
    let entries = met
        .iter()
        .map(|(key, value)| Entry::from_internal(key, value));
    read(rule, key, entries, hidden_below)
}

fn random_write(random: &mut Random) -> Write {
    let key = |random: &mut Random| vec![b'a' + u8::try_from(random.below(6)).expect("small")];
    let number = random.below(1000).to_le_bytes().to_vec();
    let (kind, value) = match random.below(20) {
        0..=1 => (Kind::Put, number),
        2 => (Kind::Delete, Vec::new()),
        3 => {
            let end = Expiry::from_unix_ms(Expiry::MAX.unix_ms() - random.below(2));
            (end.put_kind(), end.join(&number))
        }
        4 => (Kind::RangeDelete, key(random)),
        _ => (Kind::Merge, number),
    };
    let key = key(random);
    Write { kind, key, value }
}

#[test]
fn every_reader_sees_what_was_written_before_it() {
    // Random writes with every kind; at every sequence number, folded or not, the value of every
    // key is what the writes up to there make of it.
    for (round, name) in ["uint64add", "append", "bytesxor", "uint64min", "put"]
        .iter()
        .enumerate()
    {
        let rule = builtin(name).unwrap();
        let mut random = Random::new(u64::try_from(round).unwrap());
        let mut writer = Memtable::create(Comparator::Bytewise, Some(rule.clone()));
        let mut writes = Vec::new();
        for seqno in 1..=WRITES {
            let write = random_write(&mut random);
            insert(&mut writer, seqno, write.kind, &write.key, &write.value);
            writes.push(write);
        }
        let table = writer.table();
        assert!(table.fold_count() > 0);
        for _ in 0..if cfg!(miri) { 20 } else { 2 * WRITES } {
            let at = random.below(WRITES + 1);
            let (key, at_seqno) = ([b'a' + random.below(6) as u8], SeqNo::new(at));
            let deletes = table.range_deletes();
            let covers = |d: &&RangeDelete| {
                d.start[..] <= key[..] && key[..] < d.end[..] && d.seqno.is_visible_at(at_seqno)
            };
            let hidden = deletes
                .iter()
                .rev()
                .find(covers)
                .map_or(SeqNo::ZERO, |d| d.seqno);
            let expected = expected(&rule, &writes, &key, usize::try_from(at).unwrap());
            let found = read(&rule, &key, table.history(&key, at_seqno), hidden);
            assert_eq!(found, expected, "{name} {key:?} at {at}");
            let found = read_by_cursor(&rule, table, &key, at_seqno, hidden);
            assert_eq!(found, expected, "{name} {key:?} at {at} by cursor");
        }
    }
}

#[test]
fn a_hot_counter_is_read_as_one_entry() {
    // A counter without a base here: the newest entry holds all, and the way behind it is short.
    let mut writer = Memtable::create(Comparator::Bytewise, builtin("uint64add"));
    for seqno in 1..=WRITES {
        insert(&mut writer, seqno, Kind::Merge, b"hot", &1u64.to_le_bytes());
    }
    let table = writer.table();
    let history: Vec<_> = table.history(b"hot", SeqNo::MAX).collect();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].kind(), Kind::MergeFolded);
    assert_eq!(history[0].value, WRITES.to_le_bytes());
    assert_eq!(
        table.get(b"hot", SeqNo::new(7)).unwrap().value,
        7u64.to_le_bytes()
    );
    assert_eq!(table.entry_count(), usize::try_from(WRITES).unwrap());
    assert_eq!(table.fold_count(), table.entry_count() - 1);
}

#[test]
fn a_folded_entry_still_knows_its_own_operand() {
    // A flush that must keep the older entries for a snapshot writes the operand alone.
    let mut writer = Memtable::create(Comparator::Bytewise, builtin("uint64add"));
    insert(&mut writer, 1, Kind::Merge, b"k", &5u64.to_le_bytes());
    insert(&mut writer, 2, Kind::Merge, b"k", &6u64.to_le_bytes());
    let mut cursor = writer.table().cursor();
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!(cursor.value().unwrap(), 11u64.to_le_bytes());
    assert_eq!(cursor.own_value(), 6u64.to_le_bytes());
    assert!(cursor.next().unwrap());
    assert_eq!(cursor.own_value(), 5u64.to_le_bytes());
}

#[test]
fn merges_onto_a_known_base_become_puts() {
    // Onto a value, onto a deletion, and onto what a range delete hides.
    let mut writer = Memtable::create(Comparator::Bytewise, builtin("uint64add"));
    insert(&mut writer, 1, Kind::Put, b"a", &5u64.to_le_bytes());
    insert(&mut writer, 2, Kind::Delete, b"b", b"");
    insert(&mut writer, 3, Kind::Merge, b"c", &9u64.to_le_bytes());
    insert(&mut writer, 4, Kind::RangeDelete, b"c", b"d");
    for (seqno, key, sum) in [(5, b"a", 6u64), (6, b"b", 1), (7, b"c", 1)] {
        insert(&mut writer, seqno, Kind::Merge, key, &1u64.to_le_bytes());
        let newest = writer.table().get(key, SeqNo::MAX).unwrap();
        assert_eq!(
            (newest.kind(), newest.value),
            (Kind::Put, &sum.to_le_bytes()[..])
        );
    }
}

#[test]
fn appending_does_not_store_every_intermediate_result() {
    // A thousand words onto one key must cost a thousand words, not half a million.
    let mut writer = Memtable::create(Comparator::Bytewise, builtin("append"));
    for seqno in 1..=1000 {
        insert(
            &mut writer,
            seqno,
            Kind::Merge,
            b"log",
            b"a word of twenty one.",
        );
    }
    let table = writer.table();
    assert!(table.used_bytes() < 200 * 1000);
    assert_eq!(
        table
            .history(b"log", SeqNo::MAX)
            .map(|e| e.value.len())
            .max(),
        Some(21)
    );
}

#[test]
fn range_deletes_are_counted_and_listed() {
    // A long one takes memory, and the next one stands behind it.
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    assert!(!writer.table().has_range_deletes());
    let empty_bytes = writer.table().used_bytes();
    insert(&mut writer, 1, Kind::RangeDelete, b"a", &[b'z'; 100]);
    let table = Arc::clone(writer.table());
    assert!(table.has_range_deletes() && !table.is_empty());
    assert!(table.used_bytes() > empty_bytes + 100);
    insert(&mut writer, 2, Kind::RangeDelete, b"b", b"c");
    let starts = table.range_deletes().iter().map(|delete| &delete.start);
    assert!(starts.eq([b"a", b"b"]));
    assert_eq!(table.range_deletes().len(), 2);
    assert_eq!(table.entry_count(), 2);
}

#[test]
fn thousands_of_empty_memtables_cost_little() {
    // A database may have thousands of keyspaces, most of them idle.
    let writer = Memtable::create(Comparator::Bytewise, None);
    assert!(writer.table().used_bytes() < 2048);
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    insert(&mut writer, 1, Kind::Put, b"k", b"v");
    assert!(writer.table().used_bytes() < 2048 + 4096);
}

#[test]
#[should_panic]
fn entries_must_come_in_the_comparator_of_their_numbers() {
    // Folding relies on it: an older operand that came later would be missed.
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    insert(&mut writer, 2, Kind::Put, b"a", b"");
    insert(&mut writer, 2, Kind::Put, b"b", b"");
}

#[test]
fn large_values_are_held() {
    // A value far beyond a chunk gets memory of its own.
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    let value = vec![7; 3 << 20];
    insert(&mut writer, 1, Kind::Put, b"large", &value);
    assert_eq!(
        writer.table().get(b"large", SeqNo::MAX).unwrap().value,
        value
    );
    assert!(writer.table().used_bytes() > 3 << 20);
}

#[test]
fn what_lies_between_two_places_is_counted_about() {
    // Keys that come in order, backwards, at random, and around two places in turns: a few entries
    // are counted, and of many the number is near; behind a key its own are not counted, before
    // it they are.
    let count = 20_000_u64;
    let mut random = Random::new(0x54a7e);
    let mut shuffled: Vec<u64> = (0..count).collect();
    for place in (1..shuffled.len()).rev() {
        let other = random.below(place as u64 + 1);
        shuffled.swap(place, usize::try_from(other).unwrap());
    }
    let two_fronts = |number: u64| number / 2 + number % 2 * (count / 2);
    let orders: [Vec<u64>; 4] = [
        (0..count).collect(),
        (0..count).rev().collect(),
        shuffled,
        (0..count).map(two_fronts).collect(),
    ];
    for order in orders {
        let mut writer = Memtable::create(Comparator::Bytewise, None);
        for (seqno, number) in order.iter().enumerate() {
            let trailer = Trailer::new(SeqNo::new(seqno as u64 + 1), Kind::Put);
            writer.insert(trailer, &number.to_be_bytes(), b"value");
        }
        let table = writer.table();
        let between = |from: u64, to: u64| {
            let (from, to) = (from.to_be_bytes(), to.to_be_bytes());
            let newest = Trailer::seek(SeqNo::MAX);
            table.about_between(Some((&from, newest)), Some((&to, newest))) as u64
        };
        for from in (0..count).step_by(37) {
            assert_eq!(between(from, from), 0);
            assert_eq!(between(from + 1, from), 0);
            for wide in [1, 2, 5, 7].into_iter().filter(|wide| from + wide <= count) {
                assert_eq!(between(from, from + wide), wide);
            }
            for to in (from + 8..count).step_by(91) {
                let (about, wide) = (between(from, to), to - from);
                assert!(
                    about * 3 >= wide * 2 && about * 2 <= wide * 3,
                    "{about} of {wide}"
                );
            }
        }
        let key = (count / 2).to_be_bytes();
        let at = |seqno| Some((&key[..], Trailer::seek(seqno)));
        assert_eq!(table.about_between(at(SeqNo::MAX), at(SeqNo::ZERO)), 1);
        let all = table.about_between(None, None) as u64;
        assert!(
            all * 3 >= count * 2 && all * 2 <= count * 3,
            "{all} of {count}"
        );
    }
    let empty = Memtable::create(Comparator::Bytewise, None);
    let place = Some((&b"k"[..], Trailer::seek(SeqNo::MAX)));
    assert_eq!(empty.table().about_between(None, place), 0);
    assert_eq!(empty.table().about_between(place, None), 0);
}
