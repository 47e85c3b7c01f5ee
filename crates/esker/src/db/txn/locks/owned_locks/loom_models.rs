//! Every interleaving of owners that take, wait for and release locks.
//!
//! Nothing times out here, so an owner that nobody wakes, or that nobody tells of a deadlock, is a
//! deadlock, which ends the model.

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::base::types::ids::KeyspaceId;
use crate::db::txn::locks::lock_id::TxnId;
use crate::db::txn::locks::lock_mode::{KeyMode, Mode};
use crate::db::txn::locks::lock_table::LockTable;
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::txn::locks::refused::Refused;
use crate::db::txn::locks::waiting::Patience;
use crate::env::bundle::Env;
use crate::env::sim::SimWorld;
use crate::flow::write::patient::Patient;

const SHIPS: KeyspaceId = KeyspaceId(1);
const PILOTS: KeyspaceId = KeyspaceId(2);

/// A table, and what its locks protect.
struct Stage {
    table: Arc<LockTable>,
    protected: AtomicU64,
}

/// One owner in a thread of its own.
struct Player {
    stage: Arc<Stage>,
    env: Env,
    owned: OwnedLocks,
}

impl Player {
    fn lock(&mut self, keyspace: KeyspaceId, mode: Mode) -> Result<bool, Refused> {
        let patience = Patience {
            env: &self.env,
            wait_max: Duration::MAX,
        };
        self.owned.lock_keyspace(keyspace, mode, patience)
    }

    fn lock_key(&mut self, mode: KeyMode) -> Result<bool, Refused> {
        let patience = Patience {
            env: &self.env,
            wait_max: Duration::MAX,
        };
        self.owned.lock_key(SHIPS, b"anna", mode, patience)
    }

    /// Adds one to what is protected, in two steps that the lock alone keeps together.
    fn add(&self) {
        // Relaxed: the lock alone must carry the news.
        let protected = &self.stage.protected;
        let before = protected.load(Ordering::Relaxed);
        protected.store(before + 1, Ordering::Relaxed);
    }
}

impl Stage {
    fn new() -> Arc<Stage> {
        Arc::new(Stage {
            table: Arc::new(LockTable::new(Arc::default(), 10)),
            protected: AtomicU64::new(0),
        })
    }

    fn player(self: &Arc<Stage>, id: u64) -> Player {
        Player {
            stage: Arc::clone(self),
            env: Env {
                pool: Arc::new(Patient),
                ..SimWorld::new(1).env()
            },
            owned: OwnedLocks::new(Arc::clone(&self.table), TxnId(id)),
        }
    }
}

/// Runs two owners against one another; how each of them ended, and what is protected at last.
fn play<T: 'static>(one: fn(&mut Player) -> T, other: fn(&mut Player) -> T) -> ([T; 2], u64) {
    let stage = Stage::new();
    let (mut first, mut second) = (stage.player(1), stage.player(2));
    let thread = thread::spawn(move || other(&mut second));
    let ended = one(&mut first);
    drop(first);
    let ended = [ended, thread.join().expect("its claims hold")];
    let statistics = stage.table.statistics();
    let left = (statistics.held, statistics.holding, statistics.waiting);
    assert_eq!(left, (0, 0, 0));
    (ended, stage.protected.load(Ordering::Relaxed))
}

#[test]
fn an_exclusive_lock_keeps_two_apart_and_wakes_the_second() {
    // Both add one under the lock of a key: neither addition is lost, and whoever waits is woken.
    fn add(player: &mut Player) {
        player.lock_key(KeyMode::Exclusive).expect("it waits");
        player.add();
    }
    loom::model(|| {
        let (_, sum) = play(add, add);
        assert_eq!(sum, 2);
    });
}

#[test]
fn of_two_that_wait_for_one_another_one_is_told() {
    // Crosswise: never do both wait for ever, and never is either told of a circle for nothing, as
    // both are if neither gets through.
    fn cross(player: &mut Player, keyspaces: [KeyspaceId; 2]) -> bool {
        for keyspace in keyspaces {
            match player.lock(keyspace, Mode::Exclusive) {
                Ok(_) => {}
                Err(Refused::Deadlock { cycle }) => {
                    assert_eq!(cycle.len(), 2);
                    player.owned.release_all();
                    return false;
                }
                Err(refused) => panic!("{refused:?}"),
            }
        }
        player.add();
        true
    }
    loom::model(|| {
        let (ended, sum) = play(
            |player| cross(player, [SHIPS, PILOTS]),
            |player| cross(player, [PILOTS, SHIPS]),
        );
        assert!(ended.contains(&true));
        assert_eq!(sum, ended.iter().filter(|is_done| **is_done).count() as u64);
    });
}

#[test]
fn a_plain_write_gives_way_to_a_transaction() {
    // Crosswise again, one of them a plain write: it alone is ever refused, and begins anew until
    // both are done.
    fn cross(owned: &mut OwnedLocks, env: &Env, keyspaces: [KeyspaceId; 2]) -> bool {
        let mut lock = |keyspace| {
            let wait_max = Duration::MAX;
            owned.lock_keyspace(keyspace, Mode::Exclusive, Patience { env, wait_max })
        };
        keyspaces.into_iter().all(|keyspace| lock(keyspace).is_ok())
    }
    loom::model(|| {
        let stage = Stage::new();
        let mut transaction = stage.player(1);
        let plain = stage.player(2);
        let thread = thread::spawn(move || {
            let mut tries = 0;
            loop {
                let mut owned = OwnedLocks::momentary(Arc::clone(&plain.stage.table));
                tries += 1;
                if cross(&mut owned, &plain.env, [PILOTS, SHIPS]) {
                    plain.add();
                    return tries;
                }
            }
        });
        let Player { env, owned, .. } = &mut transaction;
        assert!(cross(owned, env, [SHIPS, PILOTS]));
        transaction.add();
        drop(transaction);
        // Once it has let go, it comes after the transaction.
        assert!(thread.join().expect("its claims hold") <= 2);
        assert_eq!(stage.protected.load(Ordering::Relaxed), 2);
        assert_eq!(stage.table.statistics().held, 0);
    });
}

#[test]
fn of_two_upgraders_one_goes_on() {
    // Both read and then write: one is told, unless they came one after the other.
    fn upgrade(player: &mut Player) -> bool {
        player.lock(SHIPS, Mode::Shared).expect("it waits");
        let raised = player.lock(SHIPS, Mode::Exclusive);
        match raised {
            Ok(is_raised) => {
                assert!(is_raised);
                player.add();
            }
            Err(refused) => assert!(matches!(refused, Refused::Deadlock { .. })),
        }
        player.owned.keyspace_mode(SHIPS) == Some(Mode::Exclusive)
    }
    loom::model(|| {
        let (ended, sum) = play(upgrade, upgrade);
        assert!(ended.contains(&true));
        assert_eq!(sum, ended.iter().filter(|is_done| **is_done).count() as u64);
    });
}

#[test]
fn going_back_to_a_mark_wakes_who_waits() {
    // One makes its lock exclusive and takes that back, without ever releasing it: a reader that
    // came meanwhile is woken.
    let kept = |player: &mut Player| {
        player
            .lock(SHIPS, Mode::Shared)
            .expect("readers go together");
        let mark = player.owned.mark();
        if player.lock(SHIPS, Mode::Exclusive).is_ok() {
            player.owned.release_to(mark);
        }
        assert_eq!(player.owned.keyspace_mode(SHIPS), Some(Mode::Shared));
    };
    loom::model(move || {
        play(kept, |player| {
            player.lock(SHIPS, Mode::Shared).expect("it is woken");
        });
    });
}

#[test]
fn a_close_releases_whoever_waits() {
    // The holder closes the table, and keeps its lock until the other was refused.
    loom::model(|| {
        let stage = Stage::new();
        let (mut holder, mut waiter) = (stage.player(1), stage.player(2));
        holder.lock(SHIPS, Mode::Shared).expect("it is free");
        let thread = thread::spawn(move || waiter.lock(SHIPS, Mode::Exclusive));
        stage.table.close();
        let refused = thread.join().expect("it is woken");
        assert_eq!(refused, Err(Refused::Closed));
        drop(holder);
    });
}

#[test]
fn a_plain_write_is_seen_or_heeds_the_lock() {
    // The contract of `LockHolders`: the writer asks under the lock under which it writes, and the
    // owner passes that lock between its first lock and its first read. What it reads then stays.
    loom::model(|| {
        let table = Arc::new(LockTable::new(Arc::default(), 10));
        let written = Arc::new(loom::sync::Mutex::new(0));
        let writer = {
            let (table, written) = (Arc::clone(&table), Arc::clone(&written));
            thread::spawn(move || {
                let mut written = written.lock().expect("nobody panics");
                if !table.holders().is_any() {
                    *written += 1;
                }
            })
        };
        let env = SimWorld::new(1).env();
        let patience = Patience {
            env: &env,
            wait_max: Duration::ZERO,
        };
        let mut owned = OwnedLocks::new(Arc::clone(&table), TxnId(1));
        let taken = owned.lock_key(SHIPS, b"anna", KeyMode::Exclusive, patience);
        assert_eq!(taken, Ok(true));
        let read = || *written.lock().expect("nobody panics");
        let first = read();
        writer.join().expect("it only adds");
        assert_eq!(read(), first);
    });
}
