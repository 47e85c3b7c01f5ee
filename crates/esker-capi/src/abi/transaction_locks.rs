//! The section "Locks" of `esker/c.h`: what a transaction locks, to read it or by name.

use std::ffi::{c_int, c_void};

use esker::{Bytes, Error, Keyspace, Result, Transaction};

use crate::abi::arguments::{bytes, live_mut, place};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::reading::{EskerBytes, hold, hold_all, keys_of, values_of};
use crate::abi::transaction::{EskerTx, lock_timeout, within};
use crate::abi::value::EskerValue;
use crate::answer::{Done, answer};

/// How something is locked.
#[derive(Clone, Copy)]
enum Lock {
    /// `ESKER_SHARED`.
    Shared,
    /// `ESKER_EXCLUSIVE`.
    Exclusive,
}

/// What C says, which may be any number.
fn lock(how: c_int) -> Result<Lock> {
    match how {
        0 => Ok(Lock::Shared),
        1 => Ok(Lock::Exclusive),
        _ => Err(Error::invalid(format!(
            "a lock {how} is neither ESKER_SHARED nor ESKER_EXCLUSIVE"
        ))),
    }
}

/// Reads a key under a lock.
///
/// # Safety
/// Each NULL or live, the transaction and the value in no other call; the key as [`bytes`].
unsafe fn locked(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: (*const c_void, usize),
    value: *mut EskerValue,
    read: impl FnOnce(&Transaction, &Keyspace, &[u8]) -> Result<Option<Bytes>>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let (value, within, key) = unsafe {
        (
            place("value", value)?,
            within(tx, keyspace),
            bytes("key", key.0, key.1),
        )
    };
    hold(
        value,
        within.and_then(|(tx, keyspace)| read(tx, keyspace, key?)),
    )
}

/// `esker_tx_get_for_update` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_get_for_update(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *mut EskerValue,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        locked(tx, keyspace, (key, key_size), value, |tx, keyspace, key| {
            tx.get_for_update(keyspace, key)
        })
    })
}

/// `esker_tx_get_for_share` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_get_for_share(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *mut EskerValue,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        locked(tx, keyspace, (key, key_size), value, |tx, keyspace, key| {
            tx.get_for_share(keyspace, key)
        })
    })
}

/// `esker_tx_multi_get_for_update` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_multi_get_for_update(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    keys: *const EskerBytes,
    count: usize,
    values: *const *mut EskerValue,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            let values = values_of(values, count)?;
            let read = || {
                let ((tx, keyspace), keys) = (within(tx, keyspace)?, keys_of(keys, count)?);
                tx.multi_get_for_update(keyspace, &keys)
            };
            hold_all(values, read())
        }
    })
}

/// `esker_tx_lock` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_lock(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    how: c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let ((tx, keyspace), key) =
            unsafe { (within(tx, keyspace)?, bytes("key", key, key_size)?) };
        match lock(how)? {
            Lock::Shared => tx.lock_for_share(keyspace, key)?,
            Lock::Exclusive => tx.lock_for_update(keyspace, key)?,
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_lock_keyspace` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_lock_keyspace(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    how: c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (tx, keyspace) = unsafe { within(tx, keyspace) }?;
        match lock(how)? {
            Lock::Shared => tx.lock_keyspace_for_share(keyspace)?,
            Lock::Exclusive => tx.lock_keyspace_for_update(keyspace)?,
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_lock_place` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_lock_place(tx: *mut EskerTx, to: *mut u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (to, tx) = unsafe { (place("place", to)?, live_mut("tx", tx)?) };
        *to = 0;
        *to = tx.live_mut()?.lock_place();
        Ok(Done::Ok)
    })
}

/// `esker_tx_unlock_since` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_unlock_since(tx: *mut EskerTx, place: u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        tx.live_mut()?.unlock_since(place)?;
        Ok(Done::Ok)
    })
}

/// `esker_tx_set_lock_timeout` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_set_lock_timeout(
    tx: *mut EskerTx,
    lock_timeout_ms: u64,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        tx.live_mut()?
            .set_lock_timeout(lock_timeout(lock_timeout_ms));
        Ok(Done::Ok)
    })
}
