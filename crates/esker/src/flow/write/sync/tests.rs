//! Tests of `sync`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::base::types::error::ErrorKind;
use crate::env::pool::{Job, Priority};
use crate::env::real::pool::RealPool;
use crate::env::sim::SimWorld;

/// Counts its syncs, and fails from a given one on.
struct Probe {
    sync_count: AtomicU64,
    fails_from: u64,
}

impl Probe {
    fn new(fails_from: u64) -> Arc<Probe> {
        Arc::new(Probe {
            sync_count: AtomicU64::new(0),
            fails_from,
        })
    }

    fn count(&self) -> u64 {
        self.sync_count.load(Ordering::SeqCst)
    }
}

impl LogSync for Probe {
    fn sync(&self) -> Result<()> {
        let count = self.sync_count.fetch_add(1, Ordering::SeqCst);
        if count < self.fails_from {
            Ok(())
        } else {
            Err(Error::invalid("the disk is gone"))
        }
    }
}

fn at(segment: u64, offset: u64) -> LogPosition {
    LogPosition {
        segment: FileNumber(segment),
        offset,
    }
}

#[test]
fn a_sync_covers_all_that_was_written_before_it() {
    // Two writers wrote; the first to sync pays, the second finds its position covered.
    let world = SimWorld::new(1);
    let env = world.env();
    let (group, probe) = (SyncGroup::default(), Probe::new(u64::MAX));
    group.add_segment(FileNumber(1), probe.clone());
    group.wrote(at(1, 10));
    group.wrote(at(1, 20));
    group.sync_through(at(1, 10), &*env.pool).unwrap();
    group.sync_through(at(1, 20), &*env.pool).unwrap();
    assert_eq!(probe.count(), 1);
    group.wrote(at(1, 30));
    group.sync_through(at(1, 30), &*env.pool).unwrap();
    assert_eq!(
        (probe.count(), group.durable_in(FileNumber(1))),
        (2, Some(30))
    );
}

#[test]
fn earlier_segments_are_synced_first_and_once() {
    // A write in the second segment makes the first durable too, and then forgets it.
    let world = SimWorld::new(1);
    let env = world.env();
    let (group, first, second) = (
        SyncGroup::default(),
        Probe::new(u64::MAX),
        Probe::new(u64::MAX),
    );
    group.add_segment(FileNumber(1), first.clone());
    group.wrote(at(1, 10));
    group.add_segment(FileNumber(2), second.clone());
    group.wrote(at(2, 10));
    assert!(group.durable_in(FileNumber(2)).is_none());
    group.sync_through(at(2, 10), &*env.pool).unwrap();
    assert!(group.durable_in(FileNumber(2)).is_some());
    group.wrote(at(2, 20));
    group.sync_all(&*env.pool).unwrap();
    assert_eq!((first.count(), second.count()), (1, 2));
}

#[test]
fn after_a_failed_sync_nothing_is_tried_again() {
    // A second try could succeed although the data is gone.
    let world = SimWorld::new(1);
    let env = world.env();
    let (group, probe) = (SyncGroup::default(), Probe::new(0));
    group.add_segment(FileNumber(1), probe.clone());
    group.wrote(at(1, 10));
    let error = group.sync_through(at(1, 10), &*env.pool).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(group.sync_all(&*env.pool).is_err());
    assert_eq!(probe.count(), 1);
}

#[test]
fn after_a_failed_sync_the_background_does_not_try_again() {
    // The disk fails once and would then succeed, without the bytes that it lost.
    struct FailsOnce(AtomicU64);
    impl LogSync for FailsOnce {
        fn sync(&self) -> Result<()> {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => Err(Error::invalid("the disk is gone")),
                _ => Ok(()),
            }
        }
    }
    let world = SimWorld::new(1);
    let env = world.env();
    let (group, probe) = (SyncGroup::default(), Arc::new(FailsOnce(AtomicU64::new(0))));
    group.add_segment(FileNumber(1), probe.clone());
    group.wrote(at(1, 10));
    group.add_segment(FileNumber(2), Probe::new(u64::MAX));
    assert!(group.sync_finished(&*env.pool).is_err());
    assert!(group.sync_finished(&*env.pool).is_err());
    assert!(group.durable_in(FileNumber(2)).is_none());
    assert_eq!(probe.0.load(Ordering::SeqCst), 1);
}

#[test]
fn the_log_is_synced_between_turns_only_if_somebody_waits_for_it() {
    let world = SimWorld::new(1);
    let env = world.env();
    let (group, probe) = (SyncGroup::default(), Probe::new(u64::MAX));
    group.sync_awaited(&*env.pool).unwrap();
    group.add_segment(FileNumber(1), probe.clone());
    group.wrote(at(1, 10));
    group.sync_awaited(&*env.pool).unwrap();
    assert_eq!(probe.count(), 0);
    group.state().arrived = 1;
    group.sync_awaited(&*env.pool).unwrap();
    assert!(probe.count() == 1 && group.is_durable(at(1, 10)));
    // One who came, and found that it was durable.
    group.state().arrived = 1;
    group.sync_awaited(&*env.pool).unwrap();
    assert_eq!(probe.count(), 1);
}

/// What threads wrote to a pretended log, and how much of it is durable.
#[derive(Default)]
struct Disk {
    written: AtomicU64,
    durable: AtomicU64,
    sync_count: AtomicU64,
}

impl LogSync for Disk {
    fn sync(&self) -> Result<()> {
        let covered = self.written.load(Ordering::SeqCst);
        self.sync_count.fetch_add(1, Ordering::SeqCst);
        self.durable.fetch_max(covered, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn threads_share_syncs_and_none_returns_early() {
    // Eight threads write under a lock and sync outside it, as commits do: when a sync returns,
    // what its thread wrote is durable, and there are never more syncs than writers.
    const THREADS: usize = 8;
    const WRITES: u64 = 200;
    let pool = Arc::new(RealPool::new(THREADS));
    let (group, disk) = (Arc::new(SyncGroup::default()), Arc::new(Disk::default()));
    group.add_segment(FileNumber(1), disk.clone());
    let (writing, done) = (Arc::new(Mutex::new(0)), Arc::new(Signal::default()));
    for _ in 0..THREADS {
        let (group, disk, writing, done, own_pool) = (
            Arc::clone(&group),
            Arc::clone(&disk),
            Arc::clone(&writing),
            Arc::clone(&done),
            Arc::clone(&pool),
        );
        let job = move || {
            for _ in 0..WRITES {
                let offset = {
                    let mut end = writing.lock().unwrap();
                    *end += 1;
                    disk.written.store(*end, Ordering::SeqCst);
                    group.wrote(at(1, *end));
                    *end
                };
                group.sync_through(at(1, offset), &*own_pool).unwrap();
                assert!(disk.durable.load(Ordering::SeqCst) >= offset);
            }
            done.raise();
        };
        pool.spawn(Priority::Low, "writer", Box::new(job));
    }
    while done.raised_count() < THREADS as u64 {
        let seen = done.raised_count();
        assert!(pool.wait(&done, seen, Duration::from_secs(60)));
    }
    let total = THREADS as u64 * WRITES;
    assert!(disk.sync_count.load(Ordering::SeqCst) <= total);
    assert_eq!(group.durable_in(FileNumber(1)), Some(total));
}

/// Threads, and what lingers there does so until what it lingers for has come.
#[derive(Debug)]
struct Unhurried {
    threads: RealPool,
    linger_count: AtomicU64,
}

impl Pool for Unhurried {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        self.threads.spawn(priority, name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        self.threads.spawn_after(delay, priority, name, job);
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        self.threads.wait(signal, seen, timeout)
    }

    fn linger(&self, most: Duration, is_over: &dyn Fn() -> bool) {
        self.linger_count.fetch_add(1, Ordering::SeqCst);
        while !is_over() {
            self.threads.linger(most, is_over);
        }
    }

    fn thread_count(&self) -> usize {
        self.threads.thread_count()
    }
}

#[test]
fn who_was_synced_together_is_waited_for() {
    // Three writers ask for the same sync. So the first of them to be back waits for the two
    // others, and one sync is for all three again; who comes alone then is waited for no more.
    let pool = Arc::new(Unhurried {
        threads: RealPool::new(2),
        linger_count: AtomicU64::new(0),
    });
    let (group, disk) = (Arc::new(SyncGroup::default()), Arc::new(Disk::default()));
    group.add_segment(FileNumber(1), disk.clone());
    let done = Arc::new(Signal::default());
    let write = |offset: u64| {
        disk.written.fetch_max(offset, Ordering::SeqCst);
        group.wrote(at(1, offset));
    };
    let spawn_other = |offset: u64| {
        let (group, own_pool, done) = (Arc::clone(&group), Arc::clone(&pool), Arc::clone(&done));
        let job = move || {
            group.sync_through(at(1, offset), &*own_pool).unwrap();
            done.raise();
        };
        pool.spawn(Priority::Low, "writer", Box::new(job));
    };
    let await_others = |count: u64| {
        while done.raised_count() < count {
            pool.wait(&done, count - 1, LOOK_AGAIN);
        }
    };
    group.state().group = 3;
    for offset in [10, 20, 30] {
        write(offset);
    }
    spawn_other(10);
    spawn_other(20);
    group.sync_through(at(1, 30), &*pool).unwrap();
    await_others(2);
    assert_eq!(disk.sync_count.load(Ordering::SeqCst), 1);
    assert!(pool.linger_count.load(Ordering::SeqCst) <= 1);
    assert_eq!(group.state().group, 3);
    // The others stay away: for that the pool must not wait for ever.
    let impatient = RealPool::new(1);
    for offset in [40, 50] {
        write(offset);
        group.sync_through(at(1, offset), &impatient).unwrap();
        assert_eq!(group.state().group, 1);
    }
    assert_eq!(disk.sync_count.load(Ordering::SeqCst), 3);
}
