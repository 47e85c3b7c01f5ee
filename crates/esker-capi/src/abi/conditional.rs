//! The section "Conditional writes" of `esker/c.h`: writes that depend on what is there.

use std::ffi::{c_int, c_void};

use crate::abi::arguments::{bytes, bytes_or_none};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::writing::{expiry, write_as};
use crate::answer::{Done, answer};

/// `esker_put_if_absent` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_put_if_absent(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let value = bytes("value", value, value_size)?;
        let put = write_as(keyspace, flags, |keyspace| {
            keyspace.put_if_absent(key, value)
        })?;
        Ok(Done::if_changed(put))
    })
}

/// `esker_compare_and_swap` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_compare_and_swap(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    expected: *const c_void,
    expected_size: usize,
    value: *const c_void,
    value_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let expected = bytes_or_none("expected", expected, expected_size)?;
        let value = bytes_or_none("value", value, value_size)?;
        let swapped = write_as(keyspace, flags, |keyspace| {
            keyspace.compare_and_swap(key, expected, value)
        })?;
        Ok(Done::if_changed(swapped))
    })
}

/// `esker_delete_if_present` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_delete_if_present(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let was_there = write_as(keyspace, flags, |keyspace| keyspace.delete_if_present(key))?;
        Ok(Done::if_found(was_there))
    })
}

/// `esker_set_expiry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_set_expiry(
    keyspace: *const EskerKeyspace,
    key: *const c_void,
    key_size: usize,
    unix_ms: u64,
    flags: u32,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, end) = (bytes("key", key, key_size)?, expiry(unix_ms));
        let was_there = write_as(keyspace, flags, |keyspace| keyspace.set_expiry(key, end))?;
        Ok(Done::if_found(was_there))
    })
}
