//! Ordered commits: none is refused for lack of anything, and none outlives an earlier one.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::signal::Signal;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{Db, Durability, ErrorKind, OrderedCommit, PreparedTransaction, WriteOptions};

use crate::stored_bytes;
use crate::two_phases::{
    DIR, fill, ids, is_visible, log_segments, open, open_at, prepare, prepare_held,
};
use crate::watched_fs::{Eye, Lie, WatchedFs};

fn is_send<T: Send + 'static>() {}

#[test]
fn another_thread_may_commit_what_one_prepared() {
    is_send::<PreparedTransaction>();
    is_send::<OrderedCommit>();
    let world = SimWorld::new(1);
    let db = open(&world.env());
    let prepared = prepare_held(&db, "a").unwrap();
    let commit = std::thread::spawn(move || prepared.commit_ordered());
    let committed = commit.join().unwrap().unwrap();
    assert!(is_visible(&db, "a") && ids(&db).is_empty());
    committed.finish().unwrap();
}

#[test]
fn what_was_not_finished_is_prepared_again_and_what_was_is_there() {
    let world = SimWorld::new(2);
    let db = open(&world.env());
    let prepared = ["a", "b", "c"].map(|id| prepare_held(&db, id).unwrap());
    let [a, b, c] = prepared.map(|one| one.commit_ordered().unwrap());
    assert!(is_visible(&db, "a") && is_visible(&db, "c"));
    let lost = open(&world_of(world.fs.crash_image(CrashMode::LoseUnsynced, 2)));
    assert_eq!(ids(&lost), ["a", "b", "c"]);
    drop(a);
    let buffered = WriteOptions {
        durability: Some(Durability::Buffered),
        ..WriteOptions::default()
    };
    c.finish_with(buffered).unwrap();
    // With it what was committed before, and here that is what came later as well.
    b.finish().unwrap();
    let kept = open(&world_of(world.fs.crash_image(CrashMode::LoseUnsynced, 2)));
    assert!(ids(&kept).is_empty());
    assert!(["a", "b", "c"].iter().all(|id| is_visible(&kept, id)));
}

fn world_of(disk: SimFs) -> Env {
    SimWorld::with_disk(disk, Arc::default(), 3).env()
}

#[test]
fn a_full_disk_refuses_none() {
    // The log keeps room for each, wherever segments end between its prepare and its commit.
    for (round_count, ends_full) in [(0, false), (1, false), (3, false), (0, true), (2, true)] {
        let world = SimWorld::new(4);
        let env = world.env();
        let db = open(&env);
        let long = "of a transaction with a long name ".repeat(6);
        let id_of = |number: usize| format!("{number:02} {long}");
        let prepare = |number| prepare_held(&db, &id_of(number)).unwrap();
        let mut prepared: Vec<_> = (0..8).map(prepare).collect();
        for round in 0..round_count {
            fill(&db, round);
            prepared.push(prepare(8 + round));
        }
        // One that nobody commits in order keeps no room.
        drop(prepare(90));
        if ends_full {
            // Larger than a segment: it has one of its own, made for it.
            let mut batch = db.batch();
            for number in 0..80 {
                batch.put(&db, format!("giant:{number}"), [b'g'; 900]);
            }
            batch.commit().unwrap();
        }
        world.fs.set_free_bytes(0);
        let plain = db.with_write(WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        });
        // Small ones at the end, until not even those fit.
        for len in [900, 30, 0] {
            let put = |number: usize| plain.put(format!("{len}:{number}"), vec![b'f'; len]);
            let refused = (0..10_000).map(put).find_map(Result::err);
            assert_eq!(refused.unwrap().kind(), ErrorKind::OutOfSpace);
        }
        db.sync().unwrap_err();
        let count = prepared.len();
        let committed: Vec<_> = prepared
            .into_iter()
            .map(|one| one.commit_ordered().unwrap())
            .collect();
        for one in committed {
            one.finish().unwrap();
        }
        let kept = open(&world_of(world.fs.crash_image(CrashMode::LoseUnsynced, 4)));
        assert_eq!(ids(&kept), [id_of(90)]);
        assert!((0..count).all(|number| is_visible(&kept, &id_of(number))));
        // What keeps no room is refused, and stays prepared.
        let refused = db.commit_prepared(id_of(90)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::OutOfSpace);
        assert_eq!(ids(&db), [id_of(90)]);
    }
}

#[test]
fn beyond_its_part_of_a_segment_no_room_is_kept() {
    // Of 64 KiB a quarter: so the log stays there for others, however much is prepared.
    let world = SimWorld::new(5);
    let db = open(&world.env());
    let large = |id: usize| {
        let mut tx = db.begin();
        for number in 0..7 {
            tx.put(&db, format!("{id}:{number}"), [b'v'; 900]).unwrap();
        }
        tx.prepare(id.to_string()).unwrap()
    };
    let prepared: Vec<_> = (0..40).map(large).collect();
    for round in 0..4 {
        fill(&db, round);
    }
    let segments_before = db.stats().wal_segment_count;
    for number in 0..20 {
        db.put(format!("small:{number}"), "v").unwrap();
    }
    assert!(db.stats().wal_segment_count <= segments_before + 1);
    for (id, one) in prepared.into_iter().enumerate() {
        one.commit_ordered().unwrap().finish().unwrap();
        assert!(db.contains_key(format!("{id}:6")).unwrap());
    }
    db.close().unwrap();
}

#[test]
fn no_stall_is_waited_for() {
    let world = SimWorld::new(6);
    let db = open(&world.env());
    let prepared = prepare_held(&db, "a").unwrap();
    let at_once = db.with_write(WriteOptions {
        durability: Some(Durability::Buffered),
        no_wait: true,
    });
    let put = |number: usize| at_once.put(format!("{number}"), [b'f'; 900]);
    let refused = (0..100_000).map(put).find_map(Result::err);
    assert_eq!(refused.unwrap().kind(), ErrorKind::Busy);
    let (jobs, stalled) = (world.pool.run_count(), db.stats().stalled);
    let committed = prepared.commit_ordered().unwrap();
    assert_eq!(
        (world.pool.run_count(), db.stats().stalled),
        (jobs, stalled)
    );
    assert!(is_visible(&db, "a"));
    committed.finish().unwrap();
}

#[test]
fn who_ended_it_by_its_id_is_told_to_its_handle() {
    let world = SimWorld::new(7);
    let db = open(&world.env());
    let prepared = prepare_held(&db, "a").unwrap();
    db.rollback_prepared("a").unwrap();
    let refused = prepared.commit_ordered().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let prepared = prepare_held(&db, "b").unwrap();
    db.close().unwrap();
    let refused = prepared.commit_ordered().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
}

/// What callbacks were told, in their order.
type Heard = Arc<Mutex<Vec<Option<ErrorKind>>>>;

fn listen(db: &Db, heard: &Heard) -> esker::Result<()> {
    let heard = Arc::clone(heard);
    db.notify_when_durable(move |durable| {
        heard
            .lock()
            .unwrap()
            .push(durable.err().map(|error| error.kind()));
    })
}

#[test]
fn who_asks_is_called_once_the_log_is_durable() {
    let world = SimWorld::new(8);
    let db = open(&world.env());
    let prepared = prepare_held(&db, "a").unwrap();
    drop(prepared.commit_ordered().unwrap());
    let heard = Heard::default();
    listen(&db, &heard).unwrap();
    listen(&db, &heard).unwrap();
    assert!(heard.lock().unwrap().is_empty());
    let pending = world.pool.pending_names();
    let own = pending.iter().filter(|name| **name == "esker-durable");
    assert_eq!(own.count(), 1);
    world.pool.run_all();
    assert_eq!(*heard.lock().unwrap(), [None, None]);
    let kept = open(&world_of(world.fs.crash_image(CrashMode::LoseUnsynced, 8)));
    assert!(is_visible(&kept, "a") && ids(&kept).is_empty());
    // Durable already: nothing is synced for it.
    let calls = world.fs.call_count();
    listen(&db, &heard).unwrap();
    world.pool.run_all();
    assert_eq!(heard.lock().unwrap().len(), 3);
    assert_eq!(world.fs.call_count(), calls);
}

#[test]
fn closing_calls_all_who_wait_and_takes_no_more() {
    let world = SimWorld::new(9);
    let db = open(&world.env());
    drop(prepare_held(&db, "a").unwrap().commit_ordered().unwrap());
    let heard = Heard::default();
    listen(&db, &heard).unwrap();
    db.close().unwrap();
    assert_eq!(*heard.lock().unwrap(), [None]);
    let refused = listen(&db, &heard).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    world.pool.run_all();
    assert_eq!(*heard.lock().unwrap(), [None]);
}

#[test]
fn a_log_that_fails_is_told() {
    let world = SimWorld::new(10);
    let faults = FaultFs::over_sim(&world.fs, 10);
    let db = open(&world.env_with(Arc::new(faults.clone())));
    drop(prepare_held(&db, "a").unwrap().commit_ordered().unwrap());
    let heard = Heard::default();
    listen(&db, &heard).unwrap();
    let calls = Calls::Of(CallClass::Sync);
    faults.set_plans(vec![Plan::sticky(Fault::Io, calls, 0)]);
    world.pool.run_all();
    assert_eq!(*heard.lock().unwrap(), [Some(ErrorKind::Faulted)]);
    let refused = listen(&db, &heard).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Faulted);
    assert_eq!(db.close().unwrap_err().kind(), ErrorKind::Faulted);
}

#[test]
fn a_callback_may_panic_and_call_the_database_and_not_close_it() {
    let world = SimWorld::new(11);
    let db = open(&world.env());
    let heard = Heard::default();
    db.notify_when_durable(|_| panic!("of a callback")).unwrap();
    let refused = Arc::new(Mutex::new(None));
    let (own, own_refused, own_heard) = (db.clone(), Arc::clone(&refused), Arc::clone(&heard));
    db.notify_when_durable(move |durable| {
        durable.unwrap();
        own.put("called", "1").unwrap();
        listen(&own, &own_heard).unwrap();
        *own_refused.lock().unwrap() = own.close().err().map(|error| error.kind());
    })
    .unwrap();
    world.pool.run_all();
    assert_eq!(*refused.lock().unwrap(), Some(ErrorKind::Invalid));
    assert_eq!(*heard.lock().unwrap(), [None]);
    assert!(db.contains_key("called").unwrap());
    let failures = db.stats().failures;
    assert!(failures[0].contains("of a callback"), "{failures:?}");
    // It may have the last handle: then the database is closed when it has ended.
    let last = db.clone();
    db.notify_when_durable(move |_| drop(last)).unwrap();
    drop(db);
    world.pool.run_all();
    let db = open(&world.env());
    assert!(db.contains_key("called").unwrap());
}

#[test]
fn a_callback_may_change_keyspaces_while_the_database_closes() {
    // It is refused, and neither waits for the other.
    let world = SimWorld::new(13);
    let db = open(&world.env());
    let told = Arc::new(Mutex::new(Vec::new()));
    let (own, own_told) = (db.clone(), Arc::clone(&told));
    db.notify_when_durable(move |_| {
        let made = own.keyspace("new").map(drop);
        let dropped = own.drop_keyspace("other");
        let kinds = [made, dropped].map(|one| one.err().map(|error| error.kind()));
        own_told.lock().unwrap().extend(kinds);
    })
    .unwrap();
    db.close().unwrap();
    assert_eq!(*told.lock().unwrap(), [Some(ErrorKind::Closed); 2]);
}

#[test]
fn who_finishes_after_the_end_leaves_the_log_alone() {
    // A flush failed, so closing left the log as it was; by now it may be another's.
    let world = SimWorld::new(14);
    let faults = FaultFs::over_sim(&world.fs, 14);
    let db = open(&world.env_with(Arc::new(faults.clone())));
    let committed = prepare_held(&db, "a").unwrap().commit_ordered().unwrap();
    faults.set_plans(vec![Plan::sticky(Fault::Io, Calls::Of(CallClass::Meta), 0)]);
    db.close().unwrap_err();
    faults.set_plans(Vec::new());
    let log = || {
        let env = world.env();
        let names = log_segments(&env, DIR).into_iter();
        let read = |name| stored_bytes::read(&*env.fs, &Path::new(DIR).join(name));
        names.map(read).collect::<Vec<_>>()
    };
    let before = log();
    let sync = WriteOptions {
        durability: Some(Durability::Sync),
        ..WriteOptions::default()
    };
    committed.finish_with(sync).unwrap();
    assert!(log() == before);
    let db = open(&world.env());
    assert!(is_visible(&db, "a"));
}

#[test]
fn what_was_kept_for_dropped_handles_is_free_at_once() {
    // The disk is full: what fits into the live segment is written all the same.
    let put_count = |are_dropped: bool| {
        let world = SimWorld::new(15);
        let db = open(&world.env());
        let prepare = |number: usize| prepare_held(&db, &format!("{number}")).unwrap();
        let mut prepared: Vec<_> = (0..4).map(prepare).collect();
        world.fs.set_free_bytes(0);
        if are_dropped {
            prepared.clear();
        }
        let plain = db.with_write(WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        });
        (0..100_000)
            .position(|number| plain.put(format!("{number}"), "v").is_err())
            .unwrap()
    };
    let (kept, free) = (put_count(false), put_count(true));
    assert!(kept < free, "{kept} and {free}");
}

/// What was told of ordered commits, in the order of the calls.
#[derive(Clone, Default)]
struct Journal {
    begun: Vec<String>,
    /// How many of them are said to be durable.
    durable_count: usize,
    /// What was prepared, and not begun to be committed.
    prepared: Vec<String>,
}

type Shared = Arc<Mutex<Journal>>;

fn commit(journal: &Shared, (id, prepared): (&str, PreparedTransaction)) -> OrderedCommit {
    {
        let mut journal = journal.lock().unwrap();
        journal.prepared.retain(|one| one != id);
        journal.begun.push(id.into());
    }
    prepared.commit_ordered().unwrap()
}

// Prepares and commits in another order, with all that moves either between.
fn story(env: &Env, journal: &Shared) {
    let db = open(env);
    let prepared = |id: &'static str| {
        let prepared = prepare_held(&db, id).unwrap();
        journal.lock().unwrap().prepared.push(id.into());
        (id, prepared)
    };
    let durable = |count: usize| {
        let mut journal = journal.lock().unwrap();
        journal.durable_count = journal.durable_count.max(count);
    };
    let (a, b, c) = (prepared("a"), prepared("b"), prepared("c"));
    drop(commit(journal, b));
    let committed = commit(journal, a);
    fill(&db, 0);
    committed.finish().unwrap();
    durable(2);
    let (d, e) = (prepared("d"), prepared("e"));
    fill(&db, 1);
    drop(commit(journal, c));
    drop(commit(journal, e));
    db.flush_all().unwrap();
    let f = prepared("f");
    drop(commit(journal, f));
    notify(&db, journal);
    fill(&db, 2);
    db.compact::<&str>(..).unwrap();
    let committed = commit(journal, d);
    db.checkpoint("copy").unwrap();
    let (g, h) = (prepared("g"), prepared("h"));
    fill(&db, 3);
    db.flush_all().unwrap();
    committed.finish().unwrap();
    durable(6);
    drop(commit(journal, h));
    drop(g);
    notify(&db, journal);
    // Has the jobs run, and nothing else.
    env.pool
        .wait(&Signal::default(), 0, Duration::from_millis(1));
    assert_eq!(journal.lock().unwrap().durable_count, 7);
    db.close().unwrap();
}

fn notify(db: &Db, journal: &Shared) {
    let (told, count) = (Arc::clone(journal), journal.lock().unwrap().begun.len());
    db.notify_when_durable(move |synced| {
        synced.unwrap();
        let mut journal = told.lock().unwrap();
        journal.durable_count = journal.durable_count.max(count);
    })
    .unwrap();
}

fn check(db: &Db, journal: &Journal) -> Result<(), String> {
    let listed = ids(db);
    let is_prepared = |id: &String| listed.contains(id);
    for id in &journal.prepared {
        if !is_prepared(id) || is_visible(db, id) {
            return Err(format!("{id} is not as it was prepared"));
        }
    }
    let there: Vec<bool> = journal.begun.iter().map(|id| is_visible(db, id)).collect();
    for (id, is_there) in journal.begun.iter().zip(&there) {
        if *is_there == is_prepared(id) {
            return Err(format!("{id} is neither committed nor prepared, or both"));
        }
    }
    let there_count = there.iter().take_while(|is_there| **is_there).count();
    if there[there_count..].contains(&true) {
        return Err(format!("of {:?} there are {there:?}", journal.begun));
    }
    match there_count < journal.durable_count {
        true => Err(format!(
            "{there_count} are there, and {} were durable",
            journal.durable_count
        )),
        false => Ok(()),
    }
}

// Opened after the crash, then what is left is ended, and lived on.
fn survive(image: &SimFs, journal: &Journal, call: u64) -> Result<(), String> {
    let world = SimWorld::with_disk(image.clone(), Arc::default(), call);
    let failed = |error: esker::Error| format!("opening: {error}");
    let db = open_at(&world.env(), DIR).map_err(failed)?;
    check(&db, journal)?;
    for id in ids(&db) {
        db.commit_prepared(&id).unwrap();
        if !is_visible(&db, &id) {
            return Err(format!("{id} was not committed by its id"));
        }
    }
    prepare(&db, "new").unwrap();
    if !db.verify().unwrap().is_whole() {
        return Err("not whole".into());
    }
    db.close().unwrap();
    let db = open_at(&world.env(), DIR).map_err(failed)?;
    match ids(&db) == ["new"] && journal.begun.iter().all(|id| is_visible(&db, id)) {
        true => Ok(()),
        false => Err("something is lost in the end".into()),
    }
}

fn sweep(mode: CrashMode, step: u64) {
    let (journal, first) = (Shared::default(), Arc::new(Mutex::new(None)));
    let crash_count = Arc::new(AtomicUsize::new(0));
    let world = SimWorld::new(12);
    let eye: Eye = {
        let (journal, first) = (Arc::clone(&journal), Arc::clone(&first));
        let (calls, crash_count) = (Mutex::new(0), Arc::clone(&crash_count));
        Arc::new(move |sim, doing| {
            let call = {
                let mut calls = calls.lock().unwrap();
                *calls += 1;
                *calls
            };
            if call % step != 0 || first.lock().unwrap().is_some() {
                return;
            }
            crash_count.fetch_add(1, Ordering::Relaxed);
            let image = sim.crash_image(mode, call);
            let journal = journal.lock().unwrap().clone();
            if let Err(error) = survive(&image, &journal, call) {
                let text = format!("{error}; crashed before call {call} ({doing}), {mode:?}");
                *first.lock().unwrap() = Some(text);
            }
        })
    };
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    story(&world.env_with(Arc::new(watched)), &journal);
    let error = first.lock().unwrap().take();
    assert_eq!(error, None);
    assert!(crash_count.load(Ordering::Relaxed) > 50);
}

#[test]
fn whenever_the_power_fails_no_commit_outlives_an_earlier_one() {
    sweep(CrashMode::LoseUnsynced, 2);
    sweep(CrashMode::Pages, 3);
}
