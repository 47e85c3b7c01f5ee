//! The section "Writing" of `esker/c.h`: single writes.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use esker::{Expiry, Keyspace, Result};

use crate::abi::arguments::{bounds, bytes, named};
use crate::abi::keyspace::EskerKeyspace;
use crate::answer::{Done, answer};
use crate::flags::of_write;

/// An end as C tells it: 0 is for good.
pub fn expiry(unix_ms: u64) -> Option<Expiry> {
    (unix_ms != 0).then(|| Expiry::from_unix_ms(unix_ms))
}

/// Writes through the handle, or through one that does it as the caller's flags say.
///
/// # Safety
/// NULL, or a live keyspace.
unsafe fn write(
    keyspace: *const EskerKeyspace,
    flags: u32,
    act: impl FnOnce(&Keyspace) -> Result<()>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    unsafe { write_as(keyspace, flags, act) }?;
    Ok(Done::Ok)
}

/// As [`write`], for a write that tells something.
///
/// # Safety
/// NULL, or a live keyspace.
pub unsafe fn write_as<T>(
    keyspace: *const EskerKeyspace,
    flags: u32,
    act: impl FnOnce(&Keyspace) -> Result<T>,
) -> Result<T> {
    // SAFETY: by this function's own rule.
    let keyspace = &unsafe { named("keyspace", keyspace) }?.keyspace;
    match flags {
        0 => act(keyspace),
        _ => act(&keyspace.with_write(of_write(flags)?)),
    }
}

/// `esker_put` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_put(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        write(keyspace, flags, |keyspace| keyspace.put(key, value))
    })
}

/// `esker_put_with_ttl` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_put_with_ttl(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    ttl_ms: u64,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        let ttl = Duration::from_millis(ttl_ms);
        write(keyspace, flags, |keyspace| {
            keyspace.put_with_ttl(key, value, ttl)
        })
    })
}

/// `esker_put_until` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_put_until(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    unix_ms: u64,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        let end = expiry(unix_ms);
        write(keyspace, flags, |keyspace| {
            keyspace.put_until(key, value, end)
        })
    })
}

/// `esker_delete` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_delete(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        write(keyspace, flags, |keyspace| keyspace.delete(key))
    })
}

/// `esker_delete_range` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_delete_range(
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let range = bounds((lower, lower_size), (upper, upper_size))?;
        write(keyspace, flags, |keyspace| {
            keyspace.delete_range::<&[u8]>(range)
        })
    })
}

/// `esker_merge` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_merge(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    operand: *const c_void,
    operand_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let operand = bytes("operand", operand, operand_size)?;
        write(keyspace, flags, |keyspace| keyspace.merge(key, operand))
    })
}
