//! Retain rules: what a user's say in what lives on does to a database, and what it must not.

mod model;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimWorld;
use esker::{Builder, Db, ErrorKind, KeyspaceOptions, Result, Retain, RetainRule, retain};

const DIR: &str = "/db";

fn builder(world: &SimWorld) -> Builder {
    Builder::new(DIR).env(world.env())
}

/// Drops what begins with that.
fn without(prefix: &'static str) -> Arc<dyn RetainRule> {
    retain::by("without", move |entry| {
        Ok(match entry.key.starts_with(prefix.as_bytes()) {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    })
}

fn keys(db: &Db) -> Vec<String> {
    let text = |key: esker::Bytes| String::from_utf8(key.to_vec()).unwrap();
    let keys = db.iter().unwrap().keys().map(Result::unwrap);
    keys.map(text).collect()
}

#[test]
fn every_way_to_keep_values_is_asked() {
    // Inline values, those in the value log, and those that are phrases; by the key and by the
    // value: after `compact` what the rule drops is gone, and nothing else.
    let by_value = || {
        retain::by("by value", |entry| {
            Ok(match entry.value()?.starts_with(b"drop") {
                true => Retain::Drop,
                false => Retain::Keep,
            })
        })
    };
    for compression in ["none", "searchable"] {
        for threshold in ["none", "1KiB"] {
            for rule in [without("drop"), by_value()] {
                let world = SimWorld::new(1);
                let db = builder(&world)
                    .set("compression", compression)
                    .and_then(|builder| builder.set("value_log.threshold", threshold))
                    .and_then(|builder| builder.set("sst.dictionary_min", "0"))
                    .unwrap()
                    .retain_rule("default", rule)
                    .open()
                    .unwrap();
                for number in 0..400 {
                    let fate = if number % 3 == 0 { "drop" } else { "keep" };
                    let value = format!("{fate} the ship {number} is in port ").repeat(number % 50);
                    db.put(format!("{fate}{number}"), value + fate).unwrap();
                }
                db.compact::<&[u8]>(..).unwrap();
                let left = keys(&db);
                assert!(left.iter().all(|key| key.starts_with("keep")), "{left:?}");
                assert_eq!(left.len(), 266);
                let stats = db.stats();
                let told = stats.keyspaces[0].retain_rule.as_ref().unwrap();
                assert_eq!(told.dropped_count, 134);
                let counter = "esker_retain_dropped_values_total";
                let mut counters = stats.counters.iter();
                assert_eq!(counters.find(|(name, ..)| *name == counter).unwrap().2, 134);
                assert!(db.verify().unwrap().damages.is_empty());
                db.close().unwrap();
            }
        }
    }
}

#[test]
fn a_tree_at_rest_is_asked_too() {
    // Everything lies in one run at the bottom, of which no file has anything to lose: a rule that
    // comes later is asked about all of it, and a file alone in level 0 is not merely moved.
    let world = SimWorld::new(2);
    let db = builder(&world).open().unwrap();
    for number in 0..100 {
        db.put(format!("{}{number}", ["a", "b", "c"][number % 3]), "x")
            .unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    let options = || KeyspaceOptions::default();
    db.keyspace_with("default", options().retain_rule(without("a")))
        .unwrap();
    assert_eq!(keys(&db).len(), 100);
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys(&db).len(), 66);
    // Another one takes its place at once; what the first one dropped stays dropped.
    db.keyspace_with("default", options().retain_rule(without("b")))
        .unwrap();
    // Opened without any, the keyspace keeps the one it has.
    db.keyspace_with("default", options()).unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys(&db).len(), 33);
    db.put("b", "in level 0 alone").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys(&db).len(), 33);
    // It is no part of the database.
    db.close().unwrap();
    let db = builder(&world).open().unwrap();
    db.put("b", "stays").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(db.get("b").unwrap().as_deref(), Some(&b"stays"[..]));
}

#[test]
fn a_rule_for_a_keyspace_that_comes_later() {
    // The builder's rule is the keyspace's from when it is made, and from each opening on.
    let world = SimWorld::new(3);
    for round in 0..2 {
        let visits_rule = without("a");
        let db = builder(&world)
            .retain_rule("visits", visits_rule)
            .open()
            .unwrap();
        let visits = db.keyspace("visits").unwrap();
        visits.put("anna", format!("{round}")).unwrap();
        visits.put("bela", format!("{round}")).unwrap();
        db.put("anna", "1").unwrap();
        visits.compact::<&[u8]>(..).unwrap();
        db.compact::<&[u8]>(..).unwrap();
        assert!(!visits.contains_key("anna").unwrap());
        assert!(visits.contains_key("bela").unwrap());
        assert!(db.contains_key("anna").unwrap());
        db.close().unwrap();
    }
}

#[test]
fn flushes_ask_nobody() {
    let world = SimWorld::new(4);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let rule = retain::by("counts", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Retain::Drop)
    });
    let db = builder(&world).retain_rule("default", rule).open().unwrap();
    db.put("a", "1").unwrap();
    db.flush().unwrap();
    assert_eq!((asked.load(Ordering::Relaxed), keys(&db).len()), (0, 1));
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!((asked.load(Ordering::Relaxed), keys(&db).len()), (1, 0));
}

#[test]
fn a_rule_that_panics_harms_no_database() {
    // Compactions by themselves go on without it, so that the tree keeps its shape; who asks for
    // one is told, and again once he asks again; a rule that says is taken at once.
    let world = SimWorld::new(5);
    let is_bad = Arc::new(AtomicBool::new(true));
    let mood = Arc::clone(&is_bad);
    let rule = retain::by("moody", move |entry| {
        assert!(!mood.load(Ordering::Relaxed), "the rule is in a bad mood");
        Ok(match entry.key.starts_with(b"a") {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    });
    let db = builder(&world)
        .set("compaction.l0_trigger", "2")
        .unwrap()
        .retain_rule("default", rule)
        .open()
        .unwrap();
    for round in 0..8 {
        for key in ["a", "b", "c"] {
            db.put(format!("{key}{round}"), "x").unwrap();
            db.put(format!("{key}0"), "x").unwrap();
        }
        db.flush().unwrap();
        world.pool.run_all();
    }
    let stats = db.stats();
    assert_eq!(stats.state, "open");
    assert!(stats.left_out.is_empty());
    assert!(
        stats.keyspaces[0]
            .levels
            .iter()
            .all(|level| level.score < 1.0)
    );
    assert!(stats.keyspaces[0].retain_rule.as_ref().unwrap().has_failed);
    assert_eq!(stats.failures.len(), 1, "{:?}", stats.failures);
    assert!(
        stats.failures[0].contains("in a bad mood"),
        "{:?}",
        stats.failures
    );
    for _ in 0..2 {
        let error = db.compact::<&[u8]>(..).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("`moody`"), "{error}");
    }
    assert_eq!(keys(&db).len(), 24);
    is_bad.store(false, Ordering::Relaxed);
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys(&db).len(), 16);
    assert!(
        !db.stats().keyspaces[0]
            .retain_rule
            .as_ref()
            .unwrap()
            .has_failed
    );
    assert!(db.verify().unwrap().damages.is_empty());
}

#[test]
fn a_damaged_value_is_kept_whatever_the_rule_says_of_it() {
    // One that asks for every value and does not mind that it cannot be read: whoever reads the
    // damaged one is told, and the others go.
    let world = SimWorld::new(10);
    let rule = retain::by("does not mind", |entry| {
        let _unread = entry.value();
        Ok(Retain::Drop)
    });
    let open = || {
        let builder = builder(&world).set("value_log.threshold", "1KiB").unwrap();
        builder
            .retain_rule("default", Arc::clone(&rule))
            .open()
            .unwrap()
    };
    let db = open();
    db.put("damaged", vec![7; 20_000]).unwrap();
    db.put("small", "1").unwrap();
    db.put("whole", vec![8; 20_000]).unwrap();
    db.close().unwrap();
    drop(db);
    let names = world.fs.list(Path::new(DIR)).unwrap();
    let name = names.iter().find(|name| name.ends_with(".vlog")).unwrap();
    crate::stored_bytes::flip(&*world.fs, &Path::new(DIR).join(name), 5_000);
    let db = open();
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys_alone(&db), ["damaged"]);
    let told = db.get("damaged").unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Corruption, "{told}");
}

// Without a look at their values.
fn keys_alone(db: &Db) -> Vec<&'static str> {
    let all = ["damaged", "small", "whole"].into_iter();
    all.filter(|key| db.contains_key(key).unwrap()).collect()
}

#[test]
fn what_is_dropped_lets_no_older_value_come_up() {
    // The older one lies in a file that is not rewritten with it: what is left in its place says
    // that it is gone, in the database and in what is opened without the rule.
    let world = SimWorld::new(11);
    let open = |rule: Option<Arc<dyn RetainRule>>| {
        let builder = builder(&world)
            .set("compaction.automatic", "false")
            .unwrap();
        let builder = match rule {
            Some(rule) => builder.retain_rule("default", rule),
            None => builder,
        };
        builder.open().unwrap()
    };
    let newer = retain::by("newer", |entry| {
        Ok(match entry.value()?.starts_with(b"newer") {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    });
    let db = open(Some(newer));
    for number in 0..200 {
        db.put(format!("k{number:03}"), "older").unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    for round in 0..3 {
        for number in 50..60 {
            db.put(format!("k{number:03}"), format!("newer {round}"))
                .unwrap();
        }
        db.flush().unwrap();
    }
    db.set("compaction.automatic", "true").unwrap();
    db.set("compaction.l0_trigger", "2").unwrap();
    world.pool.run_all();
    db.compact::<&[u8]>(..).unwrap();
    let expected: Vec<_> = (0..200)
        .filter(|number| !(50..60).contains(number))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|number| format!("k{number:03}"))
        .collect();
    assert_eq!(keys(&db), expected);
    db.close().unwrap();
    drop(db);
    assert_eq!(keys(&open(None)), expected);
}

#[test]
fn who_compacts_asks_the_rule_whatever_failed_meanwhile() {
    // The second flush has booked a merge that has not run: the caller waits for it, it fails over
    // the rule, and he is told of the rule all the same.
    let world = SimWorld::new(20);
    let rule = retain::by("panics", |_| -> Result<Retain> { panic!("never") });
    let db = builder(&world).set("compaction.l0_trigger", "2").unwrap();
    let db = db.retain_rule("default", rule).open().unwrap();
    for value in ["1", "2"] {
        db.put("a", value).unwrap();
        db.flush().unwrap();
    }
    let error = db.compact::<&[u8]>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_rule_is_not_blamed_for_the_one_before() {
    // It is given while the compaction runs in which the one before fails.
    let world = SimWorld::new(21);
    let slot: Arc<Mutex<Option<Db>>> = Arc::default();
    let own = Arc::clone(&slot);
    let rule = retain::by("first", move |_| -> Result<Retain> {
        let db = own.lock().unwrap().clone().unwrap();
        let next = KeyspaceOptions::default().retain_rule(without("a"));
        let change = move || drop(db.keyspace_with("default", next).unwrap());
        std::thread::spawn(change).join().unwrap();
        panic!("the first rule is broken")
    });
    let db = builder(&world).retain_rule("default", rule).open().unwrap();
    *slot.lock().unwrap() = Some(db.clone());
    db.put("a", "1").unwrap();
    assert!(db.compact::<&[u8]>(..).is_err());
    *slot.lock().unwrap() = None;
    let stats = db.stats();
    let told = stats.keyspaces[0].retain_rule.as_ref().unwrap();
    assert!(!told.has_failed);
    db.compact::<&[u8]>(..).unwrap();
    assert!(keys(&db).is_empty());
}

#[test]
fn a_rule_must_not_use_the_database() {
    let world = SimWorld::new(6);
    let slot: Arc<Mutex<Option<Db>>> = Arc::default();
    let own = Arc::clone(&slot);
    let rule = retain::by("calls back", move |_| {
        let db = own.lock().unwrap().clone().unwrap();
        assert_eq!(db.get("a").unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(db.put("a", "2").unwrap_err().kind(), ErrorKind::Invalid);
        let options = KeyspaceOptions::default().retain_rule(without("b"));
        let given = db.keyspace_with("default", options);
        assert_eq!(given.err().unwrap().kind(), ErrorKind::Invalid);
        Ok(Retain::Keep)
    });
    let db = builder(&world).retain_rule("default", rule).open().unwrap();
    *slot.lock().unwrap() = Some(db.clone());
    db.put("a", "1").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    *slot.lock().unwrap() = None;
}

/// Drops everything; while it is asked for the first time, something is done on another thread.
fn all_while(act: impl FnOnce() + Send + 'static) -> Arc<dyn RetainRule> {
    let act = Mutex::new(Some(act));
    retain::by("all", move |_| {
        if let Some(act) = act.lock().unwrap().take() {
            std::thread::spawn(act).join().unwrap();
        }
        Ok(Retain::Drop)
    })
}

#[test]
fn snapshots_keep_what_they_saw_when_the_compaction_began() {
    // One from before keeps everything; one that is taken while the rule is asked may lose what is
    // dropped, and gains nothing: no older value of a key comes up.
    let world = SimWorld::new(7);
    let slot: Arc<Mutex<Option<Db>>> = Arc::default();
    let taken = Arc::new(Mutex::new(None));
    let (own, told) = (Arc::clone(&slot), Arc::clone(&taken));
    let rule = all_while(move || {
        let db = own.lock().unwrap().clone().unwrap();
        *told.lock().unwrap() = Some((db.snapshot(), db.begin()));
    });
    let db = builder(&world).retain_rule("default", rule).open().unwrap();
    *slot.lock().unwrap() = Some(db.clone());
    db.put("a", "older").unwrap();
    db.put("a", "newer").unwrap();
    let (before, tx_before) = (db.snapshot(), db.begin());
    for key in ["a", "b"] {
        db.put(key, "newest").unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    *slot.lock().unwrap() = None;
    let (within, mut tx_within) = taken.lock().unwrap().take().unwrap();
    assert!(keys(&db).is_empty());
    for _ in 0..2 {
        assert_eq!(before.get("a").unwrap().as_deref(), Some(&b"newer"[..]));
        assert_eq!(tx_before.get("a").unwrap().as_deref(), Some(&b"newer"[..]));
        assert_eq!(before.iter().unwrap().count(), 1);
        for key in ["a", "b"] {
            assert_eq!(within.get(key).unwrap(), None);
            assert_eq!(tx_within.get(key).unwrap(), None);
        }
        db.compact::<&[u8]>(..).unwrap();
    }
    // What was dropped was written before it began, so it misses no trace.
    tx_within.put(&db, "a", "again").unwrap();
    tx_within.commit().unwrap();
    let mut tx_before = tx_before;
    tx_before.put(&db, "a", "too late").unwrap();
    assert_eq!(tx_before.commit().unwrap_err().kind(), ErrorKind::Conflict);
    // Without snapshots all of it goes, and so do the files.
    drop((before, within));
    db.compact::<&[u8]>(..).unwrap();
    world.pool.run_all();
    let there = world.fs.list(Path::new(DIR)).unwrap();
    assert!(
        !there.iter().any(|name| name.ends_with(".sst")),
        "{there:?}"
    );
}

#[test]
fn a_transaction_finds_what_was_dropped_since() {
    // Somebody writes a key that the rule drops before the transaction commits: its trace stays.
    let world = SimWorld::new(8);
    let db = builder(&world)
        .retain_rule("default", without("a"))
        .open()
        .unwrap();
    let mut tx = db.begin();
    assert_eq!(tx.get("a").unwrap(), None);
    db.put("a", "theirs").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(db.get("a").unwrap(), None);
    tx.put(&db, "a", "ours").unwrap();
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Conflict);
    // To drop is not to write: who read the key, and writes it, meets nobody.
    db.put("a", "theirs").unwrap();
    let mut tx = db.begin();
    assert!(tx.contains_key("a").unwrap());
    db.compact::<&[u8]>(..).unwrap();
    assert!(tx.contains_key("a").unwrap());
    tx.put(&db, "a", "ours").unwrap();
    tx.commit().unwrap();
    assert!(db.contains_key("a").unwrap());
}
