//! Background jobs that panic: nobody waits for ever, everybody is told, and nothing is lost.
//!
//! The disk panics, in each change that a thread of the engine makes in turn: so every kind of job
//! does, in each of its steps: segments of the log, flushes, large values, compactions, removals.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use esker::internals::env::real::pool::RealPool;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Error, ErrorKind, Result};

use crate::hooks::in_time;
use crate::watched_fs::{Eye, Lie, WatchedFs};
use crate::workload;

/// Of the puts of one run: enough for every kind of job.
const PUTS: usize = 160;

/// Every so many changes of the background one run panics; a run of each would take a minute.
const STRIDE: usize = 3;

fn refused(answer: &Result<()>) -> bool {
    match answer {
        Ok(()) => false,
        Err(error) => {
            let is_told = matches!(error.kind(), ErrorKind::Faulted | ErrorKind::Closed);
            assert!(is_told, "{error}");
            true
        }
    }
}

fn value_of(turn: usize) -> Vec<u8> {
    let len = if turn.is_multiple_of(5) { 3_000 } else { 300 };
    vec![u8::try_from(turn % 251).unwrap(); len]
}

// Everything that waits for the background; what was acknowledged.
fn work(db: &Db) -> (BTreeMap<String, Vec<u8>>, Option<Error>) {
    let mut there = BTreeMap::new();
    for turn in 0..PUTS {
        let key = format!("key{turn:04}");
        if !refused(&db.put(&key, value_of(turn))) {
            there.insert(key, value_of(turn));
        }
        if turn % 40 == 39 {
            refused(&db.flush());
        }
    }
    refused(&db.compact::<&str>(..));
    refused(&db.sync());
    refused(&db.checkpoint("/copy"));
    (there, db.close().err())
}

// Whether the panic came.
fn run(skip: i64) -> bool {
    let world = SimWorld::new(1);
    let left = Arc::new(AtomicI64::new(skip));
    let counted = Arc::clone(&left);
    let eye: Eye = Arc::new(move |_, doing| {
        let thread = std::thread::current();
        let is_background = thread.name().is_some_and(|name| name.starts_with("esker"));
        let is_due = is_background && counted.fetch_sub(1, Ordering::SeqCst) == 0;
        assert!(!is_due, "the disk panics: {doing}");
    });
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let mut env = world.env_with(Arc::new(watched.clone()));
    env.pool = Arc::new(RealPool::new(2));
    let db = workload::open(env, false).unwrap();
    let (there, closed) = work(&db);
    let has_come = left.load(Ordering::SeqCst) < 0;
    if has_come {
        let failures = db.stats().failures;
        let is_told = failures.iter().any(|text| text.contains("the disk panics"));
        assert!(is_told, "{failures:?}");
        let text = closed.expect("closing after a panic").to_string();
        assert!(text.contains("panic"), "{text}");
    } else {
        assert!(closed.is_none(), "{closed:?}");
    }
    assert!(db.close().is_err() == has_come);
    watched.shut();
    drop(db);
    let world = world.after_kill();
    let db = workload::open(world.env(), false).unwrap();
    for (key, value) in &there {
        assert_eq!(
            db.get(key).unwrap().as_deref(),
            Some(&value[..]),
            "{key} of {skip}"
        );
    }
    assert!(db.verify().unwrap().damages.is_empty());
    db.close().unwrap();
    has_come
}

#[test]
fn a_job_that_panics_holds_nobody_up_and_loses_nothing() {
    in_time("a job that panics", || {
        let mut count = 0;
        for skip in (0..).step_by(STRIDE) {
            if !run(skip) {
                break;
            }
            count += 1;
        }
        assert!(count > 10, "the background hardly changed anything");
        println!("{count} panics survived");
    });
}
