//! Commits a transaction: one batch, and the conditions under which it may be written.

use std::sync::Arc;

use crate::base::options::call::{Isolation, WriteOptions};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;
use crate::db::lock_refusal::shown;
use crate::db::txn::own_writes;
use crate::db::txn::state::TransactionState;
use crate::db::writing::{self, Heed, Terms, Written};
use crate::flow::read::newest::Target;
use crate::flow::write::validation::Unchanged;

/// Writes what the transaction wrote, if all that it depends on is as it was.
///
/// What a locking transaction locked before it took its snapshot needs no such look, and what it
/// locked later does: somebody may have written to it between. All of it is looked at: it costs
/// next to nothing where nobody wrote, and after a savepoint was rolled back, what was read since
/// counts, and its locks are gone. Under `ReadCommitted` there is no snapshot, each read of what is
/// locked comes after the lock, and there is nothing to look at.
///
/// Errors: `Conflict`, and the transaction has come to nothing; those of `writing::write`.
pub fn commit(core: &Arc<Core>, state: &TransactionState, options: WriteOptions) -> Result<()> {
    core.gate.check_process()?;
    // Until what is written is visible and acknowledged.
    let locks = state.take_locks();
    let mut own = state.own();
    if own.count() == 0 {
        // Whatever it read, nothing depends on it.
        return Ok(());
    }
    let written = own.written()?;
    let for_update = state.for_update();
    let mut conditions = for_update.unchanged();
    if state.isolation() != Isolation::ReadCommitted {
        let written = written.iter();
        conditions.extend(written.map(|written| unchanged(written, state)));
    }
    let reads = state.reads();
    let ended = reads.with_conditions(state.seen(), conditions, |conditions| {
        let terms = Terms {
            unchanged: conditions,
            alive_until: own.alive_until(),
            heed: match locks {
                Some(_) => Heed::Hold,
                None => Heed::Refuse,
            },
            mark: None,
        };
        match writing::write(core, own.batch(), options, terms)? {
            Written::Done => Ok(()),
            Written::Conflict(place) => Err(told(core, place.map(|place| &conditions[place]))),
            Written::Expired => Err(expired()),
        }
    });
    match &ended {
        Ok(()) => core.statistics.add(Ticker::TransactionCommits, 1),
        Err(error) if error.kind() == ErrorKind::Conflict => {
            core.statistics.add(Ticker::TransactionConflicts, 1);
        }
        Err(_) => {}
    }
    ended
}

/// That nobody has written to what a transaction wrote to.
pub fn unchanged<'a>(written: &'a own_writes::Written, state: &TransactionState) -> Unchanged<'a> {
    Unchanged {
        keyspace: written.keyspace.id,
        current: &written.keyspace.current,
        target: written.what.target(),
        seen: state.seen(),
    }
}

/// Why a transaction came to nothing: a value that it has go on has ended.
#[cold]
pub fn expired() -> Error {
    let message = "a value ended before the transaction that gives it another end was committed; \
                   run it again (`Db::transaction` does)";
    Error::new(ErrorKind::Conflict, message)
}

/// Why a transaction came to nothing: that condition does not hold.
#[cold]
pub fn told(core: &Core, broken: Option<&Unchanged<'_>>) -> Error {
    let Some(broken) = broken else {
        let message = "too much was written while the transaction was being committed; run it \
                       again";
        return Error::new(ErrorKind::Conflict, message);
    };
    let what = match broken.target {
        Target::Range(_) => format!("a range of {}", shown(core, broken.keyspace, None)),
        Target::Key(key) => shown(core, broken.keyspace, Some(key)),
    };
    let message = format!(
        "{what} was written to by others since the transaction read it; run it again \
         (`Db::transaction` does)"
    );
    Error::new(ErrorKind::Conflict, message)
}
