//! Every interleaving of one insert with one reader, as the memory model allows them.
//!
//! `scripts/loom.sh` runs them. The code that runs is the list itself, with the checker's
//! atomics in place of the machine's; the lists are tiny, because the number of interleavings is
//! not.

use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::entry::Entry;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::pages::HeapPages;
use crate::store::mem::entry_list::{EntryList, EntryListWriter};

fn put(writer: &mut EntryListWriter, key: &[u8], seqno: u64) {
    let trailer = Trailer::new(SeqNo::new(seqno), Kind::Put);
    let value = key;
    let entry = Entry {
        key,
        trailer,
        value,
    };
    writer.insert(entry, |_| None);
}

/// A list with the keys `old`, into which one thread inserts `news` while another reads.
fn race_over(old: &'static [&'static [u8]], news: &'static [&'static [u8]], read: fn(&EntryList)) {
    loom::model(move || {
        let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
        let mut seqnos = 1..;
        let mut put_all = |keys: &[&[u8]]| {
            for (key, seqno) in keys.iter().zip(&mut seqnos) {
                put(&mut writer, key, seqno);
            }
            Arc::clone(writer.list())
        };
        let list = put_all(old);
        let reader = loom::thread::spawn(move || read(&list));
        put_all(news);
        reader.join().expect("the reader's claims hold");
    });
}

/// As [`race_over`], with the keys `b` and `f`.
fn race(news: &'static [&'static [u8]], read: fn(&EntryList)) {
    race_over(&[b"b", b"f"], news, read);
}

fn newest() -> Trailer {
    Trailer::seek(SeqNo::MAX)
}

#[test]
fn a_seek_lands_on_what_was_there_or_on_what_comes() {
    // The reader looks for `e`: it may find only what lies behind, whole, and never `c` or `d`.
    race(&[b"d", b"c"], |list| {
        let found = list.seek(b"e", newest()).expect("f is there").entry();
        assert_eq!((found.key, found.value), (&b"f"[..], &b"f"[..]));
    });
}

#[test]
fn a_seek_backwards_never_misses_what_was_there() {
    // The reader looks for the last up to `g`: `f`, however many come in front of it.
    race(&[b"d", b"c"], |list| {
        let found = list
            .seek_for_prev(b"g", newest())
            .expect("f is there")
            .entry();
        assert_eq!((found.key, found.value), (&b"f"[..], &b"f"[..]));
    });
}

#[test]
fn a_split_leads_nobody_past_what_he_looks_for() {
    // Nodes of the model have three ways: `c` splits the full one, and takes the slot of `f`.
    race_over(&[b"b", b"d", b"f"], &[b"c"], |list| {
        let found = list.seek(b"f", newest()).expect("f is there").entry();
        assert_eq!(found.key, b"f");
    });
    race_over(&[b"b", b"d", b"f"], &[b"c"], |list| {
        let oldest = Trailer::seek(SeqNo::ZERO);
        let found = list
            .seek_for_prev(b"e", oldest)
            .expect("d is there")
            .entry();
        assert_eq!(found.key, b"d");
    });
}

#[test]
fn next_and_prev_are_each_others_inverse() {
    // Whatever the reader meets on its way, the way back leads through the same entry.
    race(&[b"d"], |list| {
        let first = list.first().expect("b is there");
        let second = list.next(first).expect("f is there");
        assert!(second.entry().value == b"d" || second.entry().value == b"f");
        if second.entry().key == b"d" {
            let back = list.prev(second).expect("b is there");
            assert_eq!(back.entry().key, b"b");
        }
        let last = list.last().expect("f is there");
        let before = list.prev(last).expect("b is there");
        let next = list.next(before).expect("f is there").entry().key;
        // What came between only after the step back is met on the step forward.
        assert!(next == b"f" || before.entry().key == b"b" && next == b"d");
    });
}

#[test]
fn the_first_entry_is_found_whole_or_not_at_all() {
    // An empty list has no reference yet; a reader may come at any moment.
    loom::model(|| {
        let mut writer = EntryList::create(Arc::new(HeapPages), Comparator::Bytewise);
        let list = Arc::clone(writer.list());
        let reader = loom::thread::spawn(move || {
            if let Some(found) = list.seek(b"a", newest()) {
                assert_eq!(found.entry().value, b"k");
            }
            list.last().is_none_or(|last| last.entry().value == b"k")
        });
        put(&mut writer, b"k", 1);
        assert!(reader.join().expect("the reader's claims hold"));
    });
}

#[test]
fn what_a_split_moves_may_be_fetched_meanwhile() {
    // `b` has three entries behind it, and `c` comes in a new node: whatever the reader finds by
    // the index are entries, written in full. What is moved he may find in both nodes.
    race_over(&[b"b", b"d", b"f", b"h"], &[b"c"], |list| {
        let first = list.first().expect("b is there");
        assert!((1..=6).contains(&list.fetch_behind(first)));
    });
}
