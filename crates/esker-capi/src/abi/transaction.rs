//! The section "Transactions" of `esker/c.h`: begun, read in, and ended.

use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

use esker::{
    Error, Isolation, Keyspace, OrderedCommit, PreparedTransaction, Result, Transaction,
    TransactionKeyspace, TransactionMode, TransactionOptions,
};

use crate::abi::arguments::{
    Handle, bounds, bytes, give, live, live_mut, named, place, room, take, tell, text,
};
use crate::abi::database::EskerDb;
use crate::abi::home::Home;
use crate::abi::iterator::EskerIter;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::reading::{EskerBytes, hold, hold_all, keys_of, values_of};
use crate::abi::value::EskerValue;
use crate::answer::{Done, answer, told};
use crate::flags::{of_transaction_read, of_write};

/// `esker_tx` of `esker/c.h`.
pub struct EskerTx {
    /// How far it is.
    pub stage: Stage,
    /// Its database.
    pub home: Home,
    /// The numbers of its savepoints, the last one on top.
    pub savepoints: Vec<u64>,
    /// The number of the latest savepoint; none is given twice.
    pub last_savepoint: u64,
}

/// How far a transaction is.
#[allow(
    clippy::large_enum_variant,
    reason = "each handle lies in a box already"
)]
pub enum Stage {
    /// It reads and writes.
    Live(Transaction),
    /// The first of two phases is over.
    Prepared(PreparedTransaction),
    /// Everybody sees it; its place in the log is known.
    Ordered(OrderedCommit),
    /// It was ended, or its commit failed.
    Over,
}

impl Stage {
    /// What it is called where it is not what a call needs.
    fn told(&self) -> &'static str {
        match self {
            Stage::Live(_) => "neither prepared nor over",
            Stage::Prepared(_) => "prepared",
            Stage::Ordered(_) => "committed in order, and waits for esker_tx_finish",
            Stage::Over => "over",
        }
    }
}

impl Handle for EskerTx {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
    }
}

impl EskerTx {
    /// The answer to a call that it is not in the right stage for.
    pub fn refused<T>(&self) -> Result<T> {
        Err(Error::invalid(format!(
            "the transaction is {}",
            self.stage.told()
        )))
    }

    /// The transaction that reads and writes.
    pub fn live(&self) -> Result<&Transaction> {
        match &self.stage {
            Stage::Live(transaction) => Ok(transaction),
            _ => self.refused(),
        }
    }

    /// As [`EskerTx::live`], to change it.
    pub fn live_mut(&mut self) -> Result<&mut Transaction> {
        match &mut self.stage {
            Stage::Live(transaction) => Ok(transaction),
            stage => Err(Error::invalid(format!(
                "the transaction is {}",
                stage.told()
            ))),
        }
    }

    /// What it was; it is over then, unless the caller puts something in.
    pub fn end(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }
}

/// What C says, which may be any number.
fn options(isolation: c_int, mode: c_int, lock_timeout_ms: u64) -> Result<TransactionOptions> {
    let isolation = match isolation {
        0 => Isolation::ReadCommitted,
        1 => Isolation::Snapshot,
        2 => Isolation::Serializable,
        _ => {
            let refusal = format!("isolation {isolation} is none of ESKER_READ_COMMITTED, …");
            return Err(Error::invalid(refusal));
        }
    };
    let mode = match mode {
        0 => TransactionMode::Optimistic,
        1 => TransactionMode::Locking,
        _ => {
            let refusal = format!("mode {mode} is neither ESKER_OPTIMISTIC nor ESKER_LOCKING");
            return Err(Error::invalid(refusal));
        }
    };
    Ok(TransactionOptions {
        isolation,
        mode,
        lock_timeout: lock_timeout(lock_timeout_ms),
    })
}

/// `ESKER_LOCK_TIMEOUT_DEFAULT`, or so many milliseconds.
pub fn lock_timeout(lock_timeout_ms: u64) -> Duration {
    match lock_timeout_ms {
        u64::MAX => TransactionOptions::LOCK_TIMEOUT,
        millis => Duration::from_millis(millis),
    }
}

/// `esker_tx_begin` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_begin(
    db: *const EskerDb,
    isolation: c_int,
    mode: c_int,
    lock_timeout_ms: u64,
    owner: *const c_char,
    tx: *mut *mut EskerTx,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (tx, db) = unsafe { (room("tx", tx)?, live("db", db)?) };
        let options = options(isolation, mode, lock_timeout_ms)?;
        let owner = match owner.is_null() {
            true => None,
            // SAFETY: the caller's string, by the rule of this room.
            false => Some(unsafe { text("owner", owner) }?),
        };
        let mut begun = db.db.begin_with(options);
        owner.into_iter().for_each(|owner| begun.set_owner(owner));
        *tx = give(EskerTx {
            stage: Stage::Live(begun),
            home: db.home,
            savepoints: Vec::new(),
            last_savepoint: 0,
        });
        Ok(Done::Ok)
    })
}

/// A live transaction, and a keyspace of its database as it is to be read.
struct Inside<'a> {
    tx: &'a Transaction,
    home: Home,
    keyspace: Keyspace,
    is_latest: bool,
}

impl Inside<'_> {
    fn source(&self) -> TransactionKeyspace<'_> {
        match self.is_latest {
            true => self.tx.latest(&self.keyspace),
            false => self.tx.of(&self.keyspace),
        }
    }
}

/// What the caller wants to read.
///
/// # Safety
/// Each NULL or live, and the transaction in no call that changes it.
unsafe fn inside<'a>(
    tx: *const EskerTx,
    keyspace: *const EskerKeyspace,
    flags: u32,
) -> Result<Inside<'a>> {
    // SAFETY: by this function's own rule.
    let (home, (tx, keyspace)) = unsafe { (live("tx", tx)?.home, within(tx, keyspace)?) };
    let (options, is_latest) = of_transaction_read(flags)?;
    let keyspace = match flags {
        0 => keyspace.clone(),
        _ => keyspace.with_read(options),
    };
    Ok(Inside {
        tx,
        home,
        keyspace,
        is_latest,
    })
}

/// A live transaction, and a keyspace of its database.
///
/// # Safety
/// As [`inside`].
pub unsafe fn within<'a>(
    tx: *const EskerTx,
    keyspace: *const EskerKeyspace,
) -> Result<(&'a Transaction, &'a Keyspace)> {
    // SAFETY: by this function's own rule.
    let (tx, keyspace) = unsafe { (live("tx", tx)?, named("keyspace", keyspace)?) };
    let keyspace = keyspace.within(tx.home)?;
    Ok((tx.live()?, keyspace))
}

/// `esker_tx_get` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_get(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    flags: u32,
    value: *mut EskerValue,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (value, inside, key) = unsafe {
            (
                place("value", value)?,
                inside(tx, keyspace, flags),
                bytes("key", key, key_size),
            )
        };
        hold(value, inside.and_then(|inside| inside.source().get(key?)))
    })
}

/// `esker_tx_multi_get` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_multi_get(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    keys: *const EskerBytes,
    count: usize,
    flags: u32,
    values: *const *mut EskerValue,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            let values = values_of(values, count)?;
            let read = || {
                let (inside, keys) = (inside(tx, keyspace, flags)?, keys_of(keys, count)?);
                inside.source().multi_get(&keys)
            };
            hold_all(values, read())
        }
    })
}

/// `esker_tx_iter_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_iter_new(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
    flags: u32,
    iter: *mut *mut EskerIter,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (iter, inside, range) = unsafe {
            (
                room("iter", iter)?,
                inside(tx, keyspace, flags)?,
                bounds((lower, lower_size), (upper, upper_size))?,
            )
        };
        let cursor = inside.source().cursor_in::<&[u8]>(range)?;
        *iter = give(EskerIter::new(cursor, inside.home));
        Ok(Done::Ok)
    })
}

/// `esker_tx_size` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_size(
    tx: *const EskerTx,
    writes: *mut u64,
    size_bytes: *mut u64,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let tx = unsafe {
            tell(writes, 0);
            tell(size_bytes, 0);
            live("tx", tx)?.live()?
        };
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(writes, tx.len() as u64);
            tell(size_bytes, tx.size_bytes());
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_commit` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_commit(tx: *mut EskerTx, flags: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        let options = of_write(flags)?;
        match tx.end() {
            Stage::Live(live) => live.commit_with(options)?,
            Stage::Prepared(prepared) => prepared.commit_with(options)?,
            stage => {
                tx.stage = stage;
                return tx.refused();
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_rollback` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_rollback(tx: *mut EskerTx, flags: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        let options = of_write(flags)?;
        match tx.end() {
            Stage::Live(live) => live.rollback(),
            Stage::Prepared(prepared) => prepared.rollback_with(options)?,
            stage => {
                tx.stage = stage;
                return tx.refused();
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_free(tx: *mut EskerTx) {
    // SAFETY: NULL, or it came from `esker_tx_begin` and the caller gives it up.
    told((), || drop(unsafe { take(tx) }));
}
