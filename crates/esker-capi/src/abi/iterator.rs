//! The section "Iterators" of `esker/c.h`: entries in order, both ways, within bounds.

use std::ffi::{c_int, c_void};

use esker::{DbCursor, Expiry, Result};

use crate::abi::arguments::{
    Handle, bounds, bytes, give, live, live_mut, named, place, room, take, tell,
};
use crate::abi::home::Home;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::reading::{EskerBytes, Reader, hold, reader, through};
use crate::abi::snapshot::EskerSnapshot;
use crate::abi::value::EskerValue;
use crate::answer::{Done, answer, told};

/// `esker_iter` of `esker/c.h`.
pub struct EskerIter {
    cursor: DbCursor,
    /// Its database.
    home: Home,
    /// The key that is sought: the caller's may lie in the cursor, which moves under it.
    sought: Vec<u8>,
}

impl EskerIter {
    /// One that stands nowhere yet.
    pub fn new(cursor: DbCursor, home: Home) -> EskerIter {
        EskerIter {
            cursor,
            home,
            sought: Vec::new(),
        }
    }
}

impl Handle for EskerIter {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
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
        // SAFETY: the same keyspace, which was read through.
        let home = unsafe { named("keyspace", keyspace) }?.home();
        *iter = give(EskerIter::new(cursor, home));
        Ok(Done::Ok)
    })
}

/// Has an iterator go somewhere.
///
/// # Safety
/// NULL, or a live iterator that is in no other call.
unsafe fn go(iter: *mut EskerIter, go: impl FnOnce(&mut DbCursor) -> Result<bool>) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let iter = unsafe { live_mut("iter", iter) }?;
    go(&mut iter.cursor).map(Done::if_found)
}

/// Has an iterator go to a key.
///
/// # Safety
/// As [`go`]; the key as [`bytes`].
unsafe fn seek(
    iter: *mut EskerIter,
    key: (*const c_void, usize),
    seek: impl FnOnce(&mut DbCursor, &[u8]) -> Result<bool>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let (iter, key) = unsafe { (live_mut("iter", iter)?, bytes("key", key.0, key.1)?) };
    iter.sought.clear();
    iter.sought.extend_from_slice(key);
    seek(&mut iter.cursor, &iter.sought).map(Done::if_found)
}

/// Has an iterator go one entry on. In a callback it may: among what it has at hand, where nothing
/// is waited for.
///
/// # Safety
/// As [`go`].
unsafe fn step(
    iter: *mut EskerIter,
    step: impl FnOnce(&mut DbCursor) -> Result<bool>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let iter = unsafe { place("iter", iter) }?;
    iter.home.check_process()?;
    step(&mut iter.cursor).map(Done::if_found)
}

/// `esker_iter_seek_to_first` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek_to_first(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { go(iter, DbCursor::seek_to_first) })
}

/// `esker_iter_seek_to_last` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek_to_last(iter: *mut EskerIter) -> c_int {
    // SAFETY: the caller's iterator, by the rule of this room.
    answer(|| unsafe { go(iter, DbCursor::seek_to_last) })
}

/// `esker_iter_seek` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_seek(
    iter: *mut EskerIter,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe { seek(iter, (key, key_size), |cursor, key| cursor.seek(key)) })
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
        seek(iter, (key, key_size), |cursor, key| {
            cursor.seek_for_prev(key)
        })
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

/// Moves an iterator, and tells where it is then.
///
/// # Safety
/// As [`go`]; key and value each NULL, or room.
unsafe fn step_and_tell(
    iter: *mut EskerIter,
    (key, value): (*mut EskerBytes, *mut EskerBytes),
    step: impl FnOnce(&mut DbCursor) -> Result<bool>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let iter = unsafe {
        tell(key, EskerBytes::NONE);
        tell(value, EskerBytes::NONE);
        place("iter", iter)?
    };
    iter.home.check_process()?;
    if !step(&mut iter.cursor)? {
        return Ok(Done::NotFound);
    }
    // SAFETY: by this function's own rule.
    unsafe { tell_entry(iter, key, value) }
}

/// Tells the entry that an iterator is at.
///
/// # Safety
/// Each NULL, or room.
unsafe fn tell_entry(
    iter: &EskerIter,
    key: *mut EskerBytes,
    value: *mut EskerBytes,
) -> Result<Done> {
    let Some(found) = iter.cursor.key() else {
        return Ok(Done::NotFound);
    };
    // SAFETY: by this function's own rule.
    unsafe { tell(key, EskerBytes::of(found)) };
    if !value.is_null() {
        let found = iter.cursor.value()?.unwrap_or_default();
        // SAFETY: not NULL, and so room, by this function's own rule.
        unsafe { value.write(EskerBytes::of(found)) };
    }
    Ok(Done::Ok)
}

/// `esker_iter_next_entry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_next_entry(
    iter: *mut EskerIter,
    key: *mut EskerBytes,
    value: *mut EskerBytes,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe { step_and_tell(iter, (key, value), DbCursor::next) })
}

/// `esker_iter_prev_entry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_prev_entry(
    iter: *mut EskerIter,
    key: *mut EskerBytes,
    value: *mut EskerBytes,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe { step_and_tell(iter, (key, value), DbCursor::prev) })
}

/// `esker_iter_entry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_iter_entry(
    iter: *const EskerIter,
    key: *mut EskerBytes,
    value: *mut EskerBytes,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            tell(key, EskerBytes::NONE);
            tell(value, EskerBytes::NONE);
            let iter = named("iter", iter)?;
            iter.home.check_process()?;
            tell_entry(iter, key, value)
        }
    })
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
            named("iter", iter)?
        };
        iter.home.check_process()?;
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
        let (value, iter) = unsafe { (place("value", value)?, live("iter", iter)) };
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
