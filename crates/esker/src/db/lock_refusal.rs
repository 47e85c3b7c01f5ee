//! What a user is told when a lock is refused: of what it is, who has it, what to do.

use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::shown_key::shown_key;
use crate::db::core::Core;
use crate::db::txn::locks::lock_id::{LockName, TxnId};
use crate::db::txn::locks::refused::{Refused, Waiter};

/// A statement of a transaction did not get a lock for which it waited up to `wait_max`.
/// `LockTimeout`, `Deadlock` or `Closed`; the transaction has what it had.
#[cold]
pub fn statement(core: &Core, refused: Refused, wait_max: Duration) -> Error {
    match refused {
        Refused::Timeout { holder, name } => {
            let taken = taken(core, holder, &name);
            let waited = waited(wait_max);
            let message = format!(
                "{taken}; {waited}. The transaction has what it had: try again, or roll it back"
            );
            Error::new(ErrorKind::LockTimeout, message)
        }
        other => plain(core, other, wait_max),
    }
}

/// As [`statement`], for a write that is in no transaction.
#[cold]
pub fn plain(core: &Core, refused: Refused, wait_max: Duration) -> Error {
    match refused {
        Refused::Timeout { holder, name } => {
            let (taken, waited) = (taken(core, holder, &name), waited(wait_max));
            let message = format!("{taken}; {waited}, and nothing was written. Try again");
            Error::new(ErrorKind::LockTimeout, message)
        }
        Refused::Deadlock { cycle } => Error::new(ErrorKind::Deadlock, deadlock(core, &cycle)),
        Refused::TooMany { .. } => unreachable!("who has too many keys locks their keyspace"),
        Refused::Interrupted => interrupted(),
        Refused::Closed => Error::new(ErrorKind::Closed, "the database was closed"),
    }
}

/// Somebody ended the wait of a transaction for a lock, or for what a prepared one claims.
#[cold]
pub fn interrupted() -> Error {
    let message = "the transaction was told not to wait; it has what it had, and waits again once \
                   it is told that it may (`Transaction::clear_interrupt`)";
    Error::new(ErrorKind::Interrupted, message)
}

/// A transaction has locked a key to read it, and its snapshot is older than what is there:
/// `Conflict`, and the lock is given back.
#[cold]
pub fn overtaken(core: &Core, keyspace: KeyspaceId, key: &[u8]) -> Error {
    let what = shown(core, keyspace, Some(key));
    let message = format!(
        "{what} was written to by others since the transaction's snapshot, and is not locked. \
         Roll it back and run it again (`Db::transaction` does); under `ReadCommitted` it would \
         have been read as it is"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// As [`plain`], for one that does not wait where others would: `Busy` then.
#[cold]
pub fn at_once(core: &Core, refused: Refused) -> Error {
    match refused {
        Refused::Timeout { holder, name } => {
            let taken = taken(core, holder, &name);
            let message = format!("{taken}; try again, or write without no_wait");
            Error::new(ErrorKind::Busy, message)
        }
        other => plain(core, other, Duration::ZERO),
    }
}

/// The commit of a transaction that waits for nobody met a lock: `Conflict`.
#[cold]
pub fn commit(core: &Core, refused: Refused) -> Error {
    match refused {
        Refused::Timeout { holder, name } => {
            let taken = taken(core, holder, &name);
            let message = format!("{taken}; run the transaction again (`Db::transaction` does)");
            Error::new(ErrorKind::Conflict, message)
        }
        other => plain(core, other, Duration::ZERO),
    }
}

/// A key of a keyspace, or the keyspace as a whole, as messages name them.
pub fn shown(core: &Core, keyspace: KeyspaceId, key: Option<&[u8]>) -> String {
    let parts = core.keyspaces.by_id(keyspace);
    let keyspace = match parts {
        Some(parts) => format!("keyspace {:?}", parts.name),
        None => "a keyspace that was dropped".to_string(),
    };
    let Some(key) = key else {
        return keyspace;
    };
    format!("key {} of {keyspace}", shown_key(key))
}

fn taken(core: &Core, holder: TxnId, name: &LockName) -> String {
    let what = shown(core, name.keyspace, name.key.as_deref());
    format!("{what} is locked by {}", owner(core, holder))
}

fn owner(core: &Core, owner: TxnId) -> String {
    if owner.is_momentary() {
        return "a write that is under way".to_string();
    }
    match core.transactions.find(owner.0) {
        Some(live) => {
            let age = core.env.clock.monotonic().saturating_sub(live.begun_at);
            let of = live.owner.map(|name| format!(" of {name:?}"));
            let of = of.unwrap_or_default();
            format!("transaction {owner}{of}, {:.1} s old", age.as_secs_f64())
        }
        None => format!("transaction {owner}, which has just ended"),
    }
}

fn waited(wait_max: Duration) -> String {
    match wait_max.is_zero() {
        true => "it was not waited for".to_string(),
        false => format!("it was waited for {:.3} s", wait_max.as_secs_f64()),
    }
}

fn deadlock(core: &Core, cycle: &[Waiter]) -> String {
    let waits = cycle.iter().map(|waiter| {
        let what = shown(core, waiter.name.keyspace, waiter.name.key.as_deref());
        format!("{} wants {what}", owner(core, waiter.owner))
    });
    let waits: Vec<String> = waits.collect();
    format!(
        "each waits for the next, and the last for the first: {}; roll the first back, to a \
         savepoint before what the last wants or altogether (`Db::transaction` does, and runs it \
         again)",
        waits.join("; ")
    )
}
