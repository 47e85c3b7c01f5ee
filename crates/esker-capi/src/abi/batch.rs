//! The section "Batches" of `esker/c.h`: writes that happen together or not at all.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use esker::{Keyspace, Result, WriteBatch};

use crate::abi::arguments::{Handle, bytes, give, keys_between, live, live_mut, named, room, take};
use crate::abi::database::EskerDb;
use crate::abi::home::Home;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::writing::expiry;
use crate::answer::{Done, answer, told};
use crate::flags::of_write;

/// `esker_batch` of `esker/c.h`.
pub struct EskerBatch {
    batch: WriteBatch,
    /// Its database.
    home: Home,
}

impl Handle for EskerBatch {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
    }
}

/// Adds a write. One that is refused is told at once, and the batch is as before.
///
/// # Safety
/// Each NULL or live, and the batch in no other call.
pub unsafe fn add(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    act: impl FnOnce(&mut WriteBatch, &Keyspace),
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let (batch, keyspace) = unsafe { (live_mut("batch", batch)?, named("keyspace", keyspace)?) };
    act(&mut batch.batch, keyspace.within(batch.home)?);
    batch.batch.take_refusal().map_or(Ok(Done::Ok), Err)
}

/// `esker_batch_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_new(db: *const EskerDb, batch: *mut *mut EskerBatch) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (batch, db) = unsafe { (room("batch", batch)?, live("db", db)?) };
        *batch = give(EskerBatch {
            batch: db.db.batch(),
            home: db.home,
        });
        Ok(Done::Ok)
    })
}

/// `esker_batch_put` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_put(
    batch: *mut EskerBatch,
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
        add(batch, keyspace, |batch, keyspace| {
            batch.put(keyspace, key, value);
        })
    })
}

/// `esker_batch_put_with_ttl` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_put_with_ttl(
    batch: *mut EskerBatch,
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
        add(batch, keyspace, |batch, keyspace| {
            batch.put_with_ttl(keyspace, key, value, Duration::from_millis(ttl_ms));
        })
    })
}

/// `esker_batch_put_until` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_put_until(
    batch: *mut EskerBatch,
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
        add(batch, keyspace, |batch, keyspace| {
            batch.put_until(keyspace, key, value, expiry(unix_ms));
        })
    })
}

/// `esker_batch_delete` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_delete(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        add(batch, keyspace, |batch, keyspace| {
            batch.delete(keyspace, key);
        })
    })
}

/// `esker_batch_delete_range` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_delete_range(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (lower, upper) = keys_between((lower, lower_size), (upper, upper_size))?;
        add(batch, keyspace, |batch, keyspace| {
            batch.delete_range(keyspace, lower, upper);
        })
    })
}

/// `esker_batch_merge` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_merge(
    batch: *mut EskerBatch,
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
        add(batch, keyspace, |batch, keyspace| {
            batch.merge(keyspace, key, operand);
        })
    })
}

/// `esker_batch_set_expiry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_set_expiry(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    unix_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        add(batch, keyspace, |batch, keyspace| {
            batch.set_expiry(keyspace, key, expiry(unix_ms));
        })
    })
}

/// `esker_batch_count` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_count(batch: *const EskerBatch) -> usize {
    told(0, || {
        // SAFETY: NULL or a live batch that nobody changes, by the rule of this room.
        unsafe { batch.as_ref() }.map_or(0, |batch| batch.batch.len())
    })
}

/// `esker_batch_size` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_size(batch: *const EskerBatch) -> usize {
    told(0, || {
        // SAFETY: NULL or a live batch that nobody changes, by the rule of this room.
        unsafe { batch.as_ref() }.map_or(0, |batch| batch.batch.size_bytes())
    })
}

/// `esker_batch_clear` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_clear(batch: *mut EskerBatch) {
    // SAFETY: NULL or a live batch that is in no other call, by the rule of this room.
    let batch = unsafe { batch.as_mut() };
    told((), || {
        batch.into_iter().for_each(|batch| batch.batch.clear())
    });
}

/// `esker_batch_commit` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_commit(batch: *mut EskerBatch, flags: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's batch, by the rule of this room.
        let batch = unsafe { live_mut("batch", batch) }?;
        batch.batch.commit_with(of_write(flags)?)?;
        Ok(Done::Ok)
    })
}

/// `esker_batch_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_free(batch: *mut EskerBatch) {
    // SAFETY: NULL, or it came from `esker_batch_new` and the caller gives it up.
    told((), || drop(unsafe { take(batch) }));
}
