//! Sets the rates of the write controller and the cache's share from what the background knows.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::base::hooks::event_reasons::StallCause;
use crate::base::hooks::events::{Event, WriteStallBegin, WriteStallEnd};
use crate::base::stats::memory_budget::MemoryOwner;
use crate::base::types::ids::KeyspaceId;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::compact::score::{debt_bytes, targets};
use crate::flow::rate_limiter::RATE_UNLIMITED;
use crate::flow::write::debt::{Debt, rate_for};
use crate::store::names::FileName;
use crate::store::version::levels::Levels;

/// Debt that is free, in units of the first sorted level's size: half of it is what a healthy
/// tree owes between two compactions.
const SOFT_SHARE: f64 = 1.0;

/// Debt at which writes come no faster than compaction digests, in the same unit.
const HARD_SHARE: f64 = 4.0;

/// Sets how fast each keyspace may write, from its compaction debt.
pub fn set_rates(core: &Core) {
    set_rates_of(core, &core.keyspaces.all());
}

/// The same of these alone, whose files have changed.
pub fn set_rates_of(core: &Core, changed: &[Arc<KeyspaceParts>]) {
    let digest_bytes_s = core.work.state().digest_bytes_s as u64;
    for parts in changed {
        let rate = rate_of(core, parts, digest_bytes_s);
        set_rate(core, parts, rate);
    }
}

/// The same behind a compaction of that keyspace: the speed of compactions is another now, which
/// means something to those that owe any.
pub fn set_rates_behind(core: &Core, id: KeyspaceId) {
    let mut concerned = core.write_controller.indebted();
    concerned.insert(id);
    set_rates_of(core, &core.keyspaces.all_of(concerned));
}

fn set_rate(core: &Core, parts: &KeyspaceParts, (rate, debt_bytes): (Rate, u64)) {
    core.write_controller.set_debt(parts.id, debt_bytes);
    if rate != core.write_controller.rate(parts.id) {
        core.write_controller.set_rate(parts.id, rate.0, rate.1);
        note_rate(core, parts, rate.0);
    }
    // It was dropped meanwhile: whoever drops one forgets its rate behind that.
    if core.keyspaces.by_id(parts.id).is_none() {
        forget_rate(core, parts);
    }
}

/// Forgets the rate of a keyspace that was dropped.
pub fn forget_rate(core: &Core, parts: &KeyspaceParts) {
    core.write_controller.forget(parts.id);
    note_rate(core, parts, RATE_UNLIMITED);
}

/// Forgets every rate, for closing: nobody writes any more.
pub fn forget_rates(core: &Core) {
    for parts in core.keyspaces.all() {
        forget_rate(core, &parts);
    }
}

// Tells listeners when a keyspace begins to be slowed down, and when it is no more. Under the lock
// of the books, so that of two who set its rate the later one is told later.
fn note_rate(core: &Core, parts: &KeyspaceParts, rate_bytes_s: u64) {
    if !core.events.is_heard() {
        return;
    }
    let now = core.env.clock.monotonic();
    let (cause, keyspace) = (StallCause::PendingCompaction, Some(parts.name.clone()));
    match core.work.state().slowed.entry(parts.id) {
        Entry::Vacant(slowed) if rate_bytes_s != RATE_UNLIMITED => {
            slowed.insert(now);
            core.events.note(|| {
                Event::WriteStallBegin(WriteStallBegin {
                    cause,
                    keyspace,
                    rate_bytes_s: Some(rate_bytes_s),
                })
            });
        }
        Entry::Occupied(slowed) if rate_bytes_s == RATE_UNLIMITED => {
            let elapsed = now.saturating_sub(slowed.remove());
            core.events.note(|| {
                Event::WriteStallEnd(WriteStallEnd {
                    cause,
                    keyspace,
                    elapsed,
                })
            });
        }
        _ => {}
    }
}

// Bytes per second, and what hinders the compactions that would pay the debt off.
type Rate = (u64, Option<String>);

// The rate of a keyspace, and its debt in bytes.
fn rate_of(core: &Core, parts: &KeyspaceParts, digest_bytes_s: u64) -> (Rate, u64) {
    let options = &parts.options().compaction;
    let levels = Arc::clone(&parts.current.view().parts().levels);
    let owed_bytes = debt_bytes(&levels, &targets(&levels, options), options);
    if !options.is_automatic {
        // Nobody pays the debt off while writers wait.
        return ((RATE_UNLIMITED, None), owed_bytes);
    }
    let base = options.base_level_bytes as f64;
    let rate = rate_for(Debt {
        owed_bytes,
        soft_bytes: (base * SOFT_SHARE) as u64,
        hard_bytes: (base * HARD_SHARE) as u64,
        digest_bytes_s,
    });
    // Nobody is told what hinders compactions as long as they keep up all the same.
    let hindrance = (rate != RATE_UNLIMITED).then(|| hindrance(core, &levels));
    ((rate, hindrance.flatten()), owed_bytes)
}

/// The files of a tree that compactions leave out: until they can be read nothing is merged with
/// them, and what lies above them stays where it is.
fn hindrance(core: &Core, levels: &Levels) -> Option<String> {
    let state = core.work.state();
    let out = levels
        .files()
        .filter(|(_, file)| state.left_out.is_out(file.number));
    let names: Vec<_> = out
        .map(|(_, file)| FileName::Sst(file.number).to_string())
        .collect();
    let first = names.first()?;
    let others = match names.len() - 1 {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!(
        "{first}{others} cannot be compacted (`left out` in the statistics tells why)"
    ))
}

/// Bytes that the log takes: the mapped window of its live segment, and the record being framed.
const LOG_BYTES: u64 = (1 << 20) + (64 << 10);

/// Tells the write path and the cache how much memory memtables take now; open files tell what
/// they take themselves.
pub fn set_memory(core: &Core) {
    let pinned = core.pinned_tables.look().bytes;
    core.write_controller.set_pinned_bytes(pinned);
    core.memory_budget
        .set_held(MemoryOwner::PinnedMemtables, pinned as u64);
    let sealed = core.keyspaces.sealed_bytes();
    if core.own_log.is_there() {
        core.write_controller
            .set_parked_bytes(core.keyspaces.parked_bytes());
    }
    core.write_controller.set_sealed_bytes(sealed);
    let live = core.committer.paused(|active| active.live_bytes());
    let pages = &core.env.pages;
    pages.keep_spare(core.write_controller.spare_bytes_max(live + sealed));
    let held = live + sealed + pages.spare_bytes();
    core.memory_budget
        .set_held(MemoryOwner::Memtables, held as u64);
    core.memory_budget.set_held(MemoryOwner::Log, LOG_BYTES);
    let values = core.values.pool().used_bytes();
    core.memory_budget.set_held(MemoryOwner::Values, values);
    set_cache(core);
}

/// Gives open files and the cache what all others leave of the limit now.
pub fn set_cache(core: &Core) {
    core.files.keep_within(core.memory_budget.files_allowance());
    core.cache
        .set_capacity_bytes(core.memory_budget.cache_allowance());
    core.memory_budget
        .set_held(MemoryOwner::BlockCache, core.cache.used_bytes() as u64);
    core.memory_budget
        .set_held(MemoryOwner::PinnedBlocks, core.cache.pinned_bytes() as u64);
}

/// A reader let go of what it held: gives what memtables it had kept back to who needs it.
pub fn let_go(core: &Core) {
    if core.pinned_tables.are_any() {
        let pinned = core.pinned_tables.look().bytes;
        core.write_controller.set_pinned_bytes(pinned);
        core.memory_budget
            .set_held(MemoryOwner::PinnedMemtables, pinned as u64);
        set_cache(core);
    }
}

#[cfg(test)]
mod tests;
