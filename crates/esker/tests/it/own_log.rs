//! A log of the user's own: asked before a flush, told behind one, and no harm to anything else.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use esker::internals::env::clock::Clock;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{
    Db, ErrorKind, IngestOptions, Keyspace, KeyspaceOptions, OwnLog, SstWriter, WriteOptions,
};

use crate::marks::{builder_in, unlogged};

type Hook = Box<dyn Fn(&Log, &str, u64) + Send>;

/// A log that is durable up to some index.
#[derive(Default)]
struct Log {
    durable: AtomicU64,
    asked: Mutex<Vec<u64>>,
    told: Mutex<Vec<(String, u64)>>,
    panics: AtomicBool,
    /// What else is done in a question.
    also: Mutex<Option<Hook>>,
}

fn index(mark: &[u8]) -> u64 {
    u64::from_be_bytes(mark.try_into().unwrap())
}

impl OwnLog for Log {
    fn is_durable(&self, keyspace: &str, mark: &[u8]) -> bool {
        self.asked.lock().unwrap().push(index(mark));
        if let Some(also) = &*self.also.lock().unwrap() {
            also(self, keyspace, index(mark));
        }
        assert!(!self.panics.load(Ordering::SeqCst), "the log breaks");
        index(mark) <= self.durable.load(Ordering::SeqCst)
    }

    fn flushed(&self, keyspace: &str, mark: &[u8]) {
        let told = (keyspace.to_string(), index(mark));
        self.told.lock().unwrap().push(told);
    }
}

fn open(world: &SimWorld, log: &Arc<Log>) -> Db {
    let log = Arc::<Log>::clone(log);
    builder_in(world.env()).own_log(log).open().unwrap()
}

fn replica(db: &Db) -> Keyspace {
    db.keyspace_with("replica", unlogged()).unwrap()
}

fn apply(db: &Db, replica: &Keyspace, index: u64) {
    let mut batch = db.batch();
    batch.put(replica, format!("row {index}"), "1");
    batch.mark(replica, index.to_be_bytes());
    batch.commit().unwrap();
}

fn flushed(replica: &Keyspace) -> Option<u64> {
    replica.flushed_mark().unwrap().map(|mark| index(&mark))
}

#[test]
fn a_flush_waits_until_the_own_log_is_durable_and_goes_on_when_told() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    apply(&db, &replica, 1);
    replica.flush_soon().unwrap();
    world.pool.run_all();
    assert_eq!((flushed(&replica), db.stats().job_count), (None, 0));
    assert_eq!(*log.asked.lock().unwrap(), [1]);
    assert!(db.stats().keyspaces[1].is_parked);
    // Whatever else wakes the background asks nobody again, nor does being told too early.
    db.put("a", "1").unwrap();
    db.flush().unwrap();
    world.pool.run_all();
    assert_eq!(*log.asked.lock().unwrap(), [1]);
    replica.own_log_is_durable();
    world.pool.run_all();
    assert_eq!(*log.asked.lock().unwrap(), [1, 1]);
    assert_eq!(flushed(&replica), None);
    log.durable.store(1, Ordering::SeqCst);
    world.pool.run_all();
    assert_eq!(flushed(&replica), None);
    replica.own_log_is_durable();
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(1));
    assert_eq!(*log.told.lock().unwrap(), [("replica".to_string(), 1)]);
    assert!(!db.stats().keyspaces[1].is_parked);
    // Where nothing waits, nobody is asked.
    let asked = log.asked.lock().unwrap().len();
    replica.own_log_is_durable();
    world.pool.run_all();
    assert_eq!(log.asked.lock().unwrap().len(), asked);
    db.close().unwrap();
}

#[test]
fn what_the_log_has_is_flushed_before_what_it_lacks() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    for index in 1..=3 {
        apply(&db, &replica, index);
        replica.flush_soon().unwrap();
    }
    log.durable.store(2, Ordering::SeqCst);
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(2));
    assert_eq!(log.asked.lock().unwrap().first(), Some(&3));
    let found = world.after_crash(CrashMode::LoseUnsynced, 3);
    let again = open(&found, &Arc::default());
    assert_eq!(
        again
            .existing_keyspace("replica")
            .unwrap()
            .iter()
            .unwrap()
            .count(),
        2
    );
    // Told at the medium: what the log may give back is there then.
    assert_eq!(*log.told.lock().unwrap(), [("replica".to_string(), 2)]);
}

#[test]
fn what_is_told_of_one_leaves_the_no_of_another() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    for index in 1..=2 {
        apply(&db, &replica, index);
        replica.flush_soon().unwrap();
    }
    log.durable.store(1, Ordering::SeqCst);
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(1));
    assert_eq!(*log.told.lock().unwrap(), [("replica".to_string(), 1)]);
    log.durable.store(2, Ordering::SeqCst);
    replica.own_log_is_durable();
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(2));
    db.close().unwrap();
}

#[test]
fn a_checkpoint_is_not_held_up_by_what_is_sealed_behind_its_barrier() {
    // While the log is asked for the first memtable a second one is sealed, and the yes is for
    // both.
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    apply(&db, &replica, 1);
    log.durable.store(9, Ordering::SeqCst);
    let (other, more) = (db.clone(), replica.clone());
    *log.also.lock().unwrap() = Some(Box::new(move |_, _, index| {
        if index == 1 {
            apply(&other, &more, 2);
            more.flush_soon().unwrap();
        }
    }));
    db.checkpoint(Path::new("/copy")).unwrap();
    *log.also.lock().unwrap() = None;
    let copy = Db::builder("/copy").env(world.env()).open().unwrap();
    let copied = copy.existing_keyspace("replica").unwrap();
    assert!(flushed(&copied) >= Some(1));
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(2));
    db.close().unwrap();
}

#[test]
fn being_told_in_the_middle_of_a_question_is_not_lost() {
    // The answer is no, and before it is heard the log becomes durable, and says so.
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    apply(&db, &replica, 1);
    let told = replica.clone();
    *log.also.lock().unwrap() = Some(Box::new(move |log, _, _| {
        if log.asked.lock().unwrap().len() == 1 {
            told.own_log_is_durable();
        } else {
            log.durable.store(1, Ordering::SeqCst);
        }
    }));
    replica.flush().unwrap();
    assert_eq!(flushed(&replica), Some(1));
    assert_eq!(*log.asked.lock().unwrap(), [1, 1]);
    *log.also.lock().unwrap() = None;
}

#[test]
fn a_hook_that_panics_harms_nothing_else() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    log.panics.store(true, Ordering::SeqCst);
    log.durable.store(9, Ordering::SeqCst);
    apply(&db, &replica, 1);
    replica.flush_soon().unwrap();
    db.put("a", "1").unwrap();
    db.flush().unwrap();
    world.pool.run_all();
    assert_eq!(flushed(&replica), None);
    let stats = db.stats();
    assert_eq!(stats.state, "open");
    let failures = stats.failures.join("; ");
    assert!(failures.contains("the log breaks"), "{failures}");
    log.panics.store(false, Ordering::SeqCst);
    replica.own_log_is_durable();
    world.pool.run_all();
    assert_eq!(flushed(&replica), Some(1));
}

#[test]
fn closing_gives_up_what_the_own_log_lacks_and_says_so() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    let other = db.keyspace_with("other", unlogged()).unwrap();
    log.durable.store(1, Ordering::SeqCst);
    apply(&db, &replica, 1);
    replica.flush().unwrap();
    apply(&db, &replica, 2);
    apply(&db, &other, 1);
    db.put("logged", "1").unwrap();
    let since = world.clock.monotonic();
    let error = db.close().unwrap_err();
    assert!((world.clock.monotonic() - since).as_secs() <= 11);
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("[\"replica\"]"), "{error}");
    assert_eq!(db.close().unwrap_err().kind(), ErrorKind::Busy);
    let told = log.told.lock().unwrap().clone();
    assert_eq!(told, [("replica".to_string(), 1), ("other".to_string(), 1)]);
    let db = open(&world, &log);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(
        (flushed(&replica), replica.iter().unwrap().count()),
        (Some(1), 1)
    );
    assert_eq!(flushed(&db.existing_keyspace("other").unwrap()), Some(1));
    assert!(db.contains_key("logged").unwrap());
    // One that says yes while closing waits is waited for.
    apply(&db, &replica, 3);
    *log.also.lock().unwrap() = Some(Box::new(|log, _, index| {
        log.durable.store(index, Ordering::SeqCst);
    }));
    db.close().unwrap();
    *log.also.lock().unwrap() = None;
}

#[test]
fn a_keyspace_that_waits_is_dropped_at_once() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    apply(&db, &replica, 1);
    replica.flush_soon().unwrap();
    world.pool.run_all();
    let since = world.clock.monotonic();
    db.drop_keyspace("replica").unwrap();
    assert_eq!(world.clock.monotonic(), since);
    replica.own_log_is_durable();
    world.pool.run_all();
    assert!(replica.flush_soon().is_err() && replica.flush().is_err());
    assert_eq!(*log.asked.lock().unwrap(), [1]);
    db.close().unwrap();
}

#[test]
fn who_copies_or_takes_files_in_does_not_wait_for_the_own_log() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    log.durable.store(1, Ordering::SeqCst);
    apply(&db, &replica, 1);
    replica.flush().unwrap();
    apply(&db, &replica, 2);
    db.put("logged", "1").unwrap();
    // A copy has of the keyspace what was flushed, and all of the others.
    db.checkpoint("/copy").unwrap();
    let copy = Db::builder("/copy")
        .env(world.env())
        .read_only(true)
        .open()
        .unwrap();
    let copied = copy.existing_keyspace("replica").unwrap();
    assert_eq!(
        (flushed(&copied), copied.iter().unwrap().count()),
        (Some(1), 1)
    );
    assert!(copy.contains_key("logged").unwrap());
    let mut options = unlogged();
    options.is_unlogged = false;
    let mut writer = SstWriter::create_in(&world.env(), Path::new("/set"), options).unwrap();
    writer.put("from elsewhere", "1").unwrap();
    writer.finish().unwrap();
    let taken = replica.ingest("/set", &IngestOptions::default());
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::Busy);
    // Writers, and flushes of others, go on.
    apply(&db, &replica, 3);
    db.put("logged", "2").unwrap();
    db.flush().unwrap();
    log.durable.store(3, Ordering::SeqCst);
    replica.own_log_is_durable();
    replica.ingest("/set", &IngestOptions::default()).unwrap();
    assert_eq!(
        (flushed(&replica), replica.iter().unwrap().count()),
        (Some(3), 4)
    );
}

#[test]
fn a_hook_may_call_the_database_and_nothing_that_waits_for_it() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    let other = db.keyspace_with("other", unlogged()).unwrap();
    apply(&db, &replica, 1);
    apply(&db, &other, 1);
    let (own, inside, beside) = (db.clone(), replica.clone(), other.clone());
    let done = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&done);
    *log.also.lock().unwrap() = Some(Box::new(move |log, keyspace, _| {
        if keyspace != "replica" {
            return log.durable.store(1, Ordering::SeqCst);
        }
        assert_eq!(inside.mark().unwrap().map(|mark| index(&mark)), Some(1));
        assert!(inside.get("row 1").unwrap().is_some());
        own.put("from a hook", "1").unwrap();
        beside.flush_soon().unwrap();
        let refused = [
            inside.flush(),
            beside.flush(),
            own.flush_all(),
            own.sync(),
            own.close(),
            own.drop_keyspace("other"),
            own.keyspace("new").map(drop),
            own.checkpoint("/copy"),
            inside.compact::<&[u8]>(..),
            inside.export("/set").map(drop),
        ];
        for result in refused {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Invalid);
        }
        counted.fetch_add(1, Ordering::SeqCst);
        log.durable.store(1, Ordering::SeqCst);
    }));
    replica.flush().unwrap();
    assert_eq!(done.load(Ordering::SeqCst), 1);
    assert_eq!(db.stats().failures, Vec::<String>::new());
    assert_eq!((flushed(&replica), flushed(&other)), (Some(1), Some(1)));
    *log.also.lock().unwrap() = None;
    db.close().unwrap();
}

#[test]
fn memory_that_the_own_log_holds_back_is_told_to_who_waits_for_it() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let log_of_open = Arc::<Log>::clone(&log);
    let db = builder_in(world.env()).own_log(log_of_open).open().unwrap();
    let replica = replica(&db);
    let at_once = WriteOptions {
        no_wait: true,
        ..WriteOptions::default()
    };
    let mut refused = None;
    for index in 1..20_000_u64 {
        let mut batch = db.batch();
        batch.put(&replica, format!("row {index}"), vec![b'x'; 500]);
        batch.mark(&replica, index.to_be_bytes());
        if let Err(error) = batch.commit_with(at_once) {
            refused = Some((index, error));
            break;
        }
        world.pool.run_all();
    }
    let (index, error) = refused.expect("memory has an end");
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("own log"), "{error}");
    // It was asked once for each memtable.
    let sealed = db.stats().keyspaces[1].sealed_count;
    let asked = log.asked.lock().unwrap().len();
    assert!(
        sealed > 10 && asked <= sealed,
        "{asked} questions for {sealed}"
    );
    let pressure = replica.write_pressure();
    assert!(pressure.is_parked);
    match pressure.state {
        esker::WriteState::Stopped { reason } => assert!(reason.contains("own log"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let logged = db.with_write(at_once);
    let error = logged.put("logged", "1").unwrap_err();
    assert!(error.to_string().contains("own log"), "{error}");
    log.durable.store(index, Ordering::SeqCst);
    replica.own_log_is_durable();
    world.pool.run_all();
    logged.put("logged", "1").unwrap();
    assert_eq!(flushed(&replica).map(|mark| mark + 1), Some(index));
    assert!(!replica.write_pressure().is_parked);
}

/// A log that answers when it is let go.
#[derive(Default)]
struct SlowLog {
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl OwnLog for SlowLog {
    fn is_durable(&self, _: &str, _: &[u8]) -> bool {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap();
        }
        true
    }
}

#[test]
fn a_slow_hook_holds_up_nothing_but_its_own_keyspaces() {
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::<SlowLog>::default();
    let own = Arc::<SlowLog>::clone(&log);
    let db = Db::builder(dir.path()).own_log(own).open().unwrap();
    let options = KeyspaceOptions {
        is_unlogged: true,
        ..KeyspaceOptions::default()
    };
    let replica = db.keyspace_with("replica", options).unwrap();
    apply(&db, &replica, 1);
    replica.flush_soon().unwrap();
    let mut state = log.state.lock().unwrap();
    while !state.0 {
        state = log.changed.wait(state).unwrap();
    }
    drop(state);
    // The hook is in the middle of its answer.
    for number in 0..20_u32 {
        db.put(number.to_be_bytes(), "1").unwrap();
        db.flush().unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    db.keyspace("new").unwrap().put("a", "1").unwrap();
    db.drop_keyspace("new").unwrap();
    apply(&db, &replica, 2);
    assert_eq!(flushed(&replica), None);
    log.state.lock().unwrap().1 = true;
    log.changed.notify_all();
    replica.flush().unwrap();
    assert_eq!(flushed(&replica), Some(2));
    db.close().unwrap();
}

#[test]
fn an_unmarked_keyspace_asks_nobody() {
    let (world, log) = (SimWorld::new(1), Arc::<Log>::default());
    let db = open(&world, &log);
    let replica = replica(&db);
    replica.put("a", "1").unwrap();
    replica.flush().unwrap();
    db.close().unwrap();
    assert!(log.asked.lock().unwrap().is_empty() && log.told.lock().unwrap().is_empty());
}
