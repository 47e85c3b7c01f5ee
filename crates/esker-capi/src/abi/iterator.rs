//! The section "Iterators" of `esker/c.h`: entries in order, both ways, within bounds.

use std::ffi::{c_int, c_void};

use esker::{DbCursor, Expiry, Result};

use crate::abi::arguments::{bounds, bytes, give, live, live_mut, room, take, tell};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::reading::{Reader, hold, reader, through};
use crate::abi::snapshot::EskerSnapshot;
use crate::abi::value::EskerValue;
use crate::answer::{Done, answer, told};

/// `esker_iter` of `esker/c.h`.
pub struct EskerIter {
    cursor: DbCursor,
}

impl EskerIter {
    /// One that stands nowhere yet.
    pub fn new(cursor: DbCursor) -> EskerIter {
        EskerIter { cursor }
    }
}

/// `esker_iter_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_new(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
    flags: u32,
    iter: *mut *mut EskerIter,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (iter, reader, range) = unsafe {
            (
                room("iter", iter)?,
                reader(keyspace, snapshot, flags)?,
                bounds((lower, lower_size), (upper, upper_size))?,
            )
        };
        let cursor = through!(&reader, source => source.cursor_in::<&[u8]>(range))?;
        *iter = give(EskerIter::new(cursor));
        Ok(Done::Ok)
    })
}

/// Moves an iterator.
///
/// # Safety
/// NULL, or a live iterator that is in no other call.
unsafe fn step(
    iter: *mut EskerIter,
    step: impl FnOnce(&mut DbCursor) -> Result<bool>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let iter = unsafe { live_mut("iter", iter) }?;
    step(&mut iter.cursor).map(Done::if_found)
}

/// `esker_iter_seek_to_first` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek_to_first(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { step(iter, DbCursor::seek_to_first) })
}

/// `esker_iter_seek_to_last` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek_to_last(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { step(iter, DbCursor::seek_to_last) })
}

/// `esker_iter_seek` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek(
    iter: *mut EskerIter,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        step(iter, |cursor| cursor.seek(key))
    })
}

/// `esker_iter_seek_for_prev` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek_for_prev(
    iter: *mut EskerIter,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        step(iter, |cursor| cursor.seek_for_prev(key))
    })
}

/// `esker_iter_next` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_next(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { step(iter, DbCursor::next) })
}

/// `esker_iter_prev` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_prev(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { step(iter, DbCursor::prev) })
}

/// `esker_iter_valid` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_valid(iter: *const EskerIter) -> c_int {
    // SAFETY: NULL or a live iterator that nobody moves, by the rule of this room.
    let iter = unsafe { iter.as_ref() };
    c_int::from(told(false, || {
        iter.is_some_and(|iter| iter.cursor.is_valid())
    }))
}

/// `esker_iter_key` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_key(iter: *const EskerIter, size: *mut usize) -> *const c_void {
    // SAFETY: NULL or a live iterator that nobody moves, by the rule of this room.
    let iter = unsafe { iter.as_ref() };
    let key = told(None, || iter.and_then(|iter| iter.cursor.key()));
    // SAFETY: NULL or room, by the rule of this room.
    unsafe { tell(size, key.map_or(0, <[u8]>::len)) };
    key.map_or(std::ptr::null(), |key| key.as_ptr().cast())
}

/// `esker_iter_value` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_value(
    iter: *const EskerIter,
    data: *mut *const c_void,
    size: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let iter = unsafe {
            tell(data, std::ptr::null());
            tell(size, 0);
            live("iter", iter)?
        };
        let Some(value) = iter.cursor.value()? else {
            return Ok(Done::NotFound);
        };
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(data, value.as_ptr().cast());
            tell(size, value.len());
        }
        Ok(Done::Ok)
    })
}

/// `esker_iter_value_pinned` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_value_pinned(
    iter: *const EskerIter,
    value: *mut EskerValue,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (value, iter) = unsafe { (live_mut("value", value)?, live("iter", iter)) };
        hold(value, iter.and_then(|iter| iter.cursor.value_bytes()))
    })
}

/// `esker_iter_expiry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_expiry(iter: *const EskerIter, unix_ms: *mut u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let iter = unsafe {
            tell(unix_ms, 0);
            live("iter", iter)?
        };
        if !iter.cursor.is_valid() {
            return Ok(Done::NotFound);
        }
        let expiry = iter.cursor.expiry()?;
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(unix_ms, expiry.map_or(0, Expiry::unix_ms)) };
        Ok(Done::Ok)
    })
}

/// `esker_iter_refresh` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_refresh(iter: *mut EskerIter) -> c_int {
    answer(|| {
        // SAFETY: the caller's iterator, by the rule of this room.
        unsafe { live_mut("iter", iter) }?.cursor.refresh()?;
        Ok(Done::Ok)
    })
}

/// `esker_iter_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_free(iter: *mut EskerIter) {
    // SAFETY: NULL, or it came from a function that makes one, and the caller gives it up.
    told((), || drop(unsafe { take(iter) }));
}
