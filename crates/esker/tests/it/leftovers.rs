//! What a failure leaves behind: no file, nothing on the books, nobody who waits.

use std::cmp::Ordering as Way;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{FaultFs, SimWorld};
use esker::{Builder, Comparator, CustomComparator, Db, ErrorKind};

use crate::hooks::in_time;
use crate::workload::patient_env;

fn sorted_files(world: &SimWorld) -> BTreeSet<String> {
    let names = world.fs.list(Path::new("/db")).unwrap();
    names
        .into_iter()
        .filter(|name| name.ends_with(".sst"))
        .collect()
}

#[test]
fn a_flush_that_cannot_be_recorded_leaves_no_file() {
    // There is room for the sorted file, and none for a new manifest: the flush is tried again and
    // again, and what each try wrote is taken away, or the disk would fill with it.
    let world = SimWorld::new(1);
    let db = Db::builder("/db").env(world.env()).open().unwrap();
    db.put("old", "value").unwrap();
    db.close().unwrap();
    let faults = FaultFs::over_sim(&world.fs, 1);
    let env = world.env_with(Arc::new(faults.clone()));
    let db = Db::builder("/db").env(env).open().unwrap();
    let before = sorted_files(&world);
    let make = Calls::Of(CallClass::Meta);
    faults.set_plans(vec![
        Plan::sticky(Fault::NoSpace, make, 0).in_files("MANIFEST"),
    ]);
    for round in 0..5 {
        let answer = db.put(format!("key{round}"), "value");
        if round == 0 {
            answer.unwrap();
        }
        let error = db.flush().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfSpace, "{error}");
        assert_eq!(sorted_files(&world), before, "after try {round}");
    }
    faults.set_plans(Vec::new());
    db.flush().unwrap();
    assert_eq!(sorted_files(&world).len(), before.len() + 1);
    assert_eq!(db.get("key0").unwrap().as_deref(), Some(&b"value"[..]));
    db.close().unwrap();
}

#[test]
fn a_copy_without_descriptors_is_refused_and_does_not_spin() {
    // A flush for it cannot open its file, and then again: whoever asked is told.
    let world = SimWorld::new(2);
    let faults = FaultFs::over_sim(&world.fs, 1);
    let env = patient_env(&world, Arc::new(faults.clone()));
    let db = Db::builder("/db").env(env).open().unwrap();
    db.put("key", "value").unwrap();
    let make = Calls::Of(CallClass::Meta);
    let plan = Plan::sticky(Fault::NoFiles, make, 0).in_files(".sst");
    faults.set_plans(vec![plan]);
    let error = db.checkpoint("/copy").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfFiles, "{error}");
    assert!(!world.fs.exists(Path::new("/copy")).unwrap());
    faults.set_plans(Vec::new());
    db.checkpoint("/copy").unwrap();
    db.close().unwrap();
}

/// Backwards; panics once, after so many calls, where the number is not negative.
struct Fickle(Arc<AtomicI64>);

impl CustomComparator for Fickle {
    fn name(&self) -> &str {
        "fickle"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Way {
        assert!(
            self.0.fetch_sub(1, Ordering::SeqCst) != 0,
            "the order is in a bad mood"
        );
        right.cmp(left)
    }
}

const MANY_RUNS: [(&str, &str); 4] = [
    ("memtable.size", "64KiB"),
    ("sst.file_size", "16KiB"),
    ("compaction.l0_trigger", "2"),
    ("compaction.base_level", "64KiB"),
];

fn fickle(world: &SimWorld, calls: &Arc<AtomicI64>, settings: &[(&str, &str)]) -> Db {
    let comparator = Comparator::Custom(Arc::new(Fickle(Arc::clone(calls))));
    let builder = Builder::new("/db").env(world.env()).comparator(comparator);
    let builder = settings.iter().fold(builder, |builder, (name, text)| {
        builder.set(name, text).unwrap()
    });
    builder.open().unwrap()
}

fn add_run(world: &SimWorld, db: &Db, round: u32) {
    for number in 0..40 {
        db.put(
            format!("key{number:03}"),
            format!("{round}").repeat(300 + number),
        )
        .unwrap();
    }
    db.flush().unwrap();
    world.pool.run_all();
}

// Whether the order panicked, and the database went on.
fn compact_with_panic(call: i64) -> (bool, bool) {
    let calls = Arc::new(AtomicI64::new(-1));
    let world = SimWorld::new(3);
    let db = fickle(&world, &calls, &MANY_RUNS);
    for round in 0..5 {
        add_run(&world, &db, round);
    }
    db.put("key001", "more").unwrap();
    calls.store(call, Ordering::SeqCst);
    let answer = catch_unwind(AssertUnwindSafe(|| db.compact::<&str>(..)));
    let has_come = calls.load(Ordering::SeqCst) < 0 && call >= 0;
    calls.store(-1, Ordering::SeqCst);
    let is_open = db.stats().state == "open";
    if is_open {
        drop(answer);
        // Runs of level 0 are merged by themselves as before.
        for round in 5..12 {
            add_run(&world, &db, round);
        }
        let levels = db.stats().keyspaces[0].levels.clone();
        let runs = levels.iter().find(|level| level.depth == 0);
        let runs = runs.map_or(0, |level| level.run_count);
        assert!(runs <= 2, "{runs} runs in level 0 after call {call}");
        assert_eq!(db.stats().job_count, 0);
        db.close().unwrap();
    } else {
        assert!(db.close().is_err());
    }
    (has_come, is_open)
}

#[test]
fn an_comparator_that_panics_in_a_call_for_compaction_holds_up_no_later_one() {
    // In each call of the order in turn, on the caller's thread or in the background. Where the
    // gate has not failed, compactions go on by themselves.
    in_time("an order in a compaction", || {
        let (mut open_count, mut call) = (0, 0);
        loop {
            let (has_come, is_open) = compact_with_panic(call);
            if !has_come {
                break;
            }
            open_count += u32::from(is_open);
            call += if call < 60 { 1 } else { 37 };
        }
        assert!(open_count > 0, "the order never panicked on the caller");
    });
}

/// One run of a file and a short one behind it, for one piece.
const ONE_PIECE: [(&str, &str); 5] = [
    ("memtable.size", "256KiB"),
    ("sst.file_size", "16KiB"),
    ("sst.dictionary_min", "4KiB"),
    ("compression", "none"),
    ("compaction.automatic", "false"),
];

// Whether the order panicked while somebody compacted by the piece, and the database went on.
fn compact_pieces_with_panic(call: i64) -> (bool, bool) {
    let calls = Arc::new(AtomicI64::new(-1));
    let world = SimWorld::new(4);
    let db = fickle(&world, &calls, &ONE_PIECE);
    for number in 0..50 {
        let text = format!("ship {number} lies in port with a captain and a crew of seven; ");
        db.put(format!("key{number:03}"), text.repeat(7)).unwrap();
    }
    db.compact::<&str>(..).unwrap();
    assert_eq!(db.files().len(), 2);
    db.set("compression", "searchable").unwrap();
    calls.store(call, Ordering::SeqCst);
    // On the caller's thread it goes through to him.
    let _answer = catch_unwind(AssertUnwindSafe(|| db.compact::<&str>(..)));
    let has_come = calls.swap(-1, Ordering::SeqCst) < 0;
    world.pool.run_all();
    let is_open = db.stats().state == "open";
    if is_open {
        assert_eq!(db.stats().job_count, 0, "after call {call}");
        db.compact::<&str>(..).unwrap();
        assert!(db.files().iter().all(|file| file.is_searchable));
        db.close().unwrap();
    } else {
        assert!(db.close().is_err());
    }
    (has_come, is_open)
}

#[test]
fn nor_one_in_a_call_for_compaction_by_the_piece() {
    in_time("an order in a compaction by the piece", || {
        let mut open_count = 0;
        for call in 0.. {
            let (has_come, is_open) = compact_pieces_with_panic(call);
            if !has_come {
                break;
            }
            open_count += u32::from(is_open);
        }
        assert!(open_count > 0, "the order never panicked on the caller");
    });
}
