//! The write controller: how much memory memtables may take, and how fast keyspaces may write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::base::hooks::event_reasons::StallCause;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::user_code;
use crate::env::bundle::Env;
use crate::env::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::env::primitives::{Mutex, MutexGuard, RwLock};
use crate::flow::rate_limiter::{RATE_UNLIMITED, RateLimiter};
use crate::flow::write::gate::Gate;
use crate::flow::write::stall_watch::StallWatch;
use crate::store::batch::writer::Batch;

/// How long a writer waits for memory before it looks again by itself; the signal wakes it.
pub const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Longest single wait for the rate: the next write is held back by what this one was spared, and
/// a rate that was raised meanwhile is felt within this time.
const DELAY_MAX: Duration = Duration::from_millis(50);

/// However much readers hold, memtables share this part of the budget: writers go on, with small
/// flushes.
const FLOOR_DIVISOR: usize = 32;

/// What memtables share.
#[derive(Clone, Copy, Debug)]
struct Memory {
    budget_bytes: usize,
    /// What flushed ones take that readers hold.
    pinned_bytes: usize,
}

/// Memory and rates of the write path. Set from above, read by every write.
#[derive(Debug)]
pub struct WriteController {
    memory: Mutex<Memory>,
    /// What follows from `memory`: every write looks at it.
    live_bytes_max: AtomicUsize,
    sealed_bytes: AtomicUsize,
    /// Those of them whose flush waits for the user's own log.
    parked_bytes: AtomicUsize,
    log_bytes_max: AtomicU64,
    /// Its signal is what writers wait on: for memory, for a rate, or to be refused.
    gate: Arc<Gate>,
    is_any_limited: AtomicBool,
    rates: RwLock<BTreeMap<KeyspaceId, KeyspaceRate>>,
    stalled_ns: AtomicU64,
    /// Who waits for memtables to be flushed.
    waiting: StallWatch,
}

/// How fast one keyspace may write, and what makes it slower than it would be.
#[derive(Debug, Default)]
struct KeyspaceRate {
    limiter: RateLimiter,
    hindrance: Option<String>,
    debt_bytes: u64,
}

impl Memory {
    /// What those may take now that are not flushed. Flushed ones that readers hold count beside
    /// it, at the cost of the cache, up to one and a half times the budget, so that a few long
    /// scans slow nobody down; beyond that each new cursor pins less than the one before, whatever
    /// is written meanwhile.
    fn left_bytes(&self) -> usize {
        let budget = self.budget_bytes;
        let left = (budget.saturating_mul(5) / 2).saturating_sub(self.pinned_bytes);
        left.clamp(budget / FLOOR_DIVISOR, budget)
    }

    fn live_bytes_max(&self) -> usize {
        self.left_bytes() / 3
    }
}

// All atomics here are advice that writers act on a little earlier or later, so Relaxed will do.
impl WriteController {
    /// A controller for memtables of `budget_bytes` in all, and for a log of `log_bytes_max`,
    /// behind that gate.
    pub fn new(budget_bytes: usize, log_bytes_max: u64, gate: Arc<Gate>) -> WriteController {
        let memory = Memory {
            budget_bytes,
            pinned_bytes: 0,
        };
        WriteController {
            memory: Mutex::new(memory),
            live_bytes_max: AtomicUsize::new(memory.live_bytes_max()),
            sealed_bytes: AtomicUsize::new(0),
            parked_bytes: AtomicUsize::new(0),
            log_bytes_max: AtomicU64::new(log_bytes_max),
            gate,
            is_any_limited: AtomicBool::new(false),
            rates: RwLock::default(),
            stalled_ns: AtomicU64::new(0),
            waiting: StallWatch::new(StallCause::MemtableLimit),
        }
    }

    /// Most bytes that live memtables may take: a third, so that two thirds can wait for their
    /// flush while writers go on.
    pub fn live_bytes_max(&self) -> usize {
        self.live_bytes_max.load(Ordering::Relaxed)
    }

    /// Bytes of pages of earlier memtables that may wait for the next ones, where live and sealed
    /// ones have `held_bytes`: what the budget has left, and no more than four times that, so that
    /// little waits where little is written.
    pub fn spare_bytes_max(&self, held_bytes: usize) -> usize {
        let Memory {
            budget_bytes,
            pinned_bytes,
        } = *self.memory();
        let left = budget_bytes.saturating_sub(held_bytes + pinned_bytes);
        left.min(held_bytes.saturating_mul(4))
    }

    /// Bytes of log from which the memtable that pins the oldest segment is sealed.
    pub fn log_bytes_max(&self) -> u64 {
        self.log_bytes_max.load(Ordering::Relaxed)
    }

    /// Sets what memtables and the log may take, as in [`WriteController::new`], and wakes who
    /// waits.
    pub fn set_budget(&self, budget_bytes: usize, log_bytes_max: u64) {
        self.set_memory(|memory| memory.budget_bytes = budget_bytes);
        self.log_bytes_max.store(log_bytes_max, Ordering::Relaxed);
        self.gate.changed.raise();
    }

    /// Tells how many bytes of memtables are sealed and not flushed, and wakes who waits.
    pub fn set_sealed_bytes(&self, bytes: usize) {
        self.sealed_bytes.store(bytes, Ordering::Relaxed);
        self.gate.changed.raise();
    }

    /// Tells how many bytes of flushed memtables readers hold, and wakes who waits when they are
    /// fewer.
    pub fn set_pinned_bytes(&self, bytes: usize) {
        let before = self.set_memory(|memory| memory.pinned_bytes = bytes);
        if bytes < before.pinned_bytes {
            self.gate.changed.raise();
        }
    }

    /// Bytes of memtables that are sealed and not flushed, as last told.
    pub fn sealed_bytes(&self) -> usize {
        self.sealed_bytes.load(Ordering::Relaxed)
    }

    /// Time that writers waited here so far.
    pub fn stalled(&self) -> Duration {
        Duration::from_nanos(self.stalled_ns.load(Ordering::Relaxed))
    }

    /// Tells how many bytes of sealed memtables wait for the user's own log: for people.
    pub fn set_parked_bytes(&self, bytes: usize) {
        self.parked_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Why there is no memory for a write now; `None` where there is.
    pub fn memory_shortage(&self) -> Option<String> {
        if self.has_memory() {
            return None;
        }
        let reason = "memtables wait to be flushed and memory is full";
        Some(match self.parked_bytes.load(Ordering::Relaxed) {
            0 => reason.into(),
            bytes => format!("{reason}: {bytes} bytes of it wait until their own log is durable"),
        })
    }

    /// Tells how many bytes compactions of a keyspace have yet to move: for who asks.
    pub fn set_debt(&self, keyspace: KeyspaceId, debt_bytes: u64) {
        if self.pressure(keyspace).1 != debt_bytes {
            let mut rates = self.rates.write().unwrap_or_else(PoisonError::into_inner);
            rates.entry(keyspace).or_default().debt_bytes = debt_bytes;
        }
    }

    /// The keyspaces whose compactions have something yet to move, or that are slowed down.
    pub fn indebted(&self) -> BTreeSet<KeyspaceId> {
        let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
        let indebted = rates
            .iter()
            .filter(|(_, rate)| rate.debt_bytes > 0 || rate.limiter.rate() != RATE_UNLIMITED);
        indebted.map(|(id, _)| *id).collect()
    }

    /// Sets how fast a keyspace may write, in bytes per second, and what hinders the compactions
    /// that would let it write faster.
    pub fn set_rate(&self, keyspace: KeyspaceId, bytes_s: u64, hindrance: Option<String>) {
        {
            // Held to the end: of two who set rates, the later one must leave the right hint.
            let mut rates = self.rates.write().unwrap_or_else(PoisonError::into_inner);
            let rate = rates.entry(keyspace).or_default();
            rate.limiter.set_rate(bytes_s);
            rate.hindrance = hindrance;
            self.set_hint(&rates);
        }
        self.gate.changed.raise();
    }

    /// Forgets the rate of a keyspace that was dropped.
    pub fn forget(&self, keyspace: KeyspaceId) {
        {
            let mut rates = self.rates.write().unwrap_or_else(PoisonError::into_inner);
            rates.remove(&keyspace);
            self.set_hint(&rates);
        }
        self.gate.changed.raise();
    }

    fn set_hint(&self, rates: &BTreeMap<KeyspaceId, KeyspaceRate>) {
        let mut rates = rates.values();
        let is_any = rates.any(|rate| rate.limiter.rate() != RATE_UNLIMITED);
        self.is_any_limited.store(is_any, Ordering::Relaxed);
    }

    /// How fast a keyspace may write, in bytes per second, its debt in bytes, and what hinders it.
    pub fn pressure(&self, keyspace: KeyspaceId) -> (u64, u64, Option<String>) {
        let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
        let known = rates.get(&keyspace);
        known.map_or((RATE_UNLIMITED, 0, None), |rate| {
            let hindrance = rate.hindrance.clone();
            (rate.limiter.rate(), rate.debt_bytes, hindrance)
        })
    }

    /// How long a writer to that keyspace would have to wait for its rate at the moment `now`.
    pub fn delay_of(&self, keyspace: KeyspaceId, now: Duration) -> Duration {
        let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
        let known = rates.get(&keyspace);
        known.map_or(Duration::ZERO, |rate| rate.limiter.delay(now))
    }

    /// How fast a keyspace may write, in bytes per second, and what hinders it.
    pub fn rate(&self, keyspace: KeyspaceId) -> (u64, Option<String>) {
        let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
        let known = rates.get(&keyspace);
        known.map_or((RATE_UNLIMITED, None), |rate| {
            (rate.limiter.rate(), rate.hindrance.clone())
        })
    }

    /// Waits until there is memory for a batch and its keyspaces' rates allow it.
    ///
    /// `Busy` instead of waiting when `no_wait`; else the gate's error when it closes meanwhile.
    #[inline]
    pub fn delay_write(&self, batch: &Batch<'_>, no_wait: bool, env: &Env) -> Result<()> {
        if self.is_any_limited.load(Ordering::Relaxed) {
            self.wait_for_rate(batch, no_wait, env)?;
        }
        if self.has_memory() {
            return Ok(());
        }
        self.wait_for_memory(no_wait, env)
    }

    fn has_memory(&self) -> bool {
        self.sealed_bytes.load(Ordering::Relaxed) <= self.live_bytes_max() * 2
    }

    /// Changes it, and what follows from it; what it was before.
    fn set_memory(&self, change: impl FnOnce(&mut Memory)) -> Memory {
        // Held to the end: of two who change it, the later one must leave what follows from both.
        let mut memory = self.memory();
        let before = *memory;
        change(&mut memory);
        self.live_bytes_max
            .store(memory.live_bytes_max(), Ordering::Relaxed);
        before
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_rate(&self, batch: &Batch<'_>, no_wait: bool, env: &Env) -> Result<()> {
        let bytes = batch.size_bytes() as u64;
        let now = env.clock.monotonic();
        let mut delay = Duration::ZERO;
        {
            let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
            let concerned = || batch.keyspaces().iter().filter_map(|id| rates.get(id));
            // A try that is refused is not counted: who tries often would else never pass.
            let mut late = concerned().filter(|rate| !rate.limiter.delay(now).is_zero());
            if no_wait && let Some(late) = late.next() {
                return Err(too_fast(late));
            }
            for rate in concerned() {
                delay = delay.max(rate.limiter.admit(bytes, now));
            }
        }
        if delay.is_zero() || no_wait {
            return Ok(());
        }
        let changed = &self.gate.changed;
        let seen = changed.raised_count();
        env.pool.wait(changed, seen, delay.min(DELAY_MAX));
        self.count_stall(now, env);
        Ok(())
    }

    fn wait_for_memory(&self, no_wait: bool, env: &Env) -> Result<()> {
        if no_wait || user_code::is_answering() {
            let shortage = self.memory_shortage();
            return shortage.map_or(Ok(()), |reason| Err(busy(&reason)));
        }
        let since = env.clock.monotonic();
        let _waiting = self.waiting.enter(&self.gate.events, env);
        loop {
            let seen = self.gate.changed.raised_count();
            self.gate.check_write()?;
            if self.has_memory() {
                break;
            }
            env.pool.wait(&self.gate.changed, seen, LOOK_AGAIN);
        }
        self.count_stall(since, env);
        Ok(())
    }

    /// Counts the time since `since` as spent waiting.
    pub fn count_stall(&self, since: Duration, env: &Env) {
        let waited = env.clock.monotonic().saturating_sub(since);
        let waited_ns = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.stalled_ns.fetch_add(waited_ns, Ordering::Relaxed);
    }
}

fn too_fast(rate: &KeyspaceRate) -> Error {
    let reason = "compaction is behind and slows writes down";
    match &rate.hindrance {
        Some(what) => busy(&format!("{reason}, since {what}")),
        None => busy(reason),
    }
}

fn busy(reason: &str) -> Error {
    Error::new(
        ErrorKind::Busy,
        format!("{reason}; try again, or write without no_wait"),
    )
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod loom_models;
