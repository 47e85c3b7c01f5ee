//! The section "Reading" of `esker/c.h`: single keys, now or at a snapshot.

use std::ffi::{c_int, c_void};

use esker::{Bytes, Error, Expiry, Keyspace, KeyspaceSnapshot, Result};

use crate::abi::arguments::{bytes, named, place, tell};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::snapshot::EskerSnapshot;
use crate::abi::value::EskerValue;
use crate::answer::{Done, answer};
use crate::flags::of_read;

/// `esker_bytes` of `esker/c.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EskerBytes {
    /// Where they are.
    pub data: *const c_void,
    /// How many.
    pub size: usize,
}

impl EskerBytes {
    /// None at all.
    pub const NONE: EskerBytes = EskerBytes {
        data: std::ptr::null(),
        size: 0,
    };

    /// Those.
    pub fn of(bytes: &[u8]) -> EskerBytes {
        EskerBytes {
            data: bytes.as_ptr().cast(),
            size: bytes.len(),
        }
    }
}

/// A keyspace at the moment and in the way that the caller wants.
pub enum Reader<'a> {
    /// Now, as its handle reads.
    Now(&'a Keyspace),
    /// Now, as this call is told.
    Told(Keyspace),
    /// At a snapshot.
    Then(KeyspaceSnapshot),
}

/// Reads through whichever it is.
macro_rules! through {
    ($reader:expr, $source:ident => $read:expr) => {
        match $reader {
            Reader::Now($source) => $read,
            Reader::Told($source) => $read,
            Reader::Then($source) => $read,
        }
    };
}
pub(crate) use through;

/// The keyspace as the caller wants to read it; a snapshot that is NULL is now.
///
/// # Safety
/// Each NULL or live.
pub unsafe fn reader<'a>(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    flags: u32,
) -> Result<Reader<'a>> {
    // SAFETY: by this function's own rule.
    let (keyspace, snapshot) = unsafe { (named("keyspace", keyspace)?, snapshot.as_ref()) };
    let told = (flags != 0).then(|| of_read(flags)).transpose()?;
    let Some(snapshot) = snapshot else {
        return Ok(match told {
            None => Reader::Now(&keyspace.keyspace),
            Some(options) => Reader::Told(keyspace.keyspace.with_read(options)),
        });
    };
    let keyspace = keyspace.within(snapshot.home)?;
    Ok(Reader::Then(match told {
        None => snapshot.snapshot.of(keyspace),
        Some(options) => snapshot.snapshot.of(&keyspace.with_read(options)),
    }))
}

/// `esker_get` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_get(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    key: *const c_void,
    key_size: usize,
    flags: u32,
    value: *mut EskerValue,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (value, reader, key) = unsafe {
            (
                place("value", value)?,
                reader(keyspace, snapshot, flags),
                bytes("key", key, key_size),
            )
        };
        hold(
            value,
            reader.and_then(|reader| through!(&reader, source => source.get(key?))),
        )
    })
}

/// Has `value` hold what was found; nothing after an error, so that nobody takes what it held
/// before for it.
pub fn hold(value: &mut EskerValue, found: Result<Option<Bytes>>) -> Result<Done> {
    let (found, failed) = match found {
        Ok(found) => (found, None),
        Err(error) => (None, Some(error)),
    };
    let done = Done::if_found(found.is_some());
    value.hold(found);
    failed.map_or(Ok(done), Err)
}

/// `esker_get_into` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_get_into(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    key: *const c_void,
    key_size: usize,
    flags: u32,
    buffer: *mut c_void,
    capacity: usize,
    size: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (size, reader, key) = unsafe {
            tell(size, 0);
            (
                place("size", size)?,
                reader(keyspace, snapshot, flags)?,
                bytes("key", key, key_size)?,
            )
        };
        if buffer.is_null() && capacity != 0 {
            let refusal = format!("buffer is NULL, and its capacity is {capacity}");
            return Err(Error::invalid(refusal));
        }
        let Some(found) = through!(&reader, source => source.get(key))? else {
            return Ok(Done::NotFound);
        };
        *size = found.len();
        if found.len() > capacity {
            return Ok(Done::BufferTooSmall);
        }
        if !found.is_empty() {
            // SAFETY: the buffer has room for `capacity` bytes, by the rule of this room, and the
            // value is memory of ours.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), buffer.cast(), found.len()) };
        }
        Ok(Done::Ok)
    })
}

/// `esker_contains` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_contains(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    key: *const c_void,
    key_size: usize,
    flags: u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (reader, key) = unsafe {
            (
                reader(keyspace, snapshot, flags)?,
                bytes("key", key, key_size)?,
            )
        };
        through!(&reader, source => source.contains_key(key)).map(Done::if_found)
    })
}

/// `esker_expiry` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_expiry(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
    key: *const c_void,
    key_size: usize,
    flags: u32,
    unix_ms: *mut u64,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (reader, key) = unsafe {
            tell(unix_ms, 0);
            (
                reader(keyspace, snapshot, flags)?,
                bytes("key", key, key_size)?,
            )
        };
        let Some(expiry) = through!(&reader, source => source.expiry(key))? else {
            return Ok(Done::NotFound);
        };
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(unix_ms, expiry.map_or(0, Expiry::unix_ms)) };
        Ok(Done::Ok)
    })
}

/// `esker_multi_get` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_multi_get(
    keyspace: *const EskerKeyspace,
    snapshot: *const EskerSnapshot,
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
                let (reader, keys) = (reader(keyspace, snapshot, flags)?, keys_of(keys, count)?);
                through!(&reader, source => source.multi_get(&keys))
            };
            hold_all(values, read())
        }
    })
}

/// The caller's keys.
///
/// # Safety
/// NULL, or so many, each as [`bytes`].
pub unsafe fn keys_of<'a>(keys: *const EskerBytes, count: usize) -> Result<Vec<&'a [u8]>> {
    // SAFETY: by this function's own rule.
    let keys = unsafe { array("keys", keys, count) }?;
    // SAFETY: by this function's own rule.
    let key = |key: &EskerBytes| unsafe { bytes("a key", key.data, key.size) };
    keys.iter().map(key).collect()
}

/// The caller's values, none of which is NULL.
///
/// # Safety
/// NULL, or so many, each NULL or live, in no other call and none there twice.
pub unsafe fn values_of<'a>(
    values: *const *mut EskerValue,
    count: usize,
) -> Result<&'a [*mut EskerValue]> {
    // SAFETY: by this function's own rule.
    let values = unsafe { array("values", values, count) }?;
    match values.iter().any(|value| value.is_null()) {
        true => Err(Error::invalid("one of the values is NULL")),
        false => Ok(values),
    }
}

/// Has each value hold what was found for its key; nothing after an error. What they held until now
/// goes only here: a key may lie in one of them.
///
/// # Safety
/// As what [`values_of`] gave.
pub unsafe fn hold_all(
    values: &[*mut EskerValue],
    found: Result<Vec<Option<Bytes>>>,
) -> Result<Done> {
    let (found, failed) = match found {
        Ok(found) => (found, None),
        Err(error) => (vec![None; values.len()], Some(error)),
    };
    for (value, found) in values.iter().zip(found) {
        // SAFETY: live and in no other call, by this function's own rule.
        unsafe { (**value).hold(found) };
    }
    failed.map_or(Ok(Done::Ok), Err)
}

/// So many of something.
///
/// # Safety
/// NULL, or so many.
pub unsafe fn array<'a, T>(name: &str, start: *const T, count: usize) -> Result<&'a [T]> {
    let most = isize::MAX.unsigned_abs() / size_of::<T>().max(1);
    match count {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Error::invalid(format!(
            "{name} is NULL, and there are to be {count}"
        ))),
        _ if count > most => Err(Error::invalid(format!(
            "there are to be {count} {name}, more than there can be"
        ))),
        // SAFETY: not NULL, and so many, by this function's own rule.
        _ => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}
