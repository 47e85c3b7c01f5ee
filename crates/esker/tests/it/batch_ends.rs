//! New ends of values in a batch: with all else that it has, or not at all.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::fs::Fs;
use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker::{
    Db, Durability, ErrorKind, Expiry, Keyspace, KeyspaceOptions, MergeOperator, MergeRule,
    Transaction, TransactionMode, TransactionOptions, Update, WriteBatch, WriteOptions, merge,
};

const DIR: &str = "/db";
const END: Option<Expiry> = Some(Expiry::from_unix_s(4_000_000_000));

fn open(world: &SimWorld) -> Db {
    open_over(world, world.fs.clone())
}

fn open_over(world: &SimWorld, fs: Arc<dyn Fs>) -> Db {
    let settings = [
        ("value_log.threshold", "1KiB"),
        ("value_log.segment_size", "64KiB"),
        ("memtable.size", "32KiB"),
        ("compaction.l0_trigger", "2"),
        ("max_space_amp", "1.1"),
    ];
    let builder = Db::builder(DIR).env(world.env_with(fs));
    let builder = builder.merge_operator(merge::append(","));
    let builder = settings.iter().fold(builder, |builder, (name, text)| {
        builder.set(name, text).unwrap()
    });
    builder.open().unwrap()
}

fn counter(db: &Db, wanted: &str) -> u64 {
    let counters = db.stats().counters;
    let mut counters = counters.iter();
    counters.find(|(name, ..)| *name == wanted).unwrap().2
}

fn locking(db: &Db, key: &str) -> Transaction {
    let tx = db.begin_with(TransactionOptions {
        mode: TransactionMode::Locking,
        ..TransactionOptions::default()
    });
    tx.get_for_update(db, key).unwrap();
    tx
}

fn value(keyspace: &Keyspace, key: &str) -> Option<(Vec<u8>, Option<Expiry>)> {
    let found = keyspace.get_valued(key).unwrap();
    found.map(|found| (found.value.to_vec(), found.expiry))
}

#[test]
fn a_batch_gives_values_other_ends() {
    // Small and large ones, wherever they lie, in two keyspaces; what is not there stays away. The
    // large one is not written again, and all is there after a kill.
    for place in 0..3 {
        let world = SimWorld::new(place);
        let db = open(&world);
        let other = db.keyspace("other").unwrap();
        let large = vec![7; 20_000];
        db.put("large", &large).unwrap();
        db.put("small", "1").unwrap();
        db.put_until("ends", "1", END).unwrap();
        other.put("a", "2").unwrap();
        match place {
            0 => {}
            1 => db.flush_all().unwrap(),
            _ => db.compact::<&[u8]>(..).unwrap(),
        }
        let written = counter(&db, "esker_value_log_bytes_total");
        let mut batch = db.batch();
        assert!(batch.is_empty());
        let before = batch.size_bytes();
        batch
            .set_expiry(&db, "large", END)
            .put(&db, "b", "3")
            .set_expiry(&other, "a", END)
            .set_expiry(&db, "small", END)
            .set_expiry(&db, "ends", None)
            .set_expiry(&db, "nothing", END)
            .set_expiry(&db, [b'k'; 70_000], END);
        assert_eq!((batch.len(), batch.is_empty()), (7, false));
        assert!(batch.size_bytes() > before + 70_000);
        batch.commit().unwrap();
        assert_eq!((batch.len(), batch.is_empty()), (0, true));
        assert_eq!(counter(&db, "esker_value_log_bytes_total"), written);
        let check = |db: &Db| {
            assert_eq!(value(db, "large"), Some((large.clone(), END)));
            assert_eq!(value(db, "small"), Some((b"1".to_vec(), END)));
            assert_eq!(value(db, "ends"), Some((b"1".to_vec(), None)));
            assert_eq!(value(db, "b"), Some((b"3".to_vec(), None)));
            assert_eq!(value(db, "nothing"), None);
            let other = db.existing_keyspace("other").unwrap();
            assert_eq!(value(&other, "a"), Some((b"2".to_vec(), END)));
        };
        check(&db);
        let (after, _killed) = (world.after_kill(), db);
        let db = open(&after);
        check(&db);
        db.compact::<&[u8]>(..).unwrap();
        check(&db);
    }
}

type Fill = fn(&mut WriteBatch, &Db);
type Outcome = Option<(&'static str, Option<Expiry>)>;

#[test]
fn what_stands_earlier_in_the_batch_counts() {
    // In its order: a put, a delete, an operand, a range, another end; and what comes behind it.
    let cases: [(&str, Fill, Outcome); 11] = [
        (
            "put before",
            |b, db| {
                b.put(db, "k", "new").set_expiry(db, "k", END);
            },
            Some(("new", END)),
        ),
        (
            "put behind",
            |b, db| {
                b.set_expiry(db, "k", END).put(db, "k", "new");
            },
            Some(("new", None)),
        ),
        (
            "delete before",
            |b, db| {
                b.delete(db, "k").set_expiry(db, "k", END);
            },
            None,
        ),
        (
            "delete behind",
            |b, db| {
                b.set_expiry(db, "k", END).delete(db, "k");
            },
            None,
        ),
        (
            "operand before",
            |b, db| {
                b.merge(db, "k", "x").set_expiry(db, "k", END);
            },
            Some(("old,x", END)),
        ),
        (
            "operand behind",
            |b, db| {
                b.set_expiry(db, "k", END).merge(db, "k", "x");
            },
            Some(("old,x", None)),
        ),
        (
            "range before",
            |b, db| {
                b.delete_range(db, "a", "z").set_expiry(db, "k", END);
            },
            None,
        ),
        (
            "range behind",
            |b, db| {
                b.set_expiry(db, "k", END).delete_range(db, "a", "z");
            },
            None,
        ),
        (
            "twice",
            |b, db| {
                b.set_expiry(db, "k", END).set_expiry(db, "k", None);
            },
            Some(("old", None)),
        ),
        (
            "past, and on",
            |b, db| {
                let past = Some(Expiry::from_unix_s(1));
                b.set_expiry(db, "k", past).set_expiry(db, "k", END);
            },
            None,
        ),
        (
            "a large one",
            |b, db| {
                b.put(db, "l", vec![b'l'; 3_000]).set_expiry(db, "l", END);
                b.put(db, "m", vec![b'm'; 3_000]).set_expiry(db, "k", END);
                b.put(db, "n", vec![b'n'; 3_000]).set_expiry(db, "m", END);
            },
            Some(("old", END)),
        ),
    ];
    for (name, fill, expected) in cases {
        for is_flushed in [false, true] {
            let world = SimWorld::new(1);
            let db = open(&world);
            db.put("k", "old").unwrap();
            if is_flushed {
                db.flush().unwrap();
            }
            let mut batch = db.batch();
            fill(&mut batch, &db);
            batch.commit().unwrap();
            let expected = expected.map(|(text, end)| (text.as_bytes().to_vec(), end));
            assert_eq!(value(&db, "k"), expected, "{name}");
            for (key, end) in [("l", END), ("m", END), ("n", None)] {
                if name == "a large one" {
                    let byte = key.as_bytes()[0];
                    assert_eq!(value(&db, key), Some((vec![byte; 3_000], end)), "{key}");
                }
            }
            let (after, _killed) = (world.after_kill(), db);
            assert_eq!(value(&open(&after), "k"), expected, "{name} after a kill");
        }
    }
}

/// What comes between the look of a batch and its write, and what it makes of "k" and "b".
type Between = (&'static str, fn(&SimWorld, &Db, Transaction), Outcome);

#[test]
fn a_batch_begins_again_when_somebody_was_faster() {
    // It waits for a lock; until that is given back the key gets another value, is gone, or ends.
    // What the batch holds beside it is written all the same, and only once.
    let cases: [Between; 4] = [
        ("nothing", |_, _, tx| tx.rollback(), Some(("old", END))),
        (
            "a put",
            |_, db, mut tx| {
                tx.put(db, "k", "new").unwrap();
                tx.commit().unwrap();
            },
            Some(("new", END)),
        ),
        (
            "a delete",
            |_, db, mut tx| {
                tx.delete(db, "k").unwrap();
                tx.commit().unwrap();
            },
            None,
        ),
        (
            "its end",
            |world, _, tx| {
                world.clock.advance(Duration::from_millis(600));
                tx.rollback();
            },
            None,
        ),
    ];
    for (name, between, expected) in cases {
        let world = SimWorld::new(2);
        let db = open(&world);
        db.put_with_ttl("k", "old", Duration::from_millis(500))
            .unwrap();
        db.put("b", "0").unwrap();
        let tx = locking(&db, "k");
        let (world_there, db_there) = (world.clone(), db.clone());
        let job = move || between(&world_there, &db_there, tx);
        world.pool.spawn(Priority::Low, "holder", Box::new(job));
        let no_wait = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        let mut batch = db.batch();
        batch.set_expiry(&db, "k", END).merge(&db, "b", "1");
        let refused = batch.commit_with(no_wait).unwrap_err();
        assert_eq!((refused.kind(), batch.len()), (ErrorKind::Busy, 2));
        batch.commit().unwrap();
        let expected = expected.map(|(text, end)| (text.as_bytes().to_vec(), end));
        assert_eq!(value(&db, "k"), expected, "{name}");
        assert_eq!(db.get("b").unwrap().unwrap(), "0,1", "{name}");
    }
}

#[test]
fn a_key_that_is_not_there_must_stay_away_until_the_batch_is_written() {
    // Else the put of another, which comes between, would have an end that nobody gave it, or
    // lack the one that the batch gives: the batch is behind it, and so is its end.
    let world = SimWorld::new(3);
    let db = open(&world);
    let mut tx = locking(&db, "other");
    tx.put(&db, "k", "new").unwrap();
    let job = move || tx.commit().unwrap();
    world.pool.spawn(Priority::Low, "holder", Box::new(job));
    let mut batch = db.batch();
    batch.set_expiry(&db, "k", END).put(&db, "other", "1");
    batch.commit().unwrap();
    assert_eq!(value(&db, "k"), Some((b"new".to_vec(), END)));
}

#[test]
fn what_a_prepared_transaction_claims_is_waited_for() {
    // And then it is the committed value that ends; without waiting it is `Busy`.
    for is_committed in [false, true] {
        let world = SimWorld::new(4);
        let db = open(&world);
        db.put("k", "old").unwrap();
        let mut tx = db.begin();
        tx.put(&db, "k", "new").unwrap();
        let prepared = tx.prepare("id").unwrap();
        let mut batch = db.batch();
        batch.set_expiry(&db, "k", END).put(&db, "b", "1");
        let no_wait = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        let refused = batch.commit_with(no_wait).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Busy);
        assert!(!db.contains_key("b").unwrap());
        let job = move || match is_committed {
            true => prepared.commit().unwrap(),
            false => prepared.rollback().unwrap(),
        };
        world.pool.spawn(Priority::Low, "holder", Box::new(job));
        batch.commit().unwrap();
        let text = if is_committed { "new" } else { "old" };
        assert_eq!(value(&db, "k"), Some((text.into(), END)));
        assert!(db.contains_key("b").unwrap());
    }
}

#[test]
fn a_folded_value_is_not_given_back_a_base_that_has_ended() {
    let world = SimWorld::new(5);
    let db = open(&world);
    db.put_with_ttl("k", "base", Duration::from_millis(500))
        .unwrap();
    db.merge("k", "more").unwrap();
    let tx = locking(&db, "k");
    let clock = Arc::clone(&world.clock);
    let job = move || {
        clock.advance(Duration::from_millis(600));
        tx.rollback();
    };
    world.pool.spawn(Priority::Low, "holder", Box::new(job));
    db.batch().set_expiry(&db, "k", END).commit().unwrap();
    assert_eq!(value(&db, "k"), Some((b"more".to_vec(), END)));
}

#[test]
fn a_segment_stays_for_a_batch_that_points_into_it_once_more() {
    // Between the look and the write the values beside it die, and those that live are moved; the
    // one that the batch points to is where the batch says.
    let values = || (0..12_u8).map(|n| (format!("a{n}"), vec![n; 20_000]));
    let world = SimWorld::new(10);
    let db = open(&world);
    for (key, value) in values() {
        db.put(key, value).unwrap();
        db.put("b", vec![8; 40_000]).unwrap();
    }
    db.flush().unwrap();
    let tx = locking(&db, "a3");
    let there = db.clone();
    let job = move || {
        there.compact::<&[u8]>(..).unwrap();
        tx.rollback();
    };
    world.pool.spawn(Priority::Low, "holder", Box::new(job));
    db.batch().set_expiry(&db, "a3", END).commit().unwrap();
    world.pool.run_all();
    db.compact::<&[u8]>(..).unwrap();
    world.pool.run_all();
    assert_eq!(db.expiry("a3").unwrap(), Some(END));
    for (key, value) in values() {
        assert_eq!(db.get(&key).unwrap().unwrap(), value, "{key}");
    }
    assert!(db.verify().unwrap().damages.is_empty());
    // And it goes with what pointed to it.
    db.delete_range::<&[u8]>(..).unwrap();
    db.compact::<&[u8]>(..).unwrap();
    db.close().unwrap();
    drop(db);
    assert_eq!(open(&world).stats().values.segment_count, 0);
}

fn replica(db: &Db, has_own_clock: bool) -> Keyspace {
    let options = KeyspaceOptions {
        is_unlogged: true,
        has_own_clock,
        ..KeyspaceOptions::default()
    };
    db.keyspace_with("replica", options).unwrap()
}

#[test]
fn an_unlogged_keyspace_takes_it_with_its_mark() {
    // After a crash the end is there if the mark of its batch is. What is refused of a put to such
    // a keyspace is refused of an end, whether there is a value or not.
    let world = SimWorld::new(6);
    let db = open(&world);
    let replica = replica(&db, false);
    db.batch()
        .put(&replica, "k", "1")
        .mark(&replica, "1")
        .commit()
        .unwrap();
    replica.flush().unwrap();
    db.batch()
        .set_expiry(&replica, "k", END)
        .mark(&replica, "2")
        .commit()
        .unwrap();
    assert_eq!(value(&replica, "k"), Some((b"1".to_vec(), END)));
    db.batch()
        .set_expiry(&replica, "none", END)
        .mark(&replica, "3")
        .commit()
        .unwrap();
    assert_eq!(replica.mark().unwrap().unwrap(), "3");
    for key in ["k", "none"] {
        let mut batch = db.batch();
        batch.put(&db, "beside", "1").set_expiry(&replica, key, END);
        assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::Invalid);
        assert!(!db.contains_key("beside").unwrap());
        let sync = WriteOptions {
            durability: Some(Durability::Sync),
            ..WriteOptions::default()
        };
        let mut batch = db.batch();
        batch.set_expiry(&replica, key, END);
        assert_eq!(
            batch.commit_with(sync).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }
    let after = world.after_crash(CrashMode::LoseUnsynced, 1);
    drop((replica, db));
    let again = open(&after);
    let replica = again.existing_keyspace("replica").unwrap();
    assert_eq!(replica.mark().unwrap().unwrap(), "1");
    assert_eq!(value(&replica, "k"), Some((b"1".to_vec(), None)));
    again
        .batch()
        .set_expiry(&replica, "k", END)
        .mark(&replica, "2")
        .commit()
        .unwrap();
    replica.flush().unwrap();
    let after = after.after_crash(CrashMode::LoseUnsynced, 1);
    drop((replica, again));
    let again = open(&after);
    let replica = again.existing_keyspace("replica").unwrap();
    assert_eq!(replica.mark().unwrap().unwrap(), "2");
    assert_eq!(value(&replica, "k"), Some((b"1".to_vec(), END)));
}

#[test]
fn a_keyspace_with_its_own_clock_goes_by_what_it_was_told_before() {
    // The time that comes with the batch holds from the batch on: a value that ends by it is there
    // for the batch, and may go on. One that had ended before is not.
    let world = SimWorld::new(7);
    let db = open(&world);
    let replica = replica(&db, true);
    let end = |unix_ms| Some(Expiry::from_unix_ms(unix_ms));
    db.batch().mark_at(&replica, "1", 10_000).commit().unwrap();
    for key in ["a", "b"] {
        replica.put_until(key, "1", end(12_000)).unwrap();
    }
    db.batch()
        .set_expiry(&replica, "a", end(20_000))
        .mark_at(&replica, "2", 12_000)
        .commit()
        .unwrap();
    db.batch()
        .set_expiry(&replica, "b", end(20_000))
        .mark_at(&replica, "3", 13_000)
        .commit()
        .unwrap();
    assert_eq!(replica.expiry("a").unwrap(), Some(end(20_000)));
    assert_eq!(replica.expiry("b").unwrap(), None);
}

#[test]
fn what_a_batch_cannot_take_is_refused_as_ever() {
    // A keyspace of another database, one that was dropped, and a database opened to be read.
    let world = SimWorld::new(8);
    let db = open(&world);
    let gone = db.keyspace("gone").unwrap();
    gone.put("k", "1").unwrap();
    let far = Db::builder("/far").env(world.env()).open().unwrap();
    let mut batch = db.batch();
    batch.put(&db, "a", "1").set_expiry(&far, "k", END);
    assert_eq!(batch.len(), 1);
    assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::Invalid);
    batch.clear();
    batch.set_expiry(&gone, "k", END).put(&db, "a", "1");
    db.drop_keyspace("gone").unwrap();
    assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::Invalid);
    assert!(!db.contains_key("a").unwrap());
    batch.clear();
    assert!(batch.is_empty());
    db.put("k", "1").unwrap();
    db.close().unwrap();
    drop((gone, batch, db));
    let builder = Db::builder(DIR).env(world.env());
    let builder = builder.merge_operator(merge::append(","));
    let db = builder.read_only(true).open().unwrap();
    let refused = db.batch().set_expiry(&db, "k", END).commit().unwrap_err();
    assert_eq!(refused.kind(), db.put("k", "1").unwrap_err().kind());
}

#[test]
fn a_fault_anywhere_leaves_all_of_the_batch_or_nothing() {
    // Each call of the file system fails in turn while such a batch is written, and at each the
    // power may fail. A large value keeps its place, a small one is written again.
    for step in 0.. {
        let world = SimWorld::new(9);
        let faults = Arc::new(FaultFs::over_sim(&world.fs, step));
        let db = open_over(&world, faults.clone());
        let large = vec![7; 20_000];
        db.put("large", &large).unwrap();
        db.put("small", "1").unwrap();
        db.flush().unwrap();
        faults.set_plans(vec![Plan::once(Fault::Io, Calls::All, step)]);
        let millis = Some(Expiry::from_unix_ms(4_000_000_000_250));
        let sync = WriteOptions {
            durability: Some(Durability::Sync),
            ..WriteOptions::default()
        };
        let mut batch = db.batch();
        batch
            .set_expiry(&db, "large", millis)
            .put(&db, "b", vec![5; 2_000])
            .set_expiry(&db, "small", millis)
            .set_expiry(&db, "b", millis);
        let written = batch.commit_with(sync);
        let has_failed = faults.hit_count() > 0;
        let (after, _killed) = (world.after_kill(), db);
        let crashed = world.after_crash(CrashMode::LoseUnsynced, step);
        for world in [after, crashed] {
            let db = open(&world);
            let ends = ["large", "small"].map(|key| db.expiry(key).unwrap().unwrap());
            let is_there = db.expiry("b").unwrap() == Some(millis);
            assert_eq!(ends, [if is_there { millis } else { None }; 2], "{step}");
            assert_eq!(db.contains_key("b").unwrap(), is_there, "{step}");
            assert!(is_there || written.is_err(), "{step}");
            assert_eq!(db.get("large").unwrap().unwrap(), large, "{step}");
            assert!(db.verify().unwrap().damages.is_empty(), "{step}");
        }
        if !has_failed {
            break;
        }
    }
}

type Act = Box<dyn FnOnce() + Send>;

/// Appends; has something done on another thread when it folds for the first time since it was
/// told.
#[derive(Clone, Default)]
struct AppendWhile(Arc<Mutex<Option<Act>>>);

impl MergeOperator for AppendWhile {
    fn name(&self) -> &str {
        "append while"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let act = self.0.lock().unwrap().take();
        if let Some(act) = act {
            std::thread::spawn(act).join().unwrap();
        }
        let parts: Vec<&[u8]> = base.into_iter().chain(operands.iter().copied()).collect();
        Ok(parts.join(&b","[..]))
    }

    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Who reads and then writes, and what is there afterwards.
type Way = (&'static str, fn(&Db), &'static str);

#[test]
fn a_write_that_comes_while_a_value_is_read_is_found() {
    // Whoever reads a value and writes because of it: the other's write is not lost, and what is
    // written then follows from it.
    let ways: [Way; 4] = [
        (
            "a batch",
            |db| db.batch().set_expiry(db, "k", END).commit().unwrap(),
            "new",
        ),
        (
            "set_expiry",
            |db| assert!(db.set_expiry("k", END).unwrap()),
            "new",
        ),
        (
            "a transaction",
            |db| assert!(db.transaction(|tx| tx.set_expiry(db, "k", END)).unwrap()),
            "new",
        ),
        (
            "update",
            |db| {
                let longer = |old: Option<&[u8]>| [old.unwrap_or(b""), b"!"].concat();
                db.update("k", |old| Update::Set(longer(old))).unwrap();
            },
            "new!",
        ),
    ];
    for (name, change, expected) in ways {
        let world = SimWorld::new(11);
        let operator = AppendWhile::default();
        let builder = Db::builder(DIR).env(world.env());
        let builder = builder.merge_operator(MergeRule(Arc::new(operator.clone())));
        let db = builder.open().unwrap();
        db.put("k", "base").unwrap();
        db.flush().unwrap();
        db.merge("k", "more").unwrap();
        let there = db.clone();
        let act: Act = Box::new(move || there.put("k", "new").unwrap());
        *operator.0.lock().unwrap() = Some(act);
        change(&db);
        assert!(operator.0.lock().unwrap().is_none(), "{name} folded");
        assert_eq!(db.get("k").unwrap().unwrap(), expected, "{name}");
        let end = if expected == "new" { END } else { None };
        assert_eq!(db.expiry("k").unwrap(), Some(end), "{name}");
    }
}

/// Appends operands, after it has had another thread write, waiting for nobody, that many times.
struct WriteEachTime {
    db: Mutex<Option<Db>>,
    left: AtomicU32,
}

impl MergeOperator for WriteEachTime {
    fn name(&self) -> &str {
        "write each time"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let left = self.left.load(Ordering::SeqCst);
        if let Some(db) = self.db.lock().unwrap().clone().filter(|_| left > 0) {
            self.left.store(left - 1, Ordering::SeqCst);
            let at_once = WriteOptions {
                no_wait: true,
                ..WriteOptions::default()
            };
            let write = move || db.batch().put(&db, "x", "new").commit_with(at_once);
            if let Err(error) = std::thread::spawn(write).join().unwrap() {
                assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
            }
        }
        let parts: Vec<&[u8]> = base.into_iter().chain(operands.iter().copied()).collect();
        Ok(parts.join(&b","[..]))
    }

    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

#[test]
fn a_batch_of_ends_is_written_though_others_are_always_faster() {
    // Whenever it has read its values somebody writes to one of their keys, a thousand times: it
    // does not begin anew as often, and after some times has the others wait.
    const WRITES: u32 = 1_000;
    for no_wait in [false, true] {
        let world = SimWorld::new(12);
        let operator = Arc::new(WriteEachTime {
            db: Mutex::default(),
            left: AtomicU32::new(WRITES),
        });
        let builder = Db::builder(DIR).env(world.env());
        let rule: Arc<dyn MergeOperator> = Arc::clone(&operator) as _;
        let db = builder.merge_operator(MergeRule(rule)).open().unwrap();
        db.put("x", "old").unwrap();
        db.merge("m", "1").unwrap();
        *operator.db.lock().unwrap() = Some(db.clone());
        let mut batch = db.batch();
        batch.set_expiry(&db, "m", END).set_expiry(&db, "x", END);
        let options = WriteOptions {
            no_wait,
            ..WriteOptions::default()
        };
        batch.commit_with(options).unwrap();
        let times = WRITES - operator.left.swap(0, Ordering::SeqCst);
        assert!((2..100).contains(&times), "{times}");
        assert_eq!(value(&db, "x"), Some((b"new".to_vec(), END)));
        assert_eq!(value(&db, "m"), Some((b"1".to_vec(), END)));
        // It keeps nothing locked.
        db.put("x", "newer").unwrap();
        // What the operator has would keep the database open.
        *operator.db.lock().unwrap() = None;
    }
}

#[test]
fn nobody_loses_a_write_to_an_end() {
    // One thread counts up, and finds each time what it wrote; others move ends all the while.
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path()).unwrap();
    db.put("k", 0_u32.to_le_bytes()).unwrap();
    std::thread::scope(|scope| {
        let movers: Vec<_> = (0..2_u32)
            .map(|mover| {
                let db = db.clone();
                scope.spawn(move || {
                    for turn in 0..2_000_u32 {
                        let end = Expiry::from_unix_s(4_000_000_000 + turn % 7);
                        let own = format!("mover {mover}");
                        let mut batch = db.batch();
                        batch.set_expiry(&db, "k", Some(end));
                        batch.put(&db, own, turn.to_le_bytes()).commit().unwrap();
                    }
                })
            })
            .collect();
        let mut count = 0_u32;
        while movers.iter().any(|mover| !mover.is_finished()) {
            count += 1;
            db.put("k", count.to_le_bytes()).unwrap();
            assert_eq!(db.get("k").unwrap().unwrap(), count.to_le_bytes());
        }
    });
    for mover in 0..2 {
        let last = db.get(format!("mover {mover}")).unwrap().unwrap();
        assert_eq!(last, 1_999_u32.to_le_bytes());
    }
}
