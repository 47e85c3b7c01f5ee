//! What listeners hear of a database, and what it costs the database: nothing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{FaultFs, SimWorld};
use esker::{
    BackgroundJob, Builder, CompactionKind, CompactionReason, Db, ErrorKind, Event, EventListener,
    FileKind, FlushReason, StallCause,
};

use crate::balance::Balance;
use crate::hooks::in_time;

const DIR: &str = "/db";

/// Remembers lines, and hands each event to a closure.
struct Ear {
    lines: Mutex<Vec<String>>,
    act: Box<dyn Fn(&Event) + Send + Sync>,
}

impl Ear {
    fn new(act: impl Fn(&Event) + Send + Sync + 'static) -> Arc<Ear> {
        Arc::new(Ear {
            lines: Mutex::default(),
            act: Box::new(act),
        })
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    // The lines that begin with that word.
    fn of(&self, name: &str) -> Vec<String> {
        let mut lines = self.lines();
        lines.retain(|line| line.split(' ').next() == Some(name));
        lines
    }
}

impl EventListener for Ear {
    fn on_event(&self, event: &Event) {
        self.lines.lock().unwrap().push(event.to_string());
        (self.act)(event);
    }
}

// Hears the events of a kind, as what `pick` makes of them.
fn picked<T: Send + 'static>(
    pick: impl Fn(&Event) -> Option<T> + Send + Sync + 'static,
) -> (Arc<Ear>, Arc<Mutex<Vec<T>>>) {
    let found: Arc<Mutex<Vec<T>>> = Arc::default();
    let kept = Arc::clone(&found);
    let ear = Ear::new(move |event| kept.lock().unwrap().extend(pick(event)));
    (ear, found)
}

fn builder(world: &SimWorld) -> Builder {
    let mut builder = Db::builder(DIR).env(world.env());
    for (name, text) in [
        ("memory_limit", "4MiB"),
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "256KiB"),
        ("sst.file_size", "16KiB"),
        ("compression", "none"),
        ("sst.compression_upper", "none"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    builder
}

fn put_all(db: &Db, count: usize) {
    for number in 0..count {
        db.put(format!("key{number:05}"), [b'v'; 200]).unwrap();
    }
}

// The files of a kind that lie in the directory.
fn names(world: &SimWorld, ending: &str) -> Vec<String> {
    let mut names = world.fs.list(Path::new(DIR)).unwrap();
    names.retain(|name| name.ends_with(ending));
    names
}

#[test]
fn a_flush_and_a_compaction_are_told_with_their_figures() {
    let world = SimWorld::new(1);
    let told = |event: &Event| match event {
        Event::FlushBegin(flush) => Some((flush.job_id, flush.reason, 0, 0)),
        Event::FlushEnd(flush) => {
            assert!(flush.outcome.is_ok() && flush.keyspace == "default");
            Some((flush.job_id, flush.reason, flush.file_count, flush.bytes))
        }
        _ => None,
    };
    let (flushes, found) = picked(told);
    let merges = |event: &Event| match event {
        Event::CompactionBegin(merge) => {
            let files: usize = merge.inputs.iter().map(|input| input.file_count).sum();
            let bytes: u64 = merge.inputs.iter().map(|input| input.bytes).sum();
            assert_eq!(merge.inputs[0].level, 0);
            assert!(merge.output_level > 0);
            Some((merge.job_id, merge.kind, merge.reason, files, bytes, 0, 0))
        }
        Event::CompactionEnd(merge) => {
            assert!(merge.outcome.is_ok());
            let (files, bytes) = (merge.input_file_count, merge.read_bytes);
            let (made, written) = (merge.output_file_count, merge.written_bytes);
            let (kind, reason) = (merge.kind, merge.reason);
            Some((merge.job_id, kind, reason, files, bytes, made, written))
        }
        _ => None,
    };
    let (compactions, merged) = picked(merges);
    let builder = builder(&world).event_listener(flushes.clone());
    let db = builder.event_listener(compactions.clone()).open().unwrap();
    put_all(&db, 300);
    db.flush().unwrap();
    world.pool.run_all();
    let first = db.files();
    let bytes = first.iter().map(|file| file.size_bytes).sum::<u64>();
    let end = (1, FlushReason::Manual, first.len(), bytes);
    assert_eq!(
        *found.lock().unwrap(),
        [(1, FlushReason::Manual, 0, 0), end]
    );
    assert!(first.len() > 2 && merged.lock().unwrap().is_empty());

    put_all(&db, 300);
    db.flush().unwrap();
    let before = db.files();
    let read_bytes = before.iter().map(|file| file.size_bytes).sum::<u64>();
    db.compact::<&str>(..).unwrap();
    world.pool.run_all();
    let after = db.files();
    let written = after.iter().map(|file| file.size_bytes).sum::<u64>();
    let heard = std::mem::take(&mut *merged.lock().unwrap());
    let (kind, reason) = (CompactionKind::Merge, CompactionReason::Manual);
    let count = before.len();
    assert_eq!(
        heard,
        [
            (3, kind, reason, count, read_bytes, 0, 0),
            (3, kind, reason, count, read_bytes, after.len(), written)
        ]
    );
    // The files that are told are those that are there.
    let created = flushes.of("file_created");
    for name in names(&world, ".sst") {
        let count = created.iter().filter(|line| line.contains(&name)).count();
        assert_eq!(count, 1, "{name}");
    }
    let gone: Vec<_> = flushes.of("file_deleted");
    for file in &before {
        let name = format!("{:06}.sst", file.number);
        let size = format!("bytes={}", file.size_bytes);
        let told = gone.iter().find(|line| line.contains(&name)).expect(&name);
        assert!(told.contains(&size), "{told}");
    }
    db.close().unwrap();
    assert_eq!(flushes.lines(), compactions.lines());
    let lines = flushes.lines();
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("database_closed path=\"/db\" ok=true")
    );
    let opened = lines
        .iter()
        .position(|line| line.starts_with("database_opened"));
    let begun = lines
        .iter()
        .position(|line| line.starts_with("flush_begin"));
    assert!(opened < begun, "{lines:#?}");
}

#[test]
fn a_flush_says_why_its_memtable_was_sealed() {
    let world = SimWorld::new(2);
    let reason = |event: &Event| match event {
        Event::FlushBegin(flush) => Some(flush.reason),
        _ => None,
    };
    let (ear, reasons) = picked(reason);
    let open = |ear: &Arc<Ear>| {
        let small = builder(&world).set("memtable.size", "64KiB").unwrap();
        small.event_listener(Arc::<Ear>::clone(ear)).open().unwrap()
    };
    let db = open(&ear);
    put_all(&db, 600);
    world.pool.run_all();
    assert_eq!(reasons.lock().unwrap()[0], FlushReason::MemtableFull);
    reasons.lock().unwrap().clear();
    db.put("a", "1").unwrap();
    db.close().unwrap();
    assert_eq!(*reasons.lock().unwrap(), [FlushReason::ShutDown]);
    reasons.lock().unwrap().clear();
    let db = open(&ear);
    db.put("b", "1").unwrap();
    db.checkpoint("/copy").unwrap();
    world.pool.run_all();
    assert_eq!(*reasons.lock().unwrap(), [FlushReason::Checkpoint]);
    reasons.lock().unwrap().clear();
    db.put("c", "1").unwrap();
    // A killed process: its jobs are gone, and the next one replays the log.
    world.pool.drop_all();
    std::mem::forget(db);
    let world = world.after_kill();
    let again = builder(&world).event_listener(ear.clone()).open().unwrap();
    world.pool.run_all();
    assert_eq!(*reasons.lock().unwrap(), [FlushReason::Recovery]);
    assert_eq!(ear.of("database_opened").len(), 3);
    assert!(!ear.of("database_opened")[2].contains("replayed_batches=0 "));
    again.close().unwrap();
}

#[test]
fn large_values_are_told_until_their_segment_goes() {
    let world = SimWorld::new(3);
    let values = |event: &Event| match event {
        Event::ValueFlushBegin(flush) => Some((flush.job_id, flush.bytes)),
        Event::ValueFlushEnd(flush) => Some((flush.job_id, flush.left_bytes)),
        _ => None,
    };
    let (ear, flushed) = picked(values);
    let mut builder = builder(&world).event_listener(ear.clone());
    for (name, text) in [
        ("value_log.threshold", "1KiB"),
        ("value_log.segment_size", "64KiB"),
        ("value_flush_bytes", "64KiB"),
        ("max_space_amp", "1.1"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let put_values = || {
        for number in 0..60 {
            db.put(format!("{number:03}"), vec![b'v'; 3_000]).unwrap();
        }
    };
    put_values();
    world.pool.run_all();
    let heard = std::mem::take(&mut *flushed.lock().unwrap());
    assert!(heard.len() >= 2 && heard[0].0 == heard[1].0, "{heard:?}");
    assert!(heard[0].1 >= 64 << 10, "{heard:?}");
    let made = names(&world, ".vlog");
    assert!(made.len() > 1);
    for name in &made {
        assert!(
            ear.of("file_created")
                .iter()
                .any(|line| line.contains(name))
        );
    }
    put_values();
    db.compact::<&str>(..).unwrap();
    world.pool.run_all();
    let left = names(&world, ".vlog");
    let gone = made.iter().filter(|name| !left.contains(name));
    let mut count = 0;
    for name in gone {
        assert!(
            ear.of("file_deleted")
                .iter()
                .any(|line| line.contains(name))
        );
        count += 1;
    }
    assert!(count > 0, "nothing was collected");
    db.close().unwrap();
}

#[test]
fn who_waits_for_memory_is_told_once() {
    let world = SimWorld::new(4);
    let stalls = |event: &Event| match event {
        Event::WriteStallBegin(stall) => Some((stall.cause, true)),
        Event::WriteStallEnd(stall) => Some((stall.cause, false)),
        _ => None,
    };
    let (ear, heard) = picked(stalls);
    let db = builder(&world).event_listener(ear.clone()).open().unwrap();
    let mut number = 0;
    // Nothing runs but what a waiting writer runs.
    while db.stats().stalled == Duration::ZERO && number < 40_000 {
        number += 1;
        let waits = heard.lock().unwrap().len();
        db.put(format!("key{number:06}"), [b'v'; 200]).unwrap();
        if heard.lock().unwrap().len() > waits {
            break;
        }
    }
    world.pool.run_all();
    db.close().unwrap();
    let heard = heard.lock().unwrap().clone();
    let expected = [
        (StallCause::MemtableLimit, true),
        (StallCause::MemtableLimit, false),
    ];
    assert_eq!(heard[..2], expected, "after {number} writes");
}

#[test]
fn a_keyspace_that_is_slowed_down_is_told_from_begin_to_end() {
    let world = SimWorld::new(5);
    let stalls = |event: &Event| match event {
        Event::WriteStallBegin(stall) => {
            let has_rate = stall.rate_bytes_s.is_some_and(|rate| rate > 0);
            Some((stall.cause, stall.keyspace.clone(), has_rate))
        }
        Event::WriteStallEnd(stall) => Some((stall.cause, stall.keyspace.clone(), false)),
        _ => None,
    };
    let (ear, heard) = picked(stalls);
    let mut builder = builder(&world).event_listener(ear.clone());
    for (name, text) in [
        ("memtable.size", "64KiB"),
        ("compaction.base_level", "64KiB"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let limited = |heard: &Arc<Mutex<Vec<_>>>| {
        let heard: Vec<(StallCause, Option<String>, bool)> = heard.lock().unwrap().clone();
        let mut heard = heard.into_iter();
        heard.any(|(cause, _, is_begin)| cause == StallCause::PendingCompaction && is_begin)
    };
    for round in 0..200 {
        put_all(&db, 300);
        db.flush().unwrap();
        if limited(&heard) {
            break;
        }
        assert!(round < 199, "never slowed down");
    }
    world.pool.run_all();
    db.close().unwrap();
    let mut heard = heard.lock().unwrap().clone();
    heard.retain(|(cause, ..)| *cause == StallCause::PendingCompaction);
    let own = Some("default".to_string());
    for pair in heard.chunks(2) {
        let [begin, end] = pair else {
            panic!("{heard:?}");
        };
        assert_eq!(*begin, (StallCause::PendingCompaction, own.clone(), true));
        assert_eq!(*end, (StallCause::PendingCompaction, own.clone(), false));
    }
}

#[test]
fn a_sync_that_fails_is_told_once_and_for_good() {
    let world = SimWorld::new(6);
    let faults = FaultFs::over_sim(&world.fs, 6);
    let errors = |event: &Event| match event {
        Event::BackgroundError(failed) => Some((failed.job, failed.is_read_only)),
        _ => None,
    };
    let (ear, heard) = picked(errors);
    let builder = builder(&world).env(world.env_with(Arc::new(faults.clone())));
    let db = builder.event_listener(ear.clone()).open().unwrap();
    put_all(&db, 300);
    faults.set_plans(vec![Plan::sticky(
        Fault::LostSync,
        Calls::Of(CallClass::Sync),
        0,
    )]);
    assert!(db.flush().is_err());
    assert!(db.flush().is_err());
    assert!(db.put("a", "1").is_err());
    world.pool.run_all();
    assert_eq!(*heard.lock().unwrap(), [(BackgroundJob::Flush, true)]);
    let refused = ear.of("writes_refused");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].starts_with("writes_refused final=true kind=\"io\""),
        "{refused:?}"
    );
    let ended = ear.of("flush_end");
    assert!(
        ended.len() == 1 && ended[0].contains("ok=false"),
        "{ended:?}"
    );
    faults.set_plans(Vec::new());
    assert!(db.close().is_err());
    assert!(
        ear.lines()
            .last()
            .unwrap()
            .starts_with("database_closed path=\"/db\" ok=false")
    );
    assert!(ear.of("writes_resumed").is_empty());
}

#[test]
fn a_full_disk_is_told_and_its_end_too() {
    let world = SimWorld::new(7);
    let ear = Ear::new(|_| {});
    let builder = builder(&world).set("disk.free_min", "1MiB").unwrap();
    let db = builder.event_listener(ear.clone()).open().unwrap();
    put_all(&db, 10);
    let free_bytes = world.fs.free_bytes(Path::new(DIR)).unwrap();
    world.fs.set_free_bytes(1 << 19);
    db.flush().unwrap();
    assert_eq!(db.put("a", "1").unwrap_err().kind(), ErrorKind::OutOfSpace);
    world.pool.run_all();
    assert_eq!(ear.of("writes_refused").len(), 1, "{:#?}", ear.lines());
    assert!(ear.of("writes_refused")[0].contains("final=false kind=\"out of space\""));
    assert!(ear.of("writes_resumed").is_empty());
    world.fs.set_free_bytes(free_bytes);
    db.put("a", "1").unwrap();
    world.pool.run_all();
    assert_eq!(ear.of("writes_refused").len(), 1);
    assert_eq!(ear.of("writes_resumed").len(), 1);
    assert!(ear.of("background_error").is_empty(), "{:#?}", ear.lines());
    db.close().unwrap();
}

#[test]
fn a_listener_that_panics_costs_nothing() {
    let world = SimWorld::new(8);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let broken = Ear::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        panic!("a listener breaks down");
    });
    let balance = Arc::new(Balance::over(&world.fs, Path::new(DIR)));
    let builder = builder(&world).event_listener(broken.clone());
    let db = builder.event_listener(balance.clone()).open().unwrap();
    put_all(&db, 600);
    db.compact::<&str>(..).unwrap();
    world.pool.run_all();
    let failures = db.stats().failures;
    assert!(
        failures.len() == 1 && failures[0].contains("a listener breaks down"),
        "{failures:?}"
    );
    assert!(db.verify().unwrap().damages.is_empty());
    db.put("after", "1").unwrap();
    db.close().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), broken.lines().len());
    assert!(balance.count("flush_end") >= 2 && balance.count("compaction_end") == 1);
    balance.check_closed(&world.fs, Path::new(DIR)).unwrap();
}

#[test]
fn a_listener_may_call_the_database_from_each_event() {
    in_time("a listener that calls the database", || {
        let dir = tempfile::tempdir().unwrap();
        let handle: Arc<OnceLock<Db>> = Arc::default();
        let is_over = Arc::new(AtomicBool::new(false));
        let (heard, is_heard) = std::sync::mpsc::channel();
        let (own, over) = (handle.clone(), is_over.clone());
        let ear = Ear::new(move |event| {
            let Some(db) = own.get().filter(|_| !over.load(Ordering::SeqCst)) else {
                return;
            };
            let name = event.name();
            db.put(name, "told").unwrap();
            assert_eq!(db.get(name).unwrap().as_deref(), Some(&b"told"[..]));
            assert_eq!(db.stats().state, "open");
            assert!(db.iter().unwrap().count() > 0);
            assert_eq!(db.close().unwrap_err().kind(), ErrorKind::Invalid);
            if name == "compaction_end" {
                // It may also wait for what it is told of.
                db.flush().unwrap();
                let keyspace = db.keyspace("made by a listener").unwrap();
                keyspace.put("a", "1").unwrap();
            }
            heard.send(()).unwrap();
        });
        let builder = Db::builder(dir.path()).event_listener(ear.clone());
        let builder = builder.set("memory_limit", "32MiB").unwrap();
        let builder = builder.set("memtable.size", "256KiB").unwrap();
        let db = builder.open().unwrap();
        handle.set(db.clone()).ok().unwrap();
        for round in 0..4 {
            for number in 0..4_000 {
                db.put(format!("key{number:05}"), [round; 200]).unwrap();
            }
            db.compact::<&str>(..).unwrap();
        }
        // They are told in a thread of their own, which may be far behind.
        assert_eq!(is_heard.iter().take(11).count(), 11);
        is_over.store(true, Ordering::SeqCst);
        db.close().unwrap();
        assert!(ear.lines().last().unwrap().starts_with("database_closed"));
        assert!(
            !ear.lines()
                .iter()
                .any(|line| line.starts_with("events_lost"))
        );
    });
}

#[test]
fn the_last_handle_may_go_in_a_listener() {
    in_time("a listener that drops the last handle", || {
        let dir = tempfile::tempdir().unwrap();
        let handle: Arc<Mutex<Option<Db>>> = Arc::default();
        let (closed, is_closed) = std::sync::mpsc::channel();
        let own = Arc::clone(&handle);
        let ear = Ear::new(move |event| match event {
            Event::FlushEnd(_) => drop(own.lock().unwrap().take()),
            Event::DatabaseClosed(_) => closed.send(()).unwrap(),
            _ => {}
        });
        let db = Db::builder(dir.path()).event_listener(ear).open().unwrap();
        db.put("a", "1").unwrap();
        let keyspace = db.keyspace("default").unwrap();
        *handle.lock().unwrap() = Some(db);
        keyspace.flush().unwrap();
        drop(keyspace);
        is_closed.recv().unwrap();
        // It may be a moment until the directory is free.
        let reopened = Db::builder(dir.path()).read_only(true).open().unwrap();
        assert!(reopened.get("a").unwrap().is_some());
    });
}

#[test]
fn openings_for_reading_and_such_as_fail_are_told_as_what_they_are() {
    let world = SimWorld::new(9);
    let ear = Ear::new(|_| {});
    let missing = builder(&world).create_if_missing(false);
    assert!(missing.event_listener(ear.clone()).open().is_err());
    assert!(ear.lines().is_empty(), "{:?}", ear.lines());
    assert_eq!(Arc::strong_count(&ear), 1);

    let db = builder(&world).open().unwrap();
    put_all(&db, 50);
    db.close().unwrap();
    let reader = builder(&world).read_only(true).event_listener(ear.clone());
    let reader = reader.open().unwrap();
    assert!(reader.get("key00001").unwrap().is_some());
    reader.close().unwrap();
    let lines = ear.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("database_opened path=\"/db\" read_only=true"));
    assert!(lines[1].starts_with("database_closed path=\"/db\" ok=true"));
}

#[test]
fn a_closed_database_lets_go_of_its_listeners() {
    // Even of one that holds a handle, which would keep the database open for ever.
    let world = SimWorld::new(10);
    let handle: Arc<OnceLock<Db>> = Arc::default();
    let own = Arc::clone(&handle);
    let ear = Ear::new(move |_| {
        let _held = own.get();
    });
    let left: Weak<Ear> = Arc::downgrade(&ear);
    let db = builder(&world).event_listener(ear).open().unwrap();
    handle.set(db.clone()).ok().unwrap();
    drop(handle);
    db.put("a", "1").unwrap();
    assert!(left.upgrade().is_some());
    db.close().unwrap();
    assert!(left.upgrade().is_none());
    db.close().unwrap();
}

#[test]
fn a_write_that_does_not_wait_calls_no_listener() {
    // All that it may do is to leave something in the queue, when it begins a segment of the log.
    let world = SimWorld::new(11);
    let ear = Ear::new(|_| {});
    let db = builder(&world).event_listener(ear.clone()).open().unwrap();
    world.pool.run_all();
    let before = ear.lines().len();
    put_all(&db, 600);
    assert_eq!(ear.lines().len(), before);
    world.pool.run_all();
    let kind = format!("kind={}", FileKind::Wal);
    let told = ear.lines();
    assert!(
        told[before..].iter().any(|line| line.contains(&kind)),
        "{told:#?}"
    );
    db.close().unwrap();
}
