//! Commits a transaction: one batch, and the conditions under which it may be written.

use std::sync::Arc;

use crate::base::options::call::{Isolation, WriteOptions};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;
use crate::db::txn::own_writes;
use crate::db::txn::state::{ForUpdate, TransactionState};
use crate::db::writing::{self, Written};
use crate::flow::read::newest::Target;
use crate::flow::write::validation::Unchanged;

/// Bytes of a key that an error shows.
const SHOWN_KEY_BYTES: usize = 64;

/// Writes what the transaction wrote, if all that it depends on is as it was.
///
/// Errors: `Conflict`, and the transaction has come to nothing; those of `writing::write`.
pub fn commit(core: &Arc<Core>, state: &TransactionState, options: WriteOptions) -> Result<()> {
    let mut own = state.own();
    if own.count() == 0 {
        // Whatever it read, nothing depends on it.
        return Ok(());
    }
    let written = own.written()?;
    let for_update = state.for_update();
    let mut conditions: Vec<Unchanged<'_>> = for_update.iter().map(ForUpdate::unchanged).collect();
    if state.isolation() != Isolation::ReadCommitted {
        let written = written.iter();
        conditions.extend(written.map(|written| unchanged(written, state)));
    }
    let reads = state.reads();
    let conflict = reads.with_conditions(state.seen(), conditions, |conditions| {
        let ended = writing::write(core, own.batch(), options, conditions)?;
        let conflict = match ended {
            Written::Done => None,
            Written::Conflict(place) => Some(told(core, place.map(|place| &conditions[place]))),
        };
        Ok::<Option<Error>, Error>(conflict)
    })?;
    match conflict {
        None => {
            core.statistics.add(Ticker::TransactionCommits, 1);
            Ok(())
        }
        Some(conflict) => {
            core.statistics.add(Ticker::TransactionConflicts, 1);
            Err(conflict)
        }
    }
}

fn unchanged<'a>(written: &'a own_writes::Written, state: &TransactionState) -> Unchanged<'a> {
    Unchanged {
        keyspace: written.keyspace.id,
        current: &written.keyspace.current,
        target: written.what.target(),
        seen: state.seen(),
    }
}

impl ForUpdate {
    fn unchanged(&self) -> Unchanged<'_> {
        Unchanged {
            keyspace: self.parts.id,
            current: &self.parts.current,
            target: Target::Key(&self.key),
            seen: self.seen,
        }
    }
}

#[cold]
fn told(core: &Core, broken: Option<&Unchanged<'_>>) -> Error {
    let Some(broken) = broken else {
        let message = "too much was written while the transaction was being committed; run it \
                       again";
        return Error::new(ErrorKind::Conflict, message);
    };
    let keyspace = core.keyspaces.by_id(broken.keyspace);
    let name = keyspace.map_or_else(String::new, |parts| parts.name.clone());
    let what = match broken.target {
        Target::Range(_) => "a range of keys".to_string(),
        Target::Key(key) => {
            let shown = &key[..key.len().min(SHOWN_KEY_BYTES)];
            let rest = if shown.len() < key.len() { "…" } else { "" };
            format!("key b\"{}{rest}\"", shown.escape_ascii())
        }
    };
    let message = format!(
        "{what} of keyspace {name:?} was written to by others since the transaction read it; run \
         it again (`Db::transaction` does)"
    );
    Error::new(ErrorKind::Conflict, message)
}
