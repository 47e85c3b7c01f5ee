//! What C gives: bytes, names, bounds, live objects, and places to write to.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use esker::{Error, Result};

/// Bytes from `lower` up to `upper`, exclusive; `None` is no bound.
pub type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The caller's bytes; NULL is empty if the size is 0.
///
/// # Safety
/// NULL, or that many bytes which live and stay as they are while the result is used.
pub unsafe fn bytes<'a>(name: &str, start: *const c_void, size: usize) -> Result<&'a [u8]> {
    match size {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Error::invalid(format!(
            "{name} is NULL, and its size is {size}"
        ))),
        // No object is larger: a negative number that became a size would be.
        _ if isize::try_from(size).is_err() => Err(Error::invalid(format!(
            "the size of {name} is {size}, more than there can be"
        ))),
        // SAFETY: not NULL, and as many bytes as said, by this function's own rule.
        _ => Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) }),
    }
}

/// The caller's bytes; NULL is none, whatever the size says.
///
/// # Safety
/// As [`bytes`].
pub unsafe fn bytes_or_none<'a>(
    name: &str,
    start: *const c_void,
    size: usize,
) -> Result<Option<&'a [u8]>> {
    match start.is_null() {
        true => Ok(None),
        // SAFETY: by this function's own rule.
        false => unsafe { bytes(name, start, size) }.map(Some),
    }
}

/// The caller's range: a bound that is NULL is none, whatever its size says.
///
/// # Safety
/// Each as [`bytes`].
pub unsafe fn bounds<'a>(
    lower: (*const c_void, usize),
    upper: (*const c_void, usize),
) -> Result<Bounds<'a>> {
    // SAFETY: by this function's own rule.
    let bound = |name, (start, size)| unsafe { bytes_or_none(name, start, size) };
    let lower = bound("lower", lower)?.map_or(Bound::Unbounded, Bound::Included);
    let upper = bound("upper", upper)?.map_or(Bound::Unbounded, Bound::Excluded);
    Ok((lower, upper))
}

/// The caller's range of keys, of which the upper one has to be told: what has no end is known only
/// where the write is done. A lower one that is NULL is the empty key.
///
/// # Safety
/// Each as [`bytes`].
pub unsafe fn keys_between<'a>(
    lower: (*const c_void, usize),
    upper: (*const c_void, usize),
) -> Result<(&'a [u8], &'a [u8])> {
    // SAFETY: by this function's own rule.
    match unsafe { bounds(lower, upper) }? {
        (Bound::Included(lower), Bound::Excluded(upper)) => Ok((lower, upper)),
        (_, Bound::Excluded(upper)) => Ok((&[], upper)),
        _ => Err(Error::invalid(
            "upper is NULL: this deletes up to a key, esker_delete_range also to the end",
        )),
    }
}

/// The caller's text, which is UTF-8.
///
/// # Safety
/// NULL, or a string that ends with NUL and lives while the result is used.
pub unsafe fn text<'a>(name: &str, start: *const c_char) -> Result<&'a str> {
    if start.is_null() {
        return Err(Error::invalid(format!("{name} is NULL")));
    }
    // SAFETY: not NULL, and a string, by this function's own rule.
    let text = unsafe { CStr::from_ptr(start) };
    text.to_str()
        .map_err(|error| Error::invalid(format!("{name} is no UTF-8: {error}")))
}

/// The caller's path, any bytes.
///
/// # Safety
/// As [`text`].
pub unsafe fn path<'a>(name: &str, start: *const c_char) -> Result<&'a Path> {
    if start.is_null() {
        return Err(Error::invalid(format!("{name} is NULL")));
    }
    // SAFETY: not NULL, and a string, by this function's own rule.
    let text = unsafe { CStr::from_ptr(start) };
    Ok(Path::new(OsStr::from_bytes(text.to_bytes())))
}

/// What a handle of C leads to.
pub trait Handle {
    /// Whether it may be used here and now: `Invalid` for what belongs to a database in a callback
    /// that must not use any, and in a child of the process that opened it.
    fn check_call(&self) -> Result<()>;
}

/// The object behind a handle, which may be used here.
///
/// # Safety
/// NULL, or a live object that no other call changes meanwhile.
pub unsafe fn live<'a, T: Handle>(name: &str, object: *const T) -> Result<&'a T> {
    // SAFETY: by this function's own rule.
    let object = unsafe { named(name, object) }?;
    object.check_call()?;
    Ok(object)
}

/// As [`live`], to change it.
///
/// # Safety
/// NULL, or a live object that is in no other call.
pub unsafe fn live_mut<'a, T: Handle>(name: &str, object: *mut T) -> Result<&'a mut T> {
    // SAFETY: by this function's own rule.
    let object = unsafe { place(name, object) }?;
    object.check_call()?;
    Ok(object)
}

/// The object behind a handle, where the engine itself refuses what may not be done here: one look
/// less for reads and writes.
///
/// # Safety
/// As [`live`].
pub unsafe fn named<'a, T>(name: &str, object: *const T) -> Result<&'a T> {
    // SAFETY: by this function's own rule.
    unsafe { object.as_ref() }.ok_or_else(|| Error::invalid(format!("{name} is NULL")))
}

/// What the caller lets be changed.
///
/// # Safety
/// NULL, or a live object that is in no other call.
pub unsafe fn place<'a, T>(name: &str, object: *mut T) -> Result<&'a mut T> {
    // SAFETY: by this function's own rule.
    unsafe { object.as_mut() }.ok_or_else(|| Error::invalid(format!("{name} is NULL")))
}

/// Room for a handle, which is NULL until there is one.
///
/// # Safety
/// NULL, or room for a pointer.
pub unsafe fn room<'a, T>(name: &str, place: *mut *mut T) -> Result<&'a mut *mut T> {
    // SAFETY: by this function's own rule; whatever was in it, it is a pointer from here on.
    let place = unsafe {
        if !place.is_null() {
            place.write(std::ptr::null_mut());
        }
        place.as_mut()
    };
    place
        .ok_or_else(|| Error::invalid(format!("{name} is NULL: there is no room for what it gets")))
}

/// Gives an object to the caller, who frees it by the function of its type.
pub fn give<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// Takes back what [`give`] gave; NULL is nothing.
///
/// # Safety
/// NULL, or from [`give`] and given up by the caller.
pub unsafe fn take<T>(object: *mut T) -> Option<Box<T>> {
    // SAFETY: by this function's own rule.
    (!object.is_null()).then(|| unsafe { Box::from_raw(object) })
}

/// A text for the caller, who frees it by `esker_string_free`; a NUL in it becomes a space.
pub fn give_text(text: &str) -> *mut c_char {
    CString::new(text.replace('\0', " "))
        .unwrap_or_default()
        .into_raw()
}

/// Writes a number where the caller wants it; NULL is not to be told.
///
/// # Safety
/// NULL, or room for it.
pub unsafe fn tell<T>(place: *mut T, told: T) {
    if !place.is_null() {
        // SAFETY: not NULL, and room, by this function's own rule.
        unsafe { place.write(told) };
    }
}
