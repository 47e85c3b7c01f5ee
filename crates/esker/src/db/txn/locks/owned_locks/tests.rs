//! Tests of `owned_locks`: in one thread of a simulated machine, and at the end in real ones.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::db::txn::locks::lock_id::LockName;
use crate::db::txn::locks::lock_notes::LockNotes;
use crate::db::txn::locks::refused::Waiter;
use crate::env::bundle::Env;
use crate::env::clock::Clock;
use crate::env::pool::{Pool, Priority};
use crate::env::random::Random;
use crate::env::sim::SimWorld;

const SHIPS: KeyspaceId = KeyspaceId(3);
const PILOTS: KeyspaceId = KeyspaceId(4);
const MINUTE: Duration = Duration::from_secs(60);

/// A simulated machine and a lock table.
struct Stage {
    world: SimWorld,
    env: Env,
    table: Arc<LockTable>,
}

/// An owner that jobs may use, too.
type Shared = Arc<Mutex<OwnedLocks>>;

impl Stage {
    fn new() -> Stage {
        Stage::with_locks_max(1000)
    }

    fn with_locks_max(locks_max: usize) -> Stage {
        let world = SimWorld::new(1);
        Stage {
            env: world.env(),
            table: Arc::new(LockTable::new(Arc::default(), locks_max)),
            world,
        }
    }

    fn owner(&self, id: u64) -> OwnedLocks {
        OwnedLocks::new(Arc::clone(&self.table), TxnId(id))
    }

    fn shared(&self, id: u64) -> Shared {
        Arc::new(Mutex::new(self.owner(id)))
    }

    fn now(&self) -> Patience<'_> {
        self.patience(Duration::ZERO)
    }

    fn patience(&self, wait_max: Duration) -> Patience<'_> {
        Patience {
            env: &self.env,
            wait_max,
        }
    }

    /// What runs on the thread of whoever waits, when `delay` is over.
    fn later(&self, delay: Duration, job: impl FnOnce() + Send + 'static) {
        let pool = &self.world.pool;
        pool.spawn_after(delay, Priority::Low, "test", Box::new(job));
    }

    fn release_later(&self, delay: Duration, owner: &Shared) {
        let owner = Arc::clone(owner);
        self.later(delay, move || owner.lock().unwrap().release_all());
    }

    /// Nothing is left of anybody.
    fn assert_idle(&self) {
        let statistics = self.table.statistics();
        let left = (statistics.held, statistics.holding, statistics.waiting);
        assert_eq!(left, (0, 0, 0));
        assert!(!self.table.holders().is_any());
    }
}

fn timeout(holder: u64, name: LockName) -> Result<bool, Refused> {
    let holder = TxnId(holder);
    Err(Refused::Timeout { holder, name })
}

fn ship(key: &[u8]) -> LockName {
    LockName::of_key(SHIPS, key)
}

#[test]
fn a_lock_is_held_until_its_owner_goes() {
    // Refused to another, told by whom; free once the owner was dropped.
    let stage = Stage::new();
    let (mut one, mut other) = (stage.owner(1), stage.owner(2));
    let exclusive = KeyMode::Exclusive;
    assert_eq!(
        one.lock_key(SHIPS, b"anna", exclusive, stage.now()),
        Ok(true)
    );
    assert_eq!(
        one.lock_key(SHIPS, b"anna", exclusive, stage.now()),
        Ok(false)
    );
    let shared = KeyMode::Shared;
    assert_eq!(one.lock_key(SHIPS, b"anna", shared, stage.now()), Ok(false));
    let refused = other.lock_key(SHIPS, b"anna", shared, stage.now());
    assert_eq!(refused, timeout(1, ship(b"anna")));
    // Another key, and the same one elsewhere.
    assert_eq!(
        other.lock_key(SHIPS, b"berta", exclusive, stage.now()),
        Ok(true)
    );
    assert_eq!(
        other.lock_key(PILOTS, b"anna", exclusive, stage.now()),
        Ok(true)
    );
    drop(one);
    assert_eq!(
        other.lock_key(SHIPS, b"anna", shared, stage.now()),
        Ok(true)
    );
    assert_eq!(other.key_count(), 3);
    // Nobody waited.
    assert_eq!(stage.table.statistics().counts.waits, 0);
    drop(other);
    stage.assert_idle();
}

#[test]
fn a_wait_ends_when_the_lock_is_released() {
    // The holder goes after two seconds, of ten.
    let stage = Stage::new();
    let holder = stage.shared(1);
    let exclusive = KeyMode::Exclusive;
    let taken = holder
        .lock()
        .unwrap()
        .lock_key(SHIPS, b"anna", exclusive, stage.now());
    assert_eq!(taken, Ok(true));
    stage.release_later(Duration::from_secs(2), &holder);
    let mut owner = stage.owner(2);
    let patience = stage.patience(Duration::from_secs(10));
    assert_eq!(
        owner.lock_key(SHIPS, b"anna", exclusive, patience),
        Ok(true)
    );
    assert_eq!(stage.world.clock.monotonic(), Duration::from_secs(2));
    let counts = stage.table.statistics().counts;
    assert_eq!((counts.waits, counts.timeouts), (1, 0));
    assert_eq!(counts.waited, Duration::from_secs(2));
    assert_eq!(stage.table.statistics().held, 2);
}

#[test]
fn a_wait_ends_with_its_time() {
    // Nobody releases anything: after exactly the time that was allowed it is over.
    let stage = Stage::new();
    let (mut one, mut other) = (stage.owner(1), stage.owner(2));
    let exclusive = KeyMode::Exclusive;
    assert_eq!(
        one.lock_key(SHIPS, b"anna", exclusive, stage.now()),
        Ok(true)
    );
    let patience = stage.patience(Duration::from_secs(7200 + 5));
    let refused = other.lock_key(SHIPS, b"anna", exclusive, patience);
    assert_eq!(refused, timeout(1, ship(b"anna")));
    assert_eq!(stage.world.clock.monotonic(), Duration::from_secs(7205));
    let counts = stage.table.statistics().counts;
    assert_eq!((counts.waits, counts.timeouts), (1, 1));
    assert_eq!(counts.waited, Duration::from_secs(7205));
    // It waits no longer, so nothing is handed to it later.
    drop(one);
    assert_eq!(other.key_count(), 0);
    drop(other);
    stage.assert_idle();
}

#[test]
fn keyspace_and_key_share_the_time() {
    // The keyspace is free after six seconds of ten, the key never: ten in all.
    let stage = Stage::new();
    let whole = stage.shared(1);
    let exclusive = KeyMode::Exclusive;
    let taken = whole
        .lock()
        .unwrap()
        .lock_keyspace(SHIPS, Mode::Shared, stage.now());
    assert_eq!(taken, Ok(true));
    let whole_in_job = Arc::clone(&whole);
    let env = stage.env.clone();
    stage.later(Duration::from_secs(6), move || {
        let mut whole = whole_in_job.lock().unwrap();
        whole.release_all();
        let patience = Patience {
            env: &env,
            wait_max: Duration::ZERO,
        };
        let taken = whole.lock_key(SHIPS, b"anna", exclusive, patience);
        assert_eq!(taken, Ok(true));
    });
    let mut owner = stage.owner(2);
    let patience = stage.patience(Duration::from_secs(10));
    let refused = owner.lock_key(SHIPS, b"anna", exclusive, patience);
    assert_eq!(refused, timeout(1, ship(b"anna")));
    assert_eq!(stage.world.clock.monotonic(), Duration::from_secs(10));
    // It was refused the key, and has the intention.
    let held = owner.keyspace_mode(SHIPS);
    assert_eq!(held, Some(Mode::IntentionExclusive));
}

#[test]
fn writers_of_keys_and_a_scan_exclude_one_another() {
    // Serializable without locks of gaps: the scan reads all keys, those too that are not there.
    let stage = Stage::new();
    let (mut scan, mut writer) = (stage.owner(1), stage.owner(2));
    assert_eq!(
        scan.lock_keyspace(SHIPS, Mode::Shared, stage.now()),
        Ok(true)
    );
    assert_eq!(
        scan.lock_keyspace(SHIPS, Mode::Shared, stage.now()),
        Ok(false)
    );
    let refused = writer.lock_key(SHIPS, b"new", KeyMode::Exclusive, stage.now());
    assert_eq!(refused, timeout(1, LockName::of_keyspace(SHIPS)));
    assert!(writer.keyspace_mode(SHIPS).is_none());
    assert_eq!(
        writer.lock_key(SHIPS, b"new", KeyMode::Shared, stage.now()),
        Ok(true)
    );
    // What the scan has read it need not lock again; what it writes it must.
    assert_eq!(
        scan.lock_key(SHIPS, b"new", KeyMode::Shared, stage.now()),
        Ok(false)
    );
    assert_eq!(
        scan.lock_key(SHIPS, b"old", KeyMode::Exclusive, stage.now()),
        Ok(true)
    );
    let mode = scan.keyspace_mode(SHIPS);
    assert_eq!(mode, Some(Mode::SharedIntentionExclusive));
    let refused = scan.lock_key(SHIPS, b"new", KeyMode::Exclusive, stage.now());
    assert_eq!(refused, timeout(2, ship(b"new")));
}

#[test]
fn what_was_locked_after_a_mark_is_released() {
    // A savepoint between two statements: the first keeps its locks in the modes that it took.
    let stage = Stage::new();
    let (mut owner, mut other) = (stage.owner(1), stage.owner(2));
    assert_eq!(
        owner.lock_key(SHIPS, b"read", KeyMode::Shared, stage.now()),
        Ok(true)
    );
    let mark = owner.mark();
    for key in [&b"read"[..], b"new"] {
        let raised = owner.lock_key(SHIPS, key, KeyMode::Exclusive, stage.now());
        assert_eq!(raised, Ok(true));
    }
    assert_eq!(
        owner.lock_keyspace(PILOTS, Mode::Exclusive, stage.now()),
        Ok(true)
    );
    let later = owner.mark();
    let refused = other.lock_key(SHIPS, b"read", KeyMode::Shared, stage.now());
    assert_eq!(refused, timeout(1, ship(b"read")));
    owner.release_to(mark);
    assert_eq!(owner.key_count(), 1);
    let held = [SHIPS, PILOTS].map(|keyspace| owner.keyspace_mode(keyspace));
    assert_eq!(held, [Some(Mode::IntentionShared), None]);
    assert_eq!(
        other.lock_key(SHIPS, b"read", KeyMode::Shared, stage.now()),
        Ok(true)
    );
    assert_eq!(
        other.lock_key(SHIPS, b"new", KeyMode::Exclusive, stage.now()),
        Ok(true)
    );
    assert_eq!(
        other.lock_keyspace(PILOTS, Mode::Exclusive, stage.now()),
        Ok(true)
    );
    let refused = other.lock_key(SHIPS, b"read", KeyMode::Exclusive, stage.now());
    assert_eq!(refused, timeout(1, ship(b"read")));
    // A mark behind the present is no mark any more.
    owner.release_to(later);
    assert_eq!(owner.key_count(), 1);
    drop((owner, other));
    stage.assert_idle();
}

#[test]
fn going_back_wakes_who_waits_for_it() {
    // A reader waits for a key that was made exclusive after the mark.
    let stage = Stage::new();
    let owner = stage.shared(1);
    let mark = {
        let mut owner = owner.lock().unwrap();
        let taken = owner.lock_key(SHIPS, b"anna", KeyMode::Shared, stage.now());
        assert_eq!(taken, Ok(true));
        let mark = owner.mark();
        let taken = owner.lock_key(SHIPS, b"anna", KeyMode::Exclusive, stage.now());
        assert_eq!(taken, Ok(true));
        mark
    };
    let in_job = Arc::clone(&owner);
    stage.later(MINUTE / 2, move || in_job.lock().unwrap().release_to(mark));
    let mut reader = stage.owner(2);
    let taken = reader.lock_key(SHIPS, b"anna", KeyMode::Shared, stage.patience(MINUTE));
    assert_eq!(taken, Ok(true));
    assert_eq!(stage.world.clock.monotonic(), MINUTE / 2);
}

#[test]
fn who_closes_a_circle_is_told_it() {
    // 1 has anna and waits for berta; 2 has berta and asks for anna. It is told at once, and 1 goes
    // on when it gives up.
    let stage = Stage::new();
    let mut one = stage.owner(1);
    let two = stage.shared(2);
    let exclusive = KeyMode::Exclusive;
    assert_eq!(
        one.lock_key(SHIPS, b"anna", exclusive, stage.now()),
        Ok(true)
    );
    let taken = two
        .lock()
        .unwrap()
        .lock_key(SHIPS, b"berta", exclusive, stage.now());
    assert_eq!(taken, Ok(true));
    let (table, env, in_job) = (
        Arc::clone(&stage.table),
        stage.env.clone(),
        Arc::clone(&two),
    );
    stage.later(Duration::from_secs(1), move || {
        let patience = Patience {
            env: &env,
            wait_max: MINUTE,
        };
        let mut two = in_job.lock().unwrap();
        let waiter = |owner, key| Waiter {
            owner: TxnId(owner),
            mode: Mode::Exclusive,
            name: ship(key),
        };
        // As whoever looks into the database sees it.
        let listed = table.waiting_owners(10);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].waiter, waiter(1, b"berta"));
        assert_eq!(listed[0].blockers, [TxnId(2)]);
        assert_eq!(table.waiting_owners(0), []);
        let refused = two.lock_key(SHIPS, b"anna", exclusive, patience);
        let cycle = vec![waiter(2, b"anna"), waiter(1, b"berta")];
        assert_eq!(refused, Err(Refused::Deadlock { cycle }));
        // It keeps what it had, so the other still waits.
        assert_eq!(table.statistics().waiting, 1);
        two.release_all();
    });
    let taken = one.lock_key(SHIPS, b"berta", exclusive, stage.patience(MINUTE));
    assert_eq!(taken, Ok(true));
    assert_eq!(stage.world.clock.monotonic(), Duration::from_secs(1));
    let counts = stage.table.statistics().counts;
    assert_eq!((counts.waits, counts.deadlocks, counts.timeouts), (2, 1, 0));
}

#[test]
fn two_upgraders_are_a_deadlock_told_at_once() {
    // Both read the same key and want to write it.
    let stage = Stage::new();
    let mut one = stage.owner(1);
    let two = stage.shared(2);
    let shared = KeyMode::Shared;
    assert_eq!(one.lock_key(SHIPS, b"anna", shared, stage.now()), Ok(true));
    let taken = two
        .lock()
        .unwrap()
        .lock_key(SHIPS, b"anna", shared, stage.now());
    assert_eq!(taken, Ok(true));
    let (env, in_job) = (stage.env.clone(), Arc::clone(&two));
    stage.later(Duration::ZERO, move || {
        let patience = Patience {
            env: &env,
            wait_max: MINUTE,
        };
        let mut two = in_job.lock().unwrap();
        let refused = two.lock_key(SHIPS, b"anna", KeyMode::Exclusive, patience);
        let Err(Refused::Deadlock { cycle }) = refused else {
            panic!("no deadlock: {refused:?}");
        };
        let owners: Vec<_> = cycle.iter().map(|waiter| waiter.owner.0).collect();
        assert_eq!(owners, [2, 1]);
        two.release_all();
    });
    let patience = stage.patience(MINUTE);
    let raised = one.lock_key(SHIPS, b"anna", KeyMode::Exclusive, patience);
    assert_eq!(raised, Ok(true));
    assert_eq!(stage.world.clock.monotonic(), Duration::ZERO);
}

#[test]
fn a_panic_while_waiting_leaves_nothing_behind() {
    // A background job panics on the thread that waits: before the lock was handed over, and after.
    for is_released_first in [false, true] {
        let stage = Stage::new();
        let holder = stage.shared(1);
        let exclusive = KeyMode::Exclusive;
        let taken = holder
            .lock()
            .unwrap()
            .lock_key(SHIPS, b"anna", exclusive, stage.now());
        assert_eq!(taken, Ok(true));
        let in_job = Arc::clone(&holder);
        stage.later(Duration::ZERO, move || {
            if is_released_first {
                in_job.lock().unwrap().release_all();
            }
            panic!("as a merge operator may");
        });
        let mut waiter = stage.owner(2);
        let patience = stage.patience(MINUTE);
        let wait = || waiter.lock_key(SHIPS, b"anna", exclusive, patience);
        assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
        assert_eq!(stage.table.statistics().waiting, 0);
        let mut next = stage.owner(3);
        let taken = next.lock_key(SHIPS, b"anna", exclusive, stage.now());
        assert_eq!(taken.is_ok(), is_released_first);
        holder.lock().unwrap().release_all();
        let taken = next.lock_key(SHIPS, b"anna", exclusive, stage.now());
        assert_eq!(taken, Ok(!is_released_first));
        drop((waiter, next));
        stage.assert_idle();
    }
}

#[test]
fn a_panic_while_waiting_keeps_what_was_held_before() {
    // The wait was for an upgrade, and it was granted when the job panicked.
    let stage = Stage::new();
    let mut reader = stage.owner(1);
    let other = stage.shared(2);
    let shared = KeyMode::Shared;
    assert_eq!(
        reader.lock_key(SHIPS, b"anna", shared, stage.now()),
        Ok(true)
    );
    let taken = other
        .lock()
        .unwrap()
        .lock_key(SHIPS, b"anna", shared, stage.now());
    assert_eq!(taken, Ok(true));
    let in_job = Arc::clone(&other);
    stage.later(Duration::ZERO, move || {
        in_job.lock().unwrap().release_all();
        panic!("as a merge operator may");
    });
    let patience = stage.patience(MINUTE);
    let wait = || reader.lock_key(SHIPS, b"anna", KeyMode::Exclusive, patience);
    assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
    let mut next = stage.owner(3);
    assert_eq!(next.lock_key(SHIPS, b"anna", shared, stage.now()), Ok(true));
    let refused = next.lock_key(SHIPS, b"anna", KeyMode::Exclusive, stage.now());
    assert_eq!(refused, timeout(1, ship(b"anna")));
}

#[test]
fn an_owner_of_too_many_locks_goes_on_with_the_keyspace() {
    // At most three keys; those it has stay, and the keyspace covers all others.
    let stage = Stage::with_locks_max(3);
    let mut owner = stage.owner(1);
    let mut lock = |key: &[u8], mode| owner.lock_key(SHIPS, key, mode, stage.now());
    for key in [b"a", b"b", b"c"] {
        assert_eq!(lock(key, KeyMode::Shared), Ok(true));
    }
    let too_many = Err(Refused::TooMany { locks_max: 3 });
    assert_eq!(lock(b"d", KeyMode::Exclusive), too_many);
    assert_eq!(lock(b"a", KeyMode::Exclusive), Ok(true));
    let mark = owner.mark();
    assert_eq!(
        owner.lock_keyspace(SHIPS, Mode::Exclusive, stage.now()),
        Ok(true)
    );
    let mut lock = |key: &[u8], mode| owner.lock_key(SHIPS, key, mode, stage.now());
    assert_eq!(lock(b"d", KeyMode::Exclusive), Ok(false));
    // Before the keyspace was locked, the keys were, and are.
    owner.release_to(mark);
    let mut other = stage.owner(2);
    let refused = other.lock_key(SHIPS, b"b", KeyMode::Exclusive, stage.now());
    assert_eq!(refused, timeout(1, ship(b"b")));
    let too_many = owner.lock_key(SHIPS, b"d", KeyMode::Shared, stage.now());
    assert_eq!(too_many, Err(Refused::TooMany { locks_max: 3 }));
    // Who would rather have the whole gets it, as soon as nobody else is inside.
    let mut all = |mode| owner.lock_key_or_keyspace(SHIPS, b"d", mode, stage.now());
    assert_eq!(
        all(KeyMode::Shared),
        timeout(2, LockName::of_keyspace(SHIPS))
    );
    drop(other);
    assert_eq!(all(KeyMode::Shared), Ok(true));
    assert_eq!(all(KeyMode::Shared), Ok(false));
    assert_eq!(all(KeyMode::Exclusive), Ok(true));
    assert_eq!(owner.keyspace_mode(SHIPS), Some(Mode::Exclusive));
    let held = stage.table.held_by_owner();
    assert_eq!(held, [(TxnId(1), 4)].into());
}

#[test]
fn only_those_who_hold_for_long_are_to_be_heeded() {
    // A plain write passes through while a transaction is there, and another when it is gone.
    let stage = Stage::new();
    assert!(!stage.table.holders().is_any());
    let mut momentary = OwnedLocks::momentary(Arc::clone(&stage.table));
    let by = momentary.owner().0;
    assert!(momentary.owner().is_momentary());
    assert_eq!(
        momentary.lock_key(SHIPS, b"anna", KeyMode::Exclusive, stage.now()),
        Ok(true)
    );
    assert!(!stage.table.holders().is_any());
    // It keeps others out all the same; the refused one has announced itself, and holds that.
    let mut owner = stage.owner(1);
    assert!(!owner.owner().is_momentary());
    let refused = owner.lock_key(SHIPS, b"anna", KeyMode::Shared, stage.now());
    assert_eq!(refused, timeout(by, ship(b"anna")));
    assert!(stage.table.holders().is_any());
    owner.release_all();
    assert!(!stage.table.holders().is_any());
    // One that was refused everything holds nothing.
    let refused = owner.lock_keyspace(SHIPS, Mode::Exclusive, stage.now());
    assert_eq!(refused, timeout(by, LockName::of_keyspace(SHIPS)));
    assert!(!stage.table.holders().is_any());
    drop((owner, momentary));
    stage.assert_idle();
}

#[test]
fn who_writes_beside_others_locks_each_key_against_the_rest() {
    // Two plain writes go together; a transaction that has locked neither key waits for both.
    let stage = Stage::with_locks_max(1);
    let momentary = || OwnedLocks::momentary(Arc::clone(&stage.table));
    let (mut one, mut other) = (momentary(), momentary());
    let beside = KeyMode::Beside;
    for owned in [&mut one, &mut other] {
        let mut lock = |key: &[u8]| owned.lock_key(SHIPS, key, beside, stage.now());
        assert_eq!(lock(b"anna"), Ok(true));
        assert_eq!(lock(b"anna"), Ok(false));
        // What it has announced of the keyspace does not stand for another key.
        assert_eq!(lock(b"berta"), Err(Refused::TooMany { locks_max: 1 }));
    }
    let mut reader = stage.owner(1);
    for mode in [KeyMode::Shared, KeyMode::Exclusive] {
        let refused = reader.lock_key(SHIPS, b"anna", mode, stage.now());
        assert!(matches!(refused, Err(Refused::Timeout { .. })));
    }
    reader.release_all();
    drop(other);
    // Of too many keys it has the keyspace, for itself alone.
    let taken = one.lock_key_or_keyspace(SHIPS, b"berta", beside, stage.now());
    assert_eq!(taken, Ok(true));
    assert_eq!(one.keyspace_mode(SHIPS), Some(Mode::Exclusive));
    drop((one, reader));
    stage.assert_idle();
}

#[test]
fn nobody_waits_for_locks_of_a_closed_database() {
    // One waits when it is closed, another comes later; whoever holds a lock may give it back.
    let stage = Stage::new();
    let (mut one, mut other) = (stage.owner(1), stage.owner(2));
    let exclusive = KeyMode::Exclusive;
    assert_eq!(
        one.lock_key(SHIPS, b"anna", exclusive, stage.now()),
        Ok(true)
    );
    let table = Arc::clone(&stage.table);
    stage.later(Duration::from_secs(1), move || table.close());
    for _ in 0..2 {
        let refused = other.lock_key(SHIPS, b"anna", exclusive, stage.patience(MINUTE));
        assert_eq!(refused, Err(Refused::Closed));
        assert_eq!(stage.world.clock.monotonic(), Duration::from_secs(1));
    }
    drop((one, other));
    stage.assert_idle();
}

/// Threads that move amounts between accounts under locks, and readers that sum them all up.
struct Bank {
    table: Arc<LockTable>,
    env: Env,
    /// Relaxed loads and stores: the locks alone keep them apart.
    accounts: [AtomicU64; Bank::ACCOUNT_COUNT],
}

impl Bank {
    const ACCOUNT_COUNT: usize = 6;
    const AMOUNT: u64 = 1 << 32;
    const KEYSPACE: KeyspaceId = KeyspaceId(1);

    fn balance(&self, account: usize) -> u64 {
        self.accounts[account].load(Ordering::Relaxed)
    }

    /// Locks accounts in the order in which they are named: two who name them in another order are
    /// in one another's way. `false` if this one was told so.
    fn lock(&self, owned: &mut OwnedLocks, accounts: &[usize], mode: KeyMode) -> bool {
        // Nothing waits for so long: whoever times out is a thread that nobody has woken.
        let patience = Patience {
            env: &self.env,
            wait_max: Duration::from_secs(600),
        };
        for account in accounts {
            let key = account.to_be_bytes();
            match owned.lock_key(Bank::KEYSPACE, &key, mode, patience) {
                Ok(_) => {}
                Err(Refused::Deadlock { .. }) => return false,
                Err(refused) => panic!("{refused:?}"),
            }
        }
        true
    }

    /// Reads two accounts, then raises both locks and writes: half the deadlocks are by that.
    fn transfer(&self, owned: &mut OwnedLocks, from: usize, to: usize) -> bool {
        let pair = [from, to];
        if !self.lock(owned, &pair, KeyMode::Shared) {
            return false;
        }
        let before = pair.map(|account| self.balance(account));
        // Another thread may have its turn while this one is inside.
        std::thread::yield_now();
        if !self.lock(owned, &pair, KeyMode::Exclusive) {
            return false;
        }
        self.accounts[from].store(before[0] - 1, Ordering::Relaxed);
        self.accounts[to].store(before[1] + 1, Ordering::Relaxed);
        true
    }

    /// Sums up under the lock of the whole keyspace.
    fn audit(&self, owned: &mut OwnedLocks) -> bool {
        let patience = Patience {
            env: &self.env,
            wait_max: Duration::from_secs(600),
        };
        match owned.lock_keyspace(Bank::KEYSPACE, Mode::Shared, patience) {
            Ok(_) => {}
            Err(Refused::Deadlock { .. }) => return false,
            Err(refused) => panic!("{refused:?}"),
        }
        let sum: u64 = (0..Bank::ACCOUNT_COUNT)
            .map(|account| self.balance(account))
            .sum();
        assert_eq!(sum, Bank::AMOUNT * Bank::ACCOUNT_COUNT as u64);
        true
    }

    /// Does one thing after the other, each until it is done, and until the owners have been in one
    /// another's way often enough.
    fn work(&self, seed: u64) {
        let mut random = Random::new(seed);
        let mut account = || random.below(Bank::ACCOUNT_COUNT as u64) as usize;
        for index in 0.. {
            if index % 64 == 0 && self.is_tried() {
                break;
            }
            let (from, to) = (account(), account());
            if from == to {
                continue;
            }
            loop {
                let mut owned = OwnedLocks::new(Arc::clone(&self.table), TxnId(seed));
                let is_done = match index % 8 {
                    0 => self.audit(&mut owned),
                    _ => self.transfer(&mut owned, from, to),
                };
                if is_done {
                    break;
                }
            }
        }
    }

    fn is_tried(&self) -> bool {
        let counts = self.table.statistics().counts;
        counts.waits >= 500 && counts.deadlocks >= 20
    }
}

#[test]
fn threads_make_progress_and_lose_nothing() {
    // Four threads: every deadlock is told to somebody, every release wakes whom it should, and no
    // two are ever inside together. That the test ends is what it shows.
    let bank = Bank {
        table: Arc::new(LockTable::new(Arc::default(), 1000)),
        env: Env::real(1),
        accounts: [const { AtomicU64::new(Bank::AMOUNT) }; Bank::ACCOUNT_COUNT],
    };
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let bank = &bank;
            scope.spawn(move || bank.work(seed));
        }
    });
    let mut owned = OwnedLocks::new(Arc::clone(&bank.table), TxnId(5));
    assert!(bank.audit(&mut owned));
    drop(owned);
    let statistics = bank.table.statistics();
    let left = (statistics.held, statistics.holding, statistics.waiting);
    assert_eq!(left, (0, 0, 0));
    assert_eq!(statistics.counts.timeouts, 0);
}

#[test]
fn keys_of_reads_that_do_not_matter_are_given_back_alone() {
    // Those taken since the mark, and what was raised since; the intention stays for the next.
    let stage = Stage::new();
    let (mut one, mut other) = (stage.owner(1), stage.owner(2));
    let (shared, exclusive) = (KeyMode::Shared, KeyMode::Exclusive);
    let start = one.mark();
    for key in [b"anna", b"bert"] {
        assert_eq!(one.lock_key(SHIPS, key, shared, stage.now()), Ok(true));
        if key == b"anna" {
            assert!(one.release_keys_since(start));
            assert_eq!(one.key_count(), 0);
            assert_eq!(one.keyspace_mode(SHIPS), Some(Mode::IntentionShared));
            assert!(one.is_holding());
        }
    }
    let before = one.mark();
    assert_eq!(
        one.lock_key(SHIPS, b"bert", exclusive, stage.now()),
        Ok(true)
    );
    assert_eq!(
        one.lock_key(SHIPS, b"cleo", exclusive, stage.now()),
        Ok(true)
    );
    assert!(one.release_keys_since(before));
    assert_eq!(one.key_count(), 1);
    // What it held before the mark it holds as before.
    for (key, mode, is_free) in [
        (b"anna", exclusive, true),
        (b"bert", shared, true),
        (b"bert", exclusive, false),
        (b"cleo", exclusive, true),
    ] {
        let got = other.lock_key(SHIPS, key, mode, stage.now());
        assert_eq!(got.is_ok(), is_free, "{key:?}");
    }
    drop((one, other));
    stage.assert_idle();
}

#[test]
fn locks_of_what_was_written_are_not_given_back_alone() {
    // Kept up to there; what is taken later may go, and what is kept goes with a mark before.
    let stage = Stage::new();
    let mut one = stage.owner(1);
    let exclusive = KeyMode::Exclusive;
    let start = one.mark();
    let lock = |one: &mut OwnedLocks, key: &[u8]| {
        assert_eq!(one.lock_key(SHIPS, key, exclusive, stage.now()), Ok(true));
    };
    lock(&mut one, b"anna");
    one.keep();
    assert!(!one.release_keys_since(start));
    let written = one.mark();
    lock(&mut one, b"bert");
    assert!(one.release_keys_since(written));
    assert_eq!(one.key_count(), 1);
    one.release_to(start);
    lock(&mut one, b"cleo");
    assert!(one.release_keys_since(start));
    assert_eq!(one.key_count(), 0);
    // A mark to which nothing leads any more.
    assert!(!one.release_keys_since(LockMark::numbered(9)));
    drop(one);
    stage.assert_idle();
}

#[test]
fn notes_say_what_is_held_and_since_when() {
    // Through takes, raises, releases of both kinds, and beyond what is noted.
    let stage = Stage::new();
    let notes = Arc::new(LockNotes::default());
    let mut one = stage.owner(1).noted_in(Arc::clone(&notes));
    let names = |notes: &LockNotes| -> Vec<_> {
        let listed = notes.list().into_iter();
        listed.map(|noted| (noted.name, noted.since)).collect()
    };
    let since = stage.env.clock.monotonic();
    let whole = LockName::of_keyspace(SHIPS);
    one.lock_key(SHIPS, b"anna", KeyMode::Shared, stage.now())
        .unwrap();
    stage.world.clock.advance(Duration::from_secs(5));
    let later = stage.env.clock.monotonic();
    let mark = one.mark();
    one.lock_key(SHIPS, b"anna", KeyMode::Exclusive, stage.now())
        .unwrap();
    one.lock_key(SHIPS, b"bert", KeyMode::Exclusive, stage.now())
        .unwrap();
    let expected = vec![
        (whole.clone(), since),
        (ship(b"anna"), since),
        (ship(b"bert"), later),
    ];
    assert_eq!(names(&notes), expected);
    assert!(one.release_keys_since(mark));
    one.lock_key(SHIPS, b"cleo", KeyMode::Exclusive, stage.now())
        .unwrap();
    let expected = vec![
        (whole, since),
        (ship(b"anna"), since),
        (ship(b"cleo"), later),
    ];
    assert_eq!(names(&notes), expected);
    one.release_all();
    assert_eq!(names(&notes), []);
    drop(one);

    let table = Stage::with_locks_max(10 * NOTED_LOCKS_MAX);
    let mut many = table.owner(2).noted_in(Arc::clone(&notes));
    for key in 0..2 * NOTED_LOCKS_MAX {
        let key = key.to_be_bytes();
        many.lock_key(SHIPS, &key, KeyMode::Exclusive, table.now())
            .unwrap();
    }
    assert_eq!(notes.list().len(), NOTED_LOCKS_MAX);
    let last = many.mark();
    many.lock_key(SHIPS, b"last", KeyMode::Exclusive, table.now())
        .unwrap();
    assert!(many.release_keys_since(last));
    assert_eq!(notes.list().len(), NOTED_LOCKS_MAX);
    many.release_all();
    assert_eq!(notes.list(), []);
    // Long keys fill it sooner; then nothing behind them is noted either.
    let long = vec![7; 60_000];
    for key in [&b"anna"[..], &long, &[&long[..], b"1"].concat(), b"bert"] {
        many.lock_key(SHIPS, key, KeyMode::Exclusive, table.now())
            .unwrap();
    }
    let listed: Vec<_> = notes.list().into_iter().map(|noted| noted.name).collect();
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[2], ship(&long));
    drop(many);
    table.assert_idle();
}
