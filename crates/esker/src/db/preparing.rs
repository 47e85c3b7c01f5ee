//! Two phases: prepares a transaction, and commits or rolls back one that is prepared.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::{Isolation, WriteOptions};
use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::limits::{KEY_BYTES_MAX, PREPARED_ID_BYTES_MAX};
use crate::base::types::range::KeyRange;
use crate::base::types::user_code;
use crate::db::claims;
use crate::db::committing::{expired, told, unchanged};
use crate::db::core::Core;
use crate::db::format_raise::raise_format;
use crate::db::space;
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::txn::state::TransactionState;
use crate::db::writing;
use crate::flow::read::newest::Target;
use crate::flow::write::active::Applied;
use crate::flow::write::admission::{CommitOptions, Refusal};
use crate::flow::write::commit::Outcome;
use crate::flow::write::prepared::CommitRoom;
use crate::flow::write::sync::LogPosition;
use crate::flow::write::unlogged::prepared_write;
use crate::flow::write::validation::Unchanged;
use crate::store::batch::two_phases::{Claim, NewPrepare};
use crate::store::batch::writer::Batch;
use crate::store::version::format::{MILLIS_FORMAT, TWO_PHASES_FORMAT};

/// A transaction that is prepared, and not committed or rolled back yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedStats {
    /// By what it is known.
    pub id: Bytes,
    /// The keyspaces that it writes to.
    pub keyspaces: Vec<String>,
    /// Its writes.
    pub entries: u64,
    /// Bytes of its record in the log, without large values.
    pub size_bytes: u64,
    /// Keys, and ranges of them, that nobody else may write to until it ends.
    pub claim_count: usize,
    /// How long ago it was prepared, by the clock of the machine: also of one that was there when
    /// the database was opened.
    pub age: Duration,
}

fn check_preparable(core: &Core, id: &[u8], written: &[KeyspaceId]) -> Result<()> {
    if id.is_empty() || id.len() > PREPARED_ID_BYTES_MAX {
        let len = id.len();
        return Err(Error::invalid(format!(
            "an id of {len} bytes; one has 1 to {PREPARED_ID_BYTES_MAX}"
        )));
    }
    match core.keyspaces.unlogged_of(written) {
        Some(parts) => Err(prepared_write(Some(&parts.name))),
        None => Ok(()),
    }
}

/// Makes durable what the transaction wrote, if all that it depends on is as it was, under that id;
/// it claims all of that until it ends. The log keeps room for its commit while what is returned is
/// held.
///
/// Errors: `Conflict`, and the transaction has come to nothing; `Invalid` for an id that is too
/// long or in use; those of `writing::write`.
pub fn prepare(core: &Arc<Core>, state: &TransactionState, id: &[u8]) -> Result<CommitRoom> {
    user_code::refuse()?;
    core.gate.check_process()?;
    // Until what it writes to is claimed.
    let locks = state.take_locks();
    space::resume(core);
    core.gate.check_write()?;
    let mut own = state.own();
    check_preparable(core, id, own.batch().keyspaces())?;
    let written = own.written()?;
    let for_update = state.for_update();
    raise_format(core, format_of(own.batch()))?;
    // Those that are no writes of its own first: they are claimed besides.
    let mut conditions = for_update.unchanged();
    let for_update_count = conditions.len();
    if state.isolation() != Isolation::ReadCommitted {
        let written = written.iter();
        conditions.extend(written.map(|written| unchanged(written, state)));
    }
    let reads_from = conditions.len();
    let room = CommitRoom::default();
    let reads = state.reads();
    let applied = reads.with_conditions(state.seen(), conditions, |conditions| {
        let besides = conditions[..for_update_count].iter();
        let besides = besides.chain(&conditions[reads_from..]);
        let claims: Vec<Claim> = besides.filter_map(claim).collect();
        let new = NewPrepare {
            id,
            prepared_unix_s: core.env.clock.unix_seconds(),
            claims: &claims,
            count: own.batch().count(),
        };
        let mut options = CommitOptions {
            durability: writing::durability(core, WriteOptions::default()),
            no_wait: false,
            unchanged: conditions,
            alive_until: own.alive_until(),
            holds_locks: locks.is_some(),
            mark: None,
        };
        let mut outcome = core.committer.prepare(own.batch(), &new, &options, &room)?;
        if outcome == Outcome::Refused(Refusal::Locked) {
            let owned = OwnedLocks::momentary(Arc::clone(&core.locks));
            let _locks = claims::try_for(core, own.batch(), owned)?;
            options.holds_locks = true;
            outcome = core.committer.prepare(own.batch(), &new, &options, &room)?;
        }
        match outcome {
            Outcome::Committed(applied) => Ok(applied),
            Outcome::Refused(Refusal::Conflict(place)) => {
                Err(told(core, place.map(|place| &conditions[place])))
            }
            Outcome::Refused(Refusal::Expired) => Err(expired()),
            Outcome::Refused(Refusal::Locked) => {
                unreachable!("who holds locks is not refused for lack of them")
            }
        }
    });
    let applied = applied.inspect_err(|error| {
        if error.kind() == ErrorKind::Conflict {
            core.statistics.add(Ticker::TransactionConflicts, 1);
        }
    })?;
    let large_bytes = own.batch().large_bytes();
    core.statistics.add(Ticker::ValueLogBytes, large_bytes);
    note(core, &applied);
    Ok(room)
}

// The format that a log with such a prepare needs.
fn format_of(batch: &Batch<'_>) -> u32 {
    match batch.has_millis() {
        true => MILLIS_FORMAT,
        false => TWO_PHASES_FORMAT,
    }
}

/// Commits the transaction that is prepared under that id.
///
/// Errors: `Invalid` when none is; those of writing, and unless it is `Faulted` it stays prepared.
pub fn commit_prepared(core: &Arc<Core>, id: &[u8], options: WriteOptions) -> Result<()> {
    user_code::refuse()?;
    let durability = writing::durability(core, options);
    let applied = with_space(core, || core.committer.commit_prepared(id, durability))?;
    core.statistics.add(Ticker::TransactionCommits, 1);
    note(core, &applied);
    Ok(())
}

/// Commits the transaction that is prepared under that id in the order of calls: where the log ends
/// behind it. Errors: those of [`Committer::commit_ordered`].
///
/// [`Committer::commit_ordered`]: crate::flow::write::commit::Committer::commit_ordered
pub fn commit_ordered(core: &Arc<Core>, id: &[u8]) -> Result<LogPosition> {
    user_code::refuse()?;
    core.gate.check_process()?;
    let (applied, position) = core.committer.commit_ordered(id)?;
    core.statistics.add(Ticker::TransactionCommits, 1);
    note(core, &applied);
    Ok(position)
}

/// Rolls back the transaction that is prepared under that id. Errors: as [`commit_prepared`].
pub fn rollback_prepared(core: &Arc<Core>, id: &[u8], options: WriteOptions) -> Result<()> {
    user_code::refuse()?;
    let durability = writing::durability(core, options);
    let applied = with_space(core, || core.committer.rollback_prepared(id, durability))?;
    note(core, &applied);
    Ok(())
}

/// The transactions that are prepared, by their ids.
pub fn list(core: &Core) -> Vec<PreparedStats> {
    let now = core.env.clock.unix_seconds();
    core.committer.paused(|active| {
        let live = active.prepared().live();
        live.map(|one| {
            let prepare = one.read();
            let names = one.keyspaces().into_iter().map(|id| {
                let parts = core.keyspaces.by_id(id);
                parts.map_or_else(String::new, |parts| parts.name.clone())
            });
            PreparedStats {
                id: Bytes::copy_of(prepare.id),
                keyspaces: names.collect(),
                entries: u64::from(prepare.entries.count()),
                size_bytes: one.logged().record.len() as u64,
                claim_count: one.claim_count(),
                age: Duration::from_secs(now.saturating_sub(prepare.prepared_unix_s)),
            }
        })
        .collect()
    })
}

// The disk may have drained since writes were refused: looks, and tries once more.
fn with_space(core: &Core, act: impl Fn() -> Result<Applied>) -> Result<Applied> {
    match act() {
        Err(error) if error.kind() == ErrorKind::OutOfSpace => {
            space::look(core)?;
            act()
        }
        ended => ended,
    }
}

fn note(core: &Arc<Core>, applied: &Applied) {
    core.statistics.add(Ticker::WalBytes, applied.logged_bytes);
    if !applied.follow_ups.is_empty() {
        writing::follow_up(core, applied.follow_ups);
    }
}

// Nothing of a key that is too long for anybody to write it, and that a record has no room for.
fn claim(condition: &Unchanged<'_>) -> Option<Claim> {
    let keys = match condition.target {
        Target::Key(key) if key.len() > KEY_BYTES_MAX => return None,
        Target::Key(key) => KeyRange {
            lower: Bound::Included(key.to_vec()),
            upper: Bound::Included(key.to_vec()),
        },
        Target::Range(range) => KeyRange {
            lower: end_of(&range.lower),
            upper: end_of(&range.upper),
        },
    };
    Some(Claim {
        keyspace: condition.keyspace,
        keys,
    })
}

// More is claimed where it is too long.
fn end_of(bound: &Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) if key.len() > KEY_BYTES_MAX => {
            Bound::Unbounded
        }
        bound => bound.clone(),
    }
}
