//! Tests of `current`.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::comparator::Comparator;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::env::pool::{Pool, Priority};
use crate::env::real::pool::RealPool;
use crate::env::signal::Signal;
use crate::flow::read::model_view::Layout;
use crate::store::mem::memtable::MemtableWriter;

fn filled(seqno: u64) -> MemtableWriter {
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    let trailer = Trailer::new(SeqNo::new(seqno), Kind::Put);
    writer.insert(trailer, b"key", &seqno.to_le_bytes());
    writer
}

#[test]
fn views_live_as_long_as_their_readers() {
    // One thread seals and installs without a pause; others load views, keep some, and read
    // from memtables that are in no newer view any more. Miri and the sanitizers run this too.
    const READERS: usize = 2;
    let rounds: u64 = if cfg!(miri) { 12 } else { 2_000 };
    let empty = Layout::new(&Comparator::Bytewise).view(&[]);
    let mut live = filled(1);
    let parts = ViewParts {
        memtables: vec![Arc::clone(live.table())],
        ..empty.parts().clone()
    };
    let current = Arc::new(Current::new(parts, Vec::new()));
    let (is_over, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(Signal::default()),
    );
    let pool = RealPool::new(READERS);
    for _ in 0..READERS {
        let (current, is_over, done) = (
            Arc::clone(&current),
            Arc::clone(&is_over),
            Arc::clone(&done),
        );
        let job = move || {
            let newest = |view: &View| {
                let entry = view.parts().memtables[0].get(b"key", SeqNo::MAX);
                u64::from_le_bytes(entry.unwrap().value.try_into().unwrap())
            };
            let (mut last, mut kept) = (0, current.view());
            while !is_over.load(Ordering::Relaxed) {
                let now = newest(&current.load());
                assert!(now >= last && newest(&kept) <= now);
                if now % 3 == 0 {
                    kept = current.view();
                }
                last = now;
            }
            done.raise();
        };
        pool.spawn(Priority::High, "reader", Box::new(job));
    }
    for round in 2..rounds {
        let next = filled(round);
        let sealed = Sealed {
            table: Arc::clone(live.table()),
            first_log: Some(FileNumber(1)),
            clock_ms: None,
            mark: None,
            last_seqno: SeqNo::new(round),
            reason: FlushReason::Manual,
        };
        current.seal(Arc::clone(next.table()), sealed);
        live = next;
        if round % 2 == 0 {
            current.install(Arc::new(Levels::default()), current.sealed_count());
        }
    }
    is_over.store(true, Ordering::Relaxed);
    while done.raised_count() < READERS as u64 {
        let seen = done.raised_count();
        pool.wait(&done, seen, std::time::Duration::from_secs(60));
        assert_eq!(pool.first_trouble(), None);
    }
    assert!(current.view().parts().memtables.len() <= 2);
}

#[test]
fn every_change_makes_a_view_of_another_number() {
    // A keyspace is changed in all the ways there are; whoever kept a number sees that its view is
    // no longer the one, and those of views made of views change nothing.
    let empty = Layout::new(&Comparator::Bytewise).view(&[]);
    let live = filled(1);
    let parts = ViewParts {
        memtables: vec![Arc::clone(live.table())],
        ..empty.parts().clone()
    };
    let current = Current::new(parts, Vec::new());
    let mut numbers = vec![current.view().number()];
    let fresh = || Arc::clone(Memtable::create(Comparator::Bytewise, None).table());
    let sealed = Sealed {
        table: Arc::clone(live.table()),
        first_log: Some(FileNumber(1)),
        clock_ms: None,
        mark: None,
        last_seqno: SeqNo::new(1),
        reason: FlushReason::Manual,
    };
    current.seal(fresh(), sealed);
    numbers.push(current.view().number());
    current.renew(fresh());
    numbers.push(current.view().number());
    current.install(Arc::new(Levels::default()), 1);
    numbers.push(current.view().number());
    current.fold_by(Folder::new("default", None));
    numbers.push(current.view().number());
    assert!(numbers.is_sorted_by(|before, after| before < after));
    drop(current.view().of_files());
    assert_eq!(Some(current.view().number()), numbers.last().copied());
}
