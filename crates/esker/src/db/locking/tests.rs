//! Tests of `locking`: a write that was under way when the first lock was taken.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::cmp::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions};
use crate::base::types::comparator::{Comparator, CustomComparator};
use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;

/// Over a key with a question mark it stops in the middle of a write, once, until it is told to go
/// on.
struct Halting {
    has_come: Mutex<Sender<()>>,
    may_go: Mutex<Option<Receiver<()>>>,
}

impl CustomComparator for Halting {
    fn name(&self) -> &str {
        "halting"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if right.ends_with(b"?") && thread::current().name() == Some("writer") {
            let may_go = self.may_go.lock().unwrap().take();
            if let Some(may_go) = may_go {
                self.has_come.lock().unwrap().send(()).unwrap();
                may_go.recv().unwrap();
            }
        }
        left.cmp(right)
    }
}

#[test]
fn a_write_under_way_is_seen_under_the_lock() {
    // It asked whether anybody holds locks, was told nobody, and stops there. Whoever locks its key
    // then reads what it wrote, or nobody could tell why it changes under the lock.
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot] {
        for has_begun_before in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let ((has_come, come), (go, may_go)) = (channel(), channel());
            let halting = Halting {
                has_come: Mutex::new(has_come),
                may_go: Mutex::new(Some(may_go)),
            };
            let builder = Db::builder(dir.path()).comparator(Comparator::Custom(Arc::new(halting)));
            let db = builder.open().unwrap();
            db.put("a", "1").unwrap();
            let mut tx = db.begin_with(TransactionOptions {
                isolation,
                mode: TransactionMode::Locking,
                lock_timeout: Duration::from_secs(600),
            });
            let is_late = has_begun_before && isolation == Isolation::Snapshot;
            match has_begun_before {
                // It has its snapshot, and locks nothing yet.
                true if is_late => drop(tx.get("a").unwrap()),
                // All of it is given back, and whoever writes then need not heed it.
                true => {
                    tx.set_savepoint();
                    tx.put(&db, "b", "1").unwrap();
                    tx.rollback_to_savepoint().unwrap();
                }
                false => {}
            }
            let writer = thread::Builder::new().name("writer".into());
            let there = db.clone();
            let writer = writer.spawn(move || there.put("k?", "2")).unwrap();
            come.recv().unwrap();
            let there = db.clone();
            let reader = thread::spawn(move || {
                let found = tx.get_for_update(&there, "k?");
                (tx, found)
            });
            // Of the key, and of the keyspace in intention.
            let locks = &db.database().core().locks;
            while locks.statistics().held < 2 {
                thread::yield_now();
            }
            // Time to read too early.
            for _ in 0..1_000 {
                thread::yield_now();
            }
            assert!(!reader.is_finished());
            go.send(()).unwrap();
            let (tx, found) = reader.join().unwrap();
            writer.join().unwrap().unwrap();
            match is_late {
                true => assert_eq!(found.unwrap_err().kind(), ErrorKind::Conflict),
                false => assert_eq!(found.unwrap().as_deref(), Some(&b"2"[..])),
            }
            tx.commit().unwrap();
        }
    }
}
