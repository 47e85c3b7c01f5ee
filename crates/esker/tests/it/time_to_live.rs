//! How long what is put for a time lives: never too short, and when exactly it ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::internals::env::pool::{Pool, Priority};
use esker::internals::env::sim::SimWorld;
use esker::internals::env::sim::clock::SimClock;
use esker::{
    Db, ErrorKind, Expiry, Isolation, KeyspaceOptions, TransactionMode, TransactionOptions, Update,
    merge,
};

/// A machine whose last tick was a while ago: who asks for whole milliseconds gets that moment.
#[derive(Debug)]
struct LateTicks(Arc<SimClock>);

const LATE: Duration = Duration::from_millis(9);

impl Clock for LateTicks {
    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    fn unix_time(&self) -> Duration {
        self.0.unix_time()
    }

    fn unix_millis(&self) -> u64 {
        u64::try_from((self.0.unix_time() - LATE).as_millis()).unwrap()
    }
}

/// A machine on which something happens when somebody asks what time it is, once.
struct Busy(Arc<SimClock>, Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl std::fmt::Debug for Busy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Busy")
    }
}

impl Clock for Busy {
    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    fn unix_time(&self) -> Duration {
        let happens = self.1.lock().unwrap().take();
        if let Some(happens) = happens {
            happens();
        }
        self.0.unix_time()
    }
}

fn open(env: &Env) -> Db {
    let builder = Db::builder("db").env(env.clone());
    let builder = builder.set("value_log.threshold", "1000B").unwrap();
    builder.merge_operator(merge::append(",")).open().unwrap()
}

type Put = fn(&Db, Duration) -> esker::Result<()>;

/// Every way to put a value for a time.
const WAYS: [(&str, Put); 8] = [
    ("put_with_ttl", |db, ttl| db.put_with_ttl("k", "1", ttl)),
    ("large", |db, ttl| db.put_with_ttl("k", [7; 2_000], ttl)),
    ("batch", |db, ttl| {
        db.batch().put_with_ttl(db, "k", "1", ttl).commit()
    }),
    ("transaction", |db, ttl| {
        db.transaction(|tx| tx.put_with_ttl(db, "k", "1", ttl))
    }),
    ("default", |db, ttl| {
        db.set("ttl", &format!("{}ms", ttl.as_millis()))?;
        db.put("k", "1")
    }),
    ("default in a batch", |db, ttl| {
        db.set("ttl", &format!("{}ms", ttl.as_millis()))?;
        db.batch().put(db, "k", "1").commit()
    }),
    ("default in a transaction", |db, ttl| {
        db.set("ttl", &format!("{}ms", ttl.as_millis()))?;
        db.transaction(|tx| tx.put(db, "k", "1"))
    }),
    ("default of an update", |db, ttl| {
        db.set("ttl", &format!("{}ms", ttl.as_millis()))?;
        db.update("k", |_| Update::Set(b"1".to_vec())).map(drop)
    }),
];

#[test]
fn nothing_ends_before_its_time_to_live_is_over() {
    // At any part of a second, by a clock that ticked a while ago: what is to live for whole
    // seconds ends at the next whole one, anything else at the millisecond. Readers find it up to
    // its end.
    for (name, put) in WAYS {
        for (part_ms, ttl_ms) in [0, 1, 4, 500, 991, 999]
            .into_iter()
            .flat_map(|part_ms| [1, 999, 1_000, 1_001, 2_000].map(|ttl_ms| (part_ms, ttl_ms)))
        {
            let world = SimWorld::new(1);
            world.clock.advance(Duration::from_millis(part_ms));
            let mut env = world.env();
            env.clock = Arc::new(LateTicks(Arc::clone(&world.clock)));
            let db = open(&env);
            let before = world.clock.unix_millis();
            put(&db, Duration::from_millis(ttl_ms)).unwrap();
            let case = format!("{name} at {part_ms} for {ttl_ms}");
            let end = db.expiry("k").unwrap().expect(&case).expect(&case);
            let asked = before + ttl_ms;
            let expected = match ttl_ms % 1000 {
                0 => asked.next_multiple_of(1000),
                _ => asked,
            };
            assert_eq!(end.unix_ms(), expected, "{case}");
            world.clock.advance(Duration::from_millis(ttl_ms - 1));
            assert!(db.contains_key("k").unwrap(), "{case}");
            world.clock.advance(Duration::from_millis(1_001) + LATE);
            assert!(!db.contains_key("k").unwrap(), "{case}");
        }
    }
}

#[test]
fn what_lives_no_time_at_all_is_gone_at_once() {
    // Also where the second began behind the last tick.
    for part_ms in [0, 4, 500] {
        let world = SimWorld::new(2);
        world.clock.advance(Duration::from_millis(part_ms));
        let mut env = world.env();
        env.clock = Arc::new(LateTicks(Arc::clone(&world.clock)));
        let db = open(&env);
        db.put_with_ttl("k", "1", Duration::ZERO).unwrap();
        assert!(!db.contains_key("k").unwrap(), "{part_ms}");
    }
}

#[test]
fn a_keyspace_has_its_time_to_live_to_the_millisecond() {
    // Chosen in code, told as text, kept over an opening; and `none` takes it away.
    let world = SimWorld::new(3);
    let db = open(&world.env());
    let short = KeyspaceOptions::default().ttl(Duration::from_micros(249_100));
    db.keyspace_with("a", short).unwrap();
    db.keyspace("b").unwrap().set("ttl", "1.5s").unwrap();
    db.close().unwrap();
    drop(db);
    let db = open(&world.env());
    for (name, text, ttl_ms) in [("a", "250ms", 250), ("b", "1500ms", 1_500)] {
        let keyspace = db.existing_keyspace(name).unwrap();
        let own = keyspace.own_settings();
        assert!(own.contains(&("ttl".into(), text.into())), "{own:?}");
        keyspace.put("k", "1").unwrap();
        let end = Expiry::from_unix_ms(world.clock.unix_millis() + ttl_ms);
        assert_eq!(keyspace.expiry("k").unwrap(), Some(Some(end)));
        keyspace.set("ttl", "none").unwrap();
        keyspace.put("k", "1").unwrap();
        assert_eq!(keyspace.expiry("k").unwrap(), Some(None));
        let refused = keyspace.set("ttl", "1.0005s").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(refused.message().contains("milliseconds"), "{refused}");
    }
}

/// A base that ends, and an operand onto it; in memory or in files.
fn put_folded(db: &Db, is_flushed: bool) {
    db.put_with_ttl("k", "base", Duration::from_millis(250))
        .unwrap();
    db.merge("k", "more").unwrap();
    if is_flushed {
        db.compact::<&[u8]>(..).unwrap();
    }
}

#[test]
fn what_operands_make_brings_no_base_back_that_has_ended() {
    // Between the look and the write the base ends, and others see the operands alone: they are
    // not told the base again. A transaction learns of it at its commit, or at its preparation.
    let end = Some(Expiry::from_unix_s(4_000_000_000));
    let modes = [TransactionMode::Optimistic, TransactionMode::Locking];
    for (is_flushed, is_prepared, mode) in [false, true].into_iter().flat_map(|is_flushed| {
        [false, true]
            .into_iter()
            .flat_map(move |is_prepared| modes.map(|mode| (is_flushed, is_prepared, mode)))
    }) {
        let world = SimWorld::new(4);
        let db = open(&world.env());
        put_folded(&db, is_flushed);
        let mut tx = db.begin_with(TransactionOptions {
            mode,
            isolation: Isolation::ReadCommitted,
            ..TransactionOptions::default()
        });
        assert!(tx.set_expiry(&db, "k", end).unwrap());
        world.clock.advance(Duration::from_millis(250));
        assert_eq!(db.get("k").unwrap().as_deref(), Some(&b"more"[..]));
        let ended = match is_prepared {
            false => tx.commit(),
            true => tx.prepare("id").map(drop),
        };
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(db.get("k").unwrap().as_deref(), Some(&b"more"[..]));
        // Run again, it is what is there that goes on.
        db.transaction(|tx| tx.set_expiry(&db, "k", end)).unwrap();
        assert_eq!(db.get("k").unwrap().as_deref(), Some(&b"more"[..]));
        assert_eq!(db.expiry("k").unwrap(), Some(end));
    }
}

#[test]
fn a_change_of_what_operands_make_begins_again_when_the_base_ends() {
    // `set_expiry` while it waits for a lock; `update` and `compare_and_swap` while they think.
    for is_flushed in [false, true] {
        let world = SimWorld::new(5);
        let db = open(&world.env());
        put_folded(&db, is_flushed);
        let tx = db.begin_with(TransactionOptions {
            mode: TransactionMode::Locking,
            ..TransactionOptions::default()
        });
        tx.get_for_update(&db, "k").unwrap();
        let clock = Arc::clone(&world.clock);
        let job = move || {
            clock.advance(Duration::from_millis(250));
            tx.rollback();
        };
        world.pool.spawn(Priority::Low, "holder", Box::new(job));
        assert!(db.set_expiry("k", None).unwrap());
        assert_eq!(db.get("k").unwrap().as_deref(), Some(&b"more"[..]));

        db.delete("k").unwrap();
        put_folded(&db, is_flushed);
        let mut seen = Vec::new();
        db.update("k", |current| {
            seen.push(current.map(<[u8]>::to_vec));
            world.clock.advance(Duration::from_millis(250));
            Update::Set(b"other".to_vec())
        })
        .unwrap();
        assert_eq!(seen, [Some(b"base,more".to_vec()), Some(b"more".to_vec())]);
    }
}

#[test]
fn a_value_that_is_always_renewed_in_time_is_always_there() {
    // Renewed while somebody reads, just before it ends: he either sees what was there before at a
    // time when it was, or what is there now.
    let world = SimWorld::new(0);
    let busy = Arc::new(Busy(Arc::clone(&world.clock), Mutex::default()));
    let clock: Arc<dyn Clock> = Arc::clone(&busy) as Arc<dyn Clock>;
    let env = Env {
        clock,
        ..world.env()
    };
    let db = open(&env);
    let ttl = Duration::from_secs(10);
    let reads: [fn(&Db) -> bool; 5] = [
        |db| db.get("k").unwrap().is_some(),
        |db| db.contains_key("k").unwrap(),
        |db| db.multi_get(&["k"]).unwrap()[0].is_some(),
        |db| db.iter().unwrap().count() == 1,
        |db| db.expiry("k").unwrap().is_some(),
    ];
    for (number, read) in reads.into_iter().enumerate() {
        db.put_with_ttl("k", "1", ttl).unwrap();
        let (renewing, time) = (db.clone(), Arc::clone(&world.clock));
        *busy.1.lock().unwrap() = Some(Box::new(move || {
            renewing.put_with_ttl("k", "2", 2 * ttl).unwrap();
            time.advance(ttl + Duration::from_secs(2));
        }));
        assert!(read(&db), "read {number}");
    }
}
