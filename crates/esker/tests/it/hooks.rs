//! Code of the user's that panics, blocks or lies, in every place where it is called.
//!
//! Nothing is torn, poisoned or held up, and the database opens again with whole batches.

use std::cmp::Ordering as Way;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::sim::SimWorld;
use esker::{
    Builder, Comparator, CustomComparator, Db, Durability, Error, ErrorKind, MergeOperator,
    MergeRule, Result, Update, WriteOptions,
};

const DIR: &str = "/db";

/// Far more than anything here takes: what is not there by then never comes.
const DEADLINE: Duration = Duration::from_secs(120);

/// Runs `body` on a thread of its own, and fails if it hangs.
pub fn in_time(story: &str, body: impl FnOnce() + Send + 'static) {
    let (told, done) = channel();
    let thread = std::thread::spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(body));
        told.send(()).ok();
        ended
    });
    match done.recv_timeout(DEADLINE) {
        Err(RecvTimeoutError::Timeout) => panic!("{story}: hangs"),
        _ => match thread.join().unwrap() {
            Ok(()) => {}
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

type Act = Box<dyn FnMut() + Send>;

/// What a hook does beside its work.
#[derive(Clone, Default)]
struct Mood {
    /// Calls until one panics, and all after it; below zero none does.
    calm: Arc<AtomicI64>,
    act: Arc<Mutex<Option<Act>>>,
    calls: Arc<AtomicUsize>,
}

impl Mood {
    fn calm() -> Mood {
        let mood = Mood::default();
        mood.set(-1);
        mood
    }

    fn set(&self, calls: i64) {
        self.calm.store(calls, Ordering::SeqCst);
    }

    fn meet(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        // Taken out, so that an act that comes here again finds none.
        let act = self.act.lock().unwrap().take();
        if let Some(mut act) = act {
            act();
        }
        let calm = self.calm.load(Ordering::SeqCst);
        if calm > 0 {
            self.calm.store(calm - 1, Ordering::SeqCst);
        }
        assert!(calm != 0, "the hook is in a bad mood");
    }
}

/// Appends; a comma between.
struct Append(Mood);

impl MergeOperator for Append {
    fn name(&self) -> &str {
        "moody"
    }

    fn fold(
        &self,
        _: &[u8],
        base: Option<&[u8]>,
        operands: &[&[u8]],
    ) -> std::result::Result<Vec<u8>, String> {
        self.0.meet();
        let parts: Vec<&[u8]> = base.into_iter().chain(operands.iter().copied()).collect();
        Ok(parts.join(&b","[..]))
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        self.0.meet();
        Some([older, newer].join(&b","[..]))
    }
}

/// Backwards; panics on keys that begin with `!`, and says of `?` that it is not itself.
struct Backwards(Mood);

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "moody"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Way {
        self.0.meet();
        assert!(!left.starts_with(b"!"), "no such key");
        if left == b"?" {
            return Way::Less;
        }
        right.cmp(left)
    }
}

fn moody(world: &SimWorld, mood: &Mood) -> Builder {
    let rule = MergeRule(Arc::new(Append(mood.clone())));
    let builder = Builder::new(DIR).env(world.env()).merge_operator(rule);
    builder.set("compaction.l0_trigger", "100").unwrap()
}

fn ordered(world: &SimWorld, mood: &Mood) -> Builder {
    let comparator = Comparator::Custom(Arc::new(Backwards(mood.clone())));
    Builder::new(DIR).env(world.env()).comparator(comparator)
}

fn level(durability: Durability) -> WriteOptions {
    WriteOptions {
        durability: Some(durability),
        ..WriteOptions::default()
    }
}

fn contents(db: &Db) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let entries = db.iter().unwrap().map(Result::unwrap);
    entries
        .map(|(key, value)| (text(&key), text(&value)))
        .collect()
}

fn assert_blames_the_operator<T: std::fmt::Debug>(answer: Result<T>) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("`moody`") && text.contains("bad mood"),
        "{text}"
    );
}

/// Where the operator panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Merge,
    Batch,
    Read,
    Flush,
    Compact,
    Checkpoint,
    Replay,
    Close,
}

const PLACES: [Place; 8] = [
    Place::Merge,
    Place::Batch,
    Place::Read,
    Place::Flush,
    Place::Compact,
    Place::Checkpoint,
    Place::Replay,
    Place::Close,
];

fn batch(db: &Db, keys: [&str; 3], options: WriteOptions) -> Result<()> {
    let mut batch = db.batch();
    batch.put(db, keys[0], "first");
    batch.merge(db, keys[1], "more");
    batch.put(db, keys[2], "last");
    batch.commit_with(options)
}

#[test]
fn an_operator_that_panics_folds_nothing_and_breaks_nothing() {
    // In each place, once: everything that was written is there when the operator is well again,
    // and meanwhile reads of its keys say whose fault it is.
    for place in PLACES {
        for durability in [Durability::Memory, Durability::Buffered, Durability::Sync] {
            in_time(&format!("{place:?}"), move || panics_in(place, durability));
        }
    }
}

fn panics_in(place: Place, durability: Durability) {
    let mut world = SimWorld::new(1);
    let mood = Mood::calm();
    let mut db = moody(&world, &mood).open().unwrap();
    let options = level(durability);
    let write = db.with_write(options);
    let bad_in = |here: Place| mood.set(if here == place { 0 } else { -1 });
    write.put("k", "0").unwrap();
    write.put("chain", "0").unwrap();
    db.flush().unwrap();
    bad_in(Place::Merge);
    for operand in ["1", "2", "3"] {
        write.merge("k", operand).unwrap();
        write.merge("chain", operand).unwrap();
        write.merge("new", operand).unwrap();
    }
    bad_in(Place::Batch);
    write.put("b", "old").unwrap();
    batch(&db, ["a", "b", "c"], options).unwrap();
    bad_in(Place::Read);
    if place == Place::Read {
        assert_blames_the_operator(db.get("k"));
        assert_blames_the_operator(db.multi_get(&["a", "k"]));
        let mut entries = db.iter().unwrap();
        assert_blames_the_operator(entries.find(|entry| entry.is_err()).unwrap());
        assert!(db.get("a").unwrap().is_some());
    }
    bad_in(Place::Flush);
    db.flush().unwrap();
    for operand in ["4", "5"] {
        write.merge("k", operand).unwrap();
    }
    db.flush().unwrap();
    bad_in(Place::Compact);
    db.compact::<&str>(..).unwrap();
    write.merge("k", "6").unwrap();
    bad_in(Place::Checkpoint);
    db.checkpoint("/copy").unwrap();
    bad_in(Place::Replay);
    if place == Place::Replay && durability != Durability::Memory {
        let dead = std::mem::replace(&mut world, SimWorld::new(2));
        world = dead.after_kill();
        db = moody(&world, &mood).open().unwrap();
        assert_blames_the_operator(db.get("k"));
        assert!(db.get("a").unwrap().is_some());
    }
    assert_eq!(db.stats().state, "open");
    bad_in(Place::Close);
    db.close().unwrap();
    db.close().unwrap();
    for dir in [DIR, "/copy"] {
        mood.set(-1);
        let rule = MergeRule(Arc::new(Append(mood.clone())));
        let db = Builder::new(dir)
            .env(world.env())
            .merge_operator(rule)
            .open();
        let expected = [
            ("a", "first"),
            ("b", "old,more"),
            ("c", "last"),
            ("chain", "0,1,2,3"),
            ("k", "0,1,2,3,4,5,6"),
            ("new", "1,2,3"),
        ];
        let expected = expected.map(|(key, value)| (key.to_string(), value.to_string()));
        assert_eq!(
            contents(&db.unwrap()),
            BTreeMap::from(expected),
            "{place:?}"
        );
    }
}

#[test]
fn a_key_that_the_comparator_does_not_bear_is_not_written() {
    // A key that it panics on, and one that it says is not itself; by every way to write one, and
    // nothing of a batch. Nothing else takes any notice.
    for key in ["!x", "?"] {
        in_time(key, move || {
            let world = SimWorld::new(3);
            let mood = Mood::calm();
            let db = ordered(&world, &mood)
                .set("merge_operator", "append")
                .unwrap();
            let db = db.open().unwrap();
            db.put("a", "1").unwrap();
            let mut batch = db.batch();
            batch.put(&db, "b", "2");
            batch.put(&db, key, "2");
            let answers: [Result<()>; 4] = [
                db.put(key, "2"),
                db.delete(key),
                db.merge(key, "2"),
                batch.commit(),
            ];
            for answer in answers {
                let error = answer.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Invalid);
                assert!(
                    error.to_string().contains("the comparator `moody`"),
                    "{error}"
                );
            }
            db.put("c", "3").unwrap();
            let world = world.after_kill();
            let db = ordered(&world, &mood).open().unwrap();
            assert_eq!(contents(&db).len(), 2);
            db.close().unwrap();
        });
    }
}

#[test]
fn an_comparator_that_panics_in_a_write_leaves_whole_batches() {
    // In each of its calls in turn, logged and not: nothing more is written until the next
    // opening, which finds all of the batch or nothing; reads go on meanwhile.
    for durability in [Durability::Memory, Durability::Buffered] {
        in_time("an order in a write", move || {
            for calls in 0.. {
                if !comparator_panics_in_write(calls, durability) {
                    assert!(calls > 8, "the order was hardly called");
                    return;
                }
            }
        });
    }
}

fn comparator_panics_in_write(calls: i64, durability: Durability) -> bool {
    let world = SimWorld::new(5);
    let mood = Mood::calm();
    let db = ordered(&world, &mood).open().unwrap();
    for key in ["b", "d", "f", "h"] {
        db.put(key, "old").unwrap();
    }
    let mut batch = db.batch();
    for key in ["a", "c", "e"] {
        batch.put(&db, key, "new");
    }
    mood.set(calls);
    let answer = catch_unwind(AssertUnwindSafe(|| batch.commit_with(level(durability))));
    mood.set(-1);
    match &answer {
        Ok(Ok(())) => return false,
        Ok(Err(error)) => {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(contents(&db).len(), 4);
            db.put("z", "on").unwrap();
            db.delete("z").unwrap();
            db.close().unwrap();
        }
        Err(_) => {
            assert_eq!(db.get("b").unwrap().unwrap(), "old");
            assert_eq!(contents(&db).len(), 4, "a torn batch is read");
            let told = [
                db.put("z", "no"),
                db.flush(),
                db.sync(),
                db.close(),
                db.close(),
            ];
            let mut told = told.map(Result::unwrap_err).into_iter();
            assert!(told.all(|error: Error| error.kind() == ErrorKind::Faulted));
        }
    }
    drop((batch, db));
    let world = world.after_kill();
    let db = ordered(&world, &mood).open().unwrap();
    let whole = if answer.is_err() && durability != Durability::Memory {
        7
    } else {
        4
    };
    assert_eq!(contents(&db).len(), whole, "after {calls} calls");
    db.close().unwrap();
    true
}

/// A database with three runs of sorted files and a log, whose process was killed.
fn killed(mood: &Mood) -> SimWorld {
    let world = SimWorld::new(11);
    let db = ordered(&world, mood).open().unwrap();
    for round in 0..4 {
        for key in ["b", "d", "f", "h"] {
            db.put(format!("{key}{round}"), "value").unwrap();
        }
        if round < 3 {
            db.flush().unwrap();
        }
    }
    let killed = world.after_kill();
    drop(db);
    killed
}

fn assert_blames_the_comparator(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("comparator") && text.contains("bad mood"),
        "{text}"
    );
}

#[test]
fn an_comparator_that_panics_while_a_database_is_opened_is_told() {
    // In each of its calls in turn: in the replay of the log, and in looking for what is due. The
    // directory is free at once, and opens whole with an order that is well; read-only, too.
    for is_read_only in [false, true] {
        in_time("an order in an opening", move || {
            let mut calls = 0;
            while comparator_panics_in_opening(calls, is_read_only) {
                calls += 1;
            }
            assert!(calls > 5, "the order was hardly called");
        });
    }
}

fn comparator_panics_in_opening(calls: i64, is_read_only: bool) -> bool {
    let mood = Mood::calm();
    let world = killed(&mood);
    mood.set(calls);
    let opened = ordered(&world, &mood).read_only(is_read_only).open();
    mood.set(-1);
    let has_failed = opened.is_err();
    if let Err(error) = &opened {
        assert_blames_the_comparator(error);
    }
    drop(opened);
    let db = ordered(&world, &mood).open().unwrap();
    assert_eq!(contents(&db).len(), 16, "after {calls} calls");
    db.put("on", "1").unwrap();
    db.close().unwrap();
    has_failed
}

#[test]
fn an_comparator_that_panics_in_a_checkpoint_is_told() {
    // In each of its calls in turn: there is no copy then, or a whole one. Where it was called on a
    // thread of the background writing ends, as with every panic there.
    in_time("an order in a checkpoint", || {
        let mut calls = 0;
        while comparator_panics_in_checkpoint(calls) {
            calls += 1;
        }
        assert!(calls > 5, "the order was hardly called");
    });
}

fn comparator_panics_in_checkpoint(calls: i64) -> bool {
    let mood = Mood::calm();
    let world = killed(&mood);
    // Whoever looks for work compares keys.
    let builder = ordered(&world, &mood).set("compaction.l0_trigger", "2");
    let db = builder.unwrap().open().unwrap();
    for key in ["a", "c", "e"] {
        db.put(key, "new").unwrap();
    }
    let before = mood.calls.load(Ordering::SeqCst);
    mood.set(calls);
    let made = db.checkpoint("/copy");
    mood.set(-1);
    let called = mood.calls.load(Ordering::SeqCst) - before;
    match &made {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Faulted => {}
        Err(error) => assert_blames_the_comparator(error),
    }
    assert_eq!(contents(&db).len(), 19);
    let is_faulted = db.stats().state == "faulted";
    assert_eq!(db.put("on", "1").is_err(), is_faulted);
    assert_eq!(db.close().is_err(), is_faulted);
    let copy = Builder::new("/copy")
        .env(world.env())
        .create_if_missing(false);
    let copy = copy.comparator(Comparator::Custom(Arc::new(Backwards(mood.clone()))));
    match (copy.open(), &made) {
        (Ok(copy), Ok(())) => assert_eq!(contents(&copy).len(), 19),
        (Err(_), Err(_)) => {}
        (copy, made) => panic!("{made:?}, and the copy {:?}", copy.err()),
    }
    let db = ordered(&world, &mood).open().unwrap();
    assert_eq!(contents(&db).len(), 19 + usize::from(!is_faulted));
    db.close().unwrap();
    usize::try_from(calls).unwrap() < called
}

#[test]
fn an_comparator_that_panics_in_a_read_breaks_nothing() {
    // The panic goes through to who reads, with snapshots, cursors and handles on his stack; those
    // are dropped on the way, and a snapshot wakes the background. In each call in turn.
    for (name, read) in READS {
        in_time(name, move || {
            let mut calls = 0;
            while comparator_panics_in_read(calls, read) {
                calls += 1;
            }
            assert!(calls > 2, "{name}: the order was hardly called");
        });
    }
}

const READS: [(&str, Call); 5] = [
    ("get", |db| db.snapshot().get("f1").map(drop)),
    ("multi_get", |db| {
        db.multi_get(&["b0", "f1", "h2"]).map(drop)
    }),
    ("scan", |db| {
        let seen = db.snapshot();
        let entries = seen.iter()?;
        entries.into_iter().try_for_each(|entry| entry.map(drop))
    }),
    ("verify", |db| {
        db.verify().map(|report| assert!(report.is_whole()))
    }),
    ("update", |db| db.update("f1", |_| Update::Keep).map(drop)),
];

fn comparator_panics_in_read(calls: i64, read: Call) -> bool {
    let mood = Mood::calm();
    let world = killed(&mood);
    // Whoever looks for work compares keys.
    let builder = ordered(&world, &mood).set("compaction.l0_trigger", "2");
    let db = builder.unwrap().open().unwrap();
    let before = mood.calls.load(Ordering::SeqCst);
    mood.set(calls);
    let answer = catch_unwind(AssertUnwindSafe(|| read(&db)));
    mood.set(-1);
    let called = mood.calls.load(Ordering::SeqCst) - before;
    if let Ok(Err(error)) = &answer {
        assert_blames_the_comparator(error);
    }
    assert_eq!(db.stats().state, "open");
    assert_eq!(db.stats().snapshots, []);
    assert_eq!(contents(&db).len(), 16);
    db.put("on", "1").unwrap();
    db.flush().unwrap();
    db.compact::<&str>(..).unwrap();
    db.close().unwrap();
    usize::try_from(calls).unwrap() < called
}

type Call = fn(&Db) -> Result<()>;

#[test]
fn an_comparator_that_panics_in_the_background_ends_writing_and_holds_nobody_up() {
    // In each of its calls in turn while files are written and merged: whoever waits is told, and
    // the next opening finds everything.
    in_time("an order in the background", || {
        for calls in 0.. {
            let world = SimWorld::new(6);
            let mood = Mood::calm();
            let db = ordered(&world, &mood).open().unwrap();
            for round in 0..3 {
                for key in ["b", "d", "f", "h"] {
                    db.put(format!("{key}{round}"), "value").unwrap();
                }
                if round < 2 {
                    db.flush().unwrap();
                }
            }
            mood.set(calls);
            let work = || db.flush().and_then(|()| db.compact::<&str>(..));
            let ended = catch_unwind(AssertUnwindSafe(work));
            let closed = catch_unwind(AssertUnwindSafe(|| db.close()));
            mood.set(-1);
            if let Ok(Err(error)) = &ended {
                assert_eq!(error.kind(), ErrorKind::Faulted, "{error}");
                assert!(closed.unwrap().is_err());
                assert!(
                    db.stats()
                        .failures
                        .iter()
                        .any(|text| text.contains("bad mood"))
                );
            }
            drop(db);
            let world = world.after_kill();
            let db = ordered(&world, &mood).open().unwrap();
            assert_eq!(contents(&db).len(), 12, "after {calls} calls");
            db.close().unwrap();
            if let Ok(Ok(())) = ended {
                assert!(calls > 20, "the order was hardly called");
                return;
            }
        }
    });
}

/// What a hook may try to do to the database that calls it.
const CALLS: [(&str, Call); 18] = [
    ("put", |db| db.put("x", "y")),
    ("merge", |db| db.merge("x", "y")),
    ("update", |db| db.update("x", |_| Update::Remove).map(drop)),
    ("batch", |db| {
        batch(db, ["x", "y", "z"], WriteOptions::default())
    }),
    ("get", |db| db.get("k").map(drop)),
    ("get_valued", |db| db.get_valued("k").map(drop)),
    ("expiry", |db| db.expiry("k").map(drop)),
    ("contains_key", |db| db.contains_key("k").map(drop)),
    ("multi_get", |db| db.multi_get(&["k"]).map(drop)),
    ("iter", |db| db.iter().map(drop)),
    ("snapshot", |db| db.snapshot().get("k").map(drop)),
    ("flush", |db| db.flush()),
    ("compact", |db| db.compact::<&str>(..)),
    ("sync", |db| db.sync()),
    ("keyspace", |db| db.keyspace("other").map(drop)),
    ("set", |db| db.set("ttl", "1s")),
    ("stats", |db| Err(Error::invalid(db.stats().state))),
    ("close", |db| db.close()),
];

#[test]
fn a_hook_that_calls_the_database_is_refused() {
    // From a write, under its locks; from a read; from a flush, on a thread of the engine. Each
    // call is refused, none waits for itself, and what the hook was called for is done.
    for (name, call) in CALLS {
        for place in ["write", "read", "flush"] {
            in_time(&format!("{name} in a {place}"), move || {
                calls_back(name, call, place)
            });
        }
    }
}

fn calls_back(name: &str, call: Call, place: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mood = Mood::calm();
    let rule = MergeRule(Arc::new(Append(mood.clone())));
    let db = Builder::new(dir.path().join("db")).merge_operator(rule);
    let db = db.open().unwrap();
    db.put("k", "0").unwrap();
    let seen = db.snapshot();
    if place != "write" {
        // Not folded where they are written, as there the operator panics.
        mood.set(0);
        db.merge("k", "1").unwrap();
        mood.set(-1);
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let act = {
        let (db, heard) = (db.clone(), Arc::clone(&heard));
        move || {
            let answer = catch_unwind(AssertUnwindSafe(|| call(&db)));
            heard
                .lock()
                .unwrap()
                .push(answer.map_err(|panic| *panic.downcast::<String>().unwrap()));
        }
    };
    *mood.act.lock().unwrap() = Some(Box::new(act));
    match place {
        "write" => db.merge("k", "1").unwrap(),
        "read" => assert_eq!(db.get("k").unwrap().unwrap(), "0,1"),
        _ => {
            drop(seen);
            db.flush().unwrap();
            db.compact::<&str>(..).unwrap();
        }
    }
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    let [answer] = &heard[..] else {
        panic!("{name} in a {place}: {heard:?}")
    };
    let text = match answer {
        Ok(Err(error)) => {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            error.to_string()
        }
        Ok(Ok(())) => panic!("{name} in a {place} was let through"),
        Err(panic) => panic.clone(),
    };
    assert!(text.contains("would wait for itself"), "{text}");
    assert_eq!(db.get("k").unwrap().unwrap(), "0,1");
    assert_eq!(db.get("x").unwrap(), None);
    db.put("on", "1").unwrap();
    db.close().unwrap();
}

#[test]
fn the_last_handle_may_be_dropped_in_an_operator() {
    // It is called by a flush that closing waits for: the database is closed behind it, the
    // directory given up, and everything is there.
    in_time("the last handle", || {
        let world = SimWorld::new(9);
        let mood = Mood::calm();
        let db = moody(&world, &mood).open().unwrap();
        db.put("k", "0").unwrap();
        let pin = db.snapshot();
        mood.set(0);
        db.merge("k", "1").unwrap();
        db.merge("k", "2").unwrap();
        mood.set(-1);
        drop(pin);
        let held = Mutex::new(Some((db.snapshot(), db.iter().unwrap(), db.clone())));
        *mood.act.lock().unwrap() = Some(Box::new(move || drop(held.lock().unwrap().take())));
        // Seals the memtable, and leaves the flush for later.
        db.set("memtable.size", "64KiB").unwrap();
        while world
            .pool
            .pending_names()
            .iter()
            .all(|name| *name != "esker-flush")
        {
            db.put("filler", vec![b'.'; 10_000]).unwrap();
        }
        let before = mood.calls.load(Ordering::SeqCst);
        drop(db);
        world.pool.run_all();
        assert!(
            mood.calls.load(Ordering::SeqCst) > before,
            "the operator was not called"
        );
        let db = moody(&world, &mood).open().unwrap();
        assert_eq!(db.get("k").unwrap().unwrap(), "0,1,2");
        db.close().unwrap();
    });
}

#[test]
fn closures_and_names_that_panic_leave_the_database_as_it_was() {
    // The closure of an update, in the middle of walking an iterator, and the name of an operator
    // while a database is opened with it.
    in_time("closures and names", || {
        struct Nameless;
        impl MergeOperator for Nameless {
            fn name(&self) -> &str {
                panic!("no name")
            }
            fn fold(
                &self,
                _: &[u8],
                _: Option<&[u8]>,
                _: &[&[u8]],
            ) -> std::result::Result<Vec<u8>, String> {
                Err("nothing".into())
            }
            fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
                None
            }
        }
        let world = SimWorld::new(10);
        let mood = Mood::calm();
        let db = moody(&world, &mood).open().unwrap();
        for key in ["a", "b", "c"] {
            db.put(key, "1").unwrap();
        }
        let update = || db.update("a", |_| panic!("in an update"));
        assert!(catch_unwind(AssertUnwindSafe(update)).is_err());
        let walk = || {
            db.iter()
                .unwrap()
                .for_each(|entry| assert!(entry.is_err(), "on the way"))
        };
        assert!(catch_unwind(AssertUnwindSafe(walk)).is_err());
        assert_eq!(db.stats().snapshots, []);
        // Not refused: the engine holds nothing while it asks an update what to do.
        let nested = db.update("a", |_| {
            db.put("d", "1").unwrap();
            Update::Set(b"2".to_vec())
        });
        assert_eq!(nested.unwrap().unwrap(), "2");
        assert_eq!(contents(&db).len(), 4);
        db.close().unwrap();
        let nameless = Builder::new(DIR)
            .env(world.env())
            .merge_operator(MergeRule(Arc::new(Nameless)));
        assert!(catch_unwind(AssertUnwindSafe(|| nameless.open().map(drop))).is_err());
        let db = moody(&world, &mood).open().unwrap();
        assert_eq!(contents(&db).len(), 4);
        db.close().unwrap();
    });
}
