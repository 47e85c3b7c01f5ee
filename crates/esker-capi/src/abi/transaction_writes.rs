//! The section "Transactions" of `esker/c.h`: what is written in one.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use esker::{Keyspace, Result, Transaction};

use crate::abi::arguments::{bytes, keys_between, live_mut, named};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::transaction::EskerTx;
use crate::abi::writing::expiry;
use crate::answer::{Done, answer};

/// Writes in a transaction.
///
/// # Safety
/// Each NULL or live, and the transaction in no other call.
unsafe fn write(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    act: impl FnOnce(&mut Transaction, &Keyspace) -> Result<()>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let (tx, keyspace) = unsafe { (live_mut("tx", tx)?, named("keyspace", keyspace)?) };
    let keyspace = keyspace.within(tx.home)?;
    act(tx.live_mut()?, keyspace)?;
    Ok(Done::Ok)
}

/// `esker_tx_put` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_put(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        write(tx, keyspace, |tx, keyspace| tx.put(keyspace, key, value))
    })
}

/// `esker_tx_put_with_ttl` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_put_with_ttl(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    ttl_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        let ttl = Duration::from_millis(ttl_ms);
        write(tx, keyspace, |tx, keyspace| {
            tx.put_with_ttl(keyspace, key, value, ttl)
        })
    })
}

/// `esker_tx_put_until` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_put_until(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    unix_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        let end = expiry(unix_ms);
        write(tx, keyspace, |tx, keyspace| {
            tx.put_until(keyspace, key, value, end)
        })
    })
}

/// `esker_tx_delete` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_delete(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        write(tx, keyspace, |tx, keyspace| tx.delete(keyspace, key))
    })
}

/// `esker_tx_delete_range` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_delete_range(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (lower, upper) = keys_between((lower, lower_size), (upper, upper_size))?;
        write(tx, keyspace, |tx, keyspace| {
            tx.delete_range(keyspace, lower, upper)
        })
    })
}

/// `esker_tx_merge` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_merge(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    operand: *const c_void,
    operand_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let operand = bytes("operand", operand, operand_size)?;
        write(tx, keyspace, |tx, keyspace| {
            tx.merge(keyspace, key, operand)
        })
    })
}

/// `esker_tx_set_expiry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_set_expiry(
    tx: *mut EskerTx,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    unix_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, end) = (bytes("key", key, key_size)?, expiry(unix_ms));
        let mut was_there = false;
        let done = write(tx, keyspace, |tx, keyspace| {
            was_there = tx.set_expiry(keyspace, key, end)?;
            Ok(())
        })?;
        Ok(if was_there { done } else { Done::NotFound })
    })
}
