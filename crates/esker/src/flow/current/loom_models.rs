//! Every interleaving of the two changes of a keyspace's view with its readers.

use std::sync::Arc;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::FileNumber;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::flow::current::{Current, Sealed};
use crate::flow::read::model_view::Layout;
use crate::flow::read::view::{View, ViewParts};
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::version::levels::Levels;

/// Parts without memtables; made once, as no model changes them.
fn empty_parts() -> ViewParts {
    let view = Layout::new(&Comparator::Bytewise).view(&[]);
    view.parts().clone()
}

fn memtable() -> MemtableWriter {
    Memtable::create(Comparator::Bytewise, None)
}

fn sealed(table: &Arc<Memtable>, last_seqno: u64) -> Sealed {
    Sealed {
        table: Arc::clone(table),
        first_log: Some(FileNumber(1)),
        clock_ms: None,
        mark: None,
        last_seqno: SeqNo::new(last_seqno),
        reason: FlushReason::Manual,
    }
}

/// A keyspace with an old memtable that is sealed and a live one, and what comes: a third
/// memtable, and the levels with the old one in a file.
struct Stage {
    current: Current,
    old: Arc<Memtable>,
    live: Arc<Memtable>,
    next: Arc<Memtable>,
    flushed: Arc<Levels>,
}

impl Stage {
    fn new(parts: &ViewParts) -> Arc<Stage> {
        let [old, live, next] = [(); 3].map(|()| Arc::clone(memtable().table()));
        let parts = ViewParts {
            memtables: vec![Arc::clone(&live), Arc::clone(&old)],
            ..parts.clone()
        };
        let current = Current::new(parts, vec![sealed(&old, 1)]);
        let flushed = Arc::new(Levels::default());
        Arc::new(Stage {
            current,
            old,
            live,
            next,
            flushed,
        })
    }

    /// Says whether the view knows the file.
    fn check(&self, view: &View) -> bool {
        let parts = view.parts();
        let places = |table: &Arc<Memtable>| {
            let tables = parts.memtables.iter();
            tables.filter(|known| Arc::ptr_eq(known, table)).count()
        };
        let is_in_file = Arc::ptr_eq(&parts.levels, &self.flushed);
        assert_eq!(places(&self.old) + usize::from(is_in_file), 1);
        assert_eq!(places(&self.live), 1);
        // The newest comes first.
        let has_next = places(&self.next) == 1;
        assert!(!has_next || Arc::ptr_eq(&parts.memtables[0], &self.next));
        assert!(Arc::ptr_eq(
            &parts.memtables[usize::from(has_next)],
            &self.live
        ));
        is_in_file
    }
}

#[test]
fn every_reader_finds_every_entry_in_one_place() {
    // The write path seals while a flush is installed; a reader looks twice.
    let parts = empty_parts();
    loom::model(move || {
        let stage = Stage::new(&parts);
        let flush = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.current.install(Arc::clone(&stage.flushed), 1))
        };
        let reader = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                let had_file = stage.check(&stage.current.view());
                let has_file = stage.check(&stage.current.load());
                assert!(has_file || !had_file);
            })
        };
        let next = Arc::clone(&stage.next);
        stage.current.seal(next, sealed(&stage.live, 2));
        flush.join().expect("an install does not fail");
        reader.join().expect("the reader's claims hold");
        assert!(stage.check(&stage.current.view()));
        assert_eq!(stage.current.view().parts().memtables.len(), 2);
        let waiting = stage.current.sealed();
        assert!(waiting.len() == 1 && Arc::ptr_eq(&waiting[0].table, &stage.live));
    });
}

#[test]
fn a_view_holds_what_was_visible_before_it_was_taken() {
    // The writer puts one entry into a memtable, seals it and puts another into the next, each
    // told as `commit` does. A reader finds all that was visible when it began, and of the two
    // never only the newer one.
    let parts = empty_parts();
    loom::model(move || {
        let (mut first, mut second) = (memtable(), memtable());
        let memtables = vec![Arc::clone(first.table())];
        let parts = ViewParts {
            memtables,
            ..parts.clone()
        };
        let current = Arc::new(Current::new(parts, Vec::new()));
        let visible = Arc::new(AtomicU64::new(0));
        let reader = {
            let (current, visible) = (Arc::clone(&current), Arc::clone(&visible));
            thread::spawn(move || {
                let began = visible.load(Ordering::Acquire);
                let view = current.load();
                let now = SeqNo::new(visible.load(Ordering::Acquire));
                let finds = |key: &[u8]| {
                    let tables = view.parts().memtables.iter();
                    tables.filter(|table| table.get(key, now).is_some()).count()
                };
                let (older, newer) = (finds(b"a"), finds(b"b"));
                assert!(older <= 1 && newer <= older);
                assert!(older + newer >= usize::try_from(began).expect("two at most"));
            })
        };
        let put = |table: &mut MemtableWriter, key: &[u8], seqno: u64| {
            table.insert(Trailer::new(SeqNo::new(seqno), Kind::Put), key, b"value");
            visible.store(seqno, Ordering::Release);
        };
        put(&mut first, b"a", 1);
        current.seal(Arc::clone(second.table()), sealed(first.table(), 1));
        put(&mut second, b"b", 2);
        reader.join().expect("the reader's claims hold");
    });
}

#[test]
fn who_sees_what_is_written_behind_files_from_elsewhere_sees_the_files() {
    // An ingest swaps in levels with its files, puts a fresh memtable in the place of the live one,
    // which is empty, and raises the number up to which readers see; then somebody writes. A reader
    // takes the view and then the number, as all do. Without the fresh memtable he would find the
    // write over the old levels.
    let parts = empty_parts();
    loom::model(move || {
        let (live, mut fresh) = (memtable(), memtable());
        let parts = ViewParts {
            memtables: vec![Arc::clone(live.table())],
            ..parts.clone()
        };
        let with_files = Arc::new(Levels::default());
        let current = Arc::new(Current::new(parts, Vec::new()));
        let visible = Arc::new(AtomicU64::new(0));
        let reader = {
            let (current, visible) = (Arc::clone(&current), Arc::clone(&visible));
            let with_files = Arc::clone(&with_files);
            thread::spawn(move || {
                let view = current.load();
                let now = visible.load(Ordering::Acquire);
                let parts = view.parts();
                let has_files = Arc::ptr_eq(&parts.levels, &with_files) && now >= 1;
                let mut tables = parts.memtables.iter();
                let has_write = tables.any(|table| table.get(b"a", SeqNo::new(now)).is_some());
                assert!(has_files || !has_write);
            })
        };
        current.install(with_files, 0);
        current.renew(Arc::clone(fresh.table()));
        visible.store(1, Ordering::Release);
        fresh.insert(Trailer::new(SeqNo::new(2), Kind::Put), b"a", b"value");
        visible.store(2, Ordering::Release);
        reader.join().expect("the reader's claims hold");
    });
}
