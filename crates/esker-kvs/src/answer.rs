//! How a call answers C: a number, the reason kept for `kvs_errmsg`, and no panic.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::instance::Instance;
use crate::refusal::Refusal;

/// It worked.
const DONE: c_int = 0;
/// It did not; `kvs_errmsg` says why.
const FAILED: c_int = -1;
/// The key is not there, or the scan is over. Only functions that begin with `kvs_` tell this.
const MISSING: c_int = 1;
/// The buffer is too small. Only `kvs_get` tells this.
const SMALL: c_int = 2;

thread_local! {
    /// Why the last call of this thread that failed did so.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs `act`; a panic becomes a refusal. What a panic may have left half done is the engine's,
/// which refuses further writes then.
pub fn guarded<T>(act: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// Runs `act` as [`guarded`] does; a refusal goes into the store's log, with the caller's place.
#[track_caller]
pub fn logged(
    instance: &Instance,
    call: &str,
    act: impl FnOnce(&Instance) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let result = guarded(|| act(instance));
    if let Err(refusal) = &result {
        instance.log().refusal(&refusal.lines(call));
    }
    result
}

/// As the original's functions answer.
pub fn code(result: Result<(), Refusal>) -> c_int {
    match result {
        Ok(()) => DONE,
        Err(refusal) => {
            remember(&refusal);
            FAILED
        }
    }
}

/// As the functions answer that begin with `kvs_`. A key that is not there is no failure.
pub fn code_of_kvs(result: Result<(), Refusal>) -> c_int {
    let is_small = matches!(result, Err(Refusal::SmallBuffer { .. }));
    match result {
        Err(Refusal::Missing) => MISSING,
        result if is_small => {
            code(result);
            SMALL
        }
        result => code(result),
    }
}

/// An object for C to hold, or NULL and the reason kept.
pub fn object<T>(result: Result<T, Refusal>) -> *mut T {
    match result {
        Ok(object) => Box::into_raw(Box::new(object)),
        Err(refusal) => {
            remember(&refusal);
            std::ptr::null_mut()
        }
    }
}

/// Keeps the reason for [`reason`].
pub fn remember(refusal: &Refusal) {
    let text = CString::new(refusal.to_string().replace('\0', " ")).unwrap_or_default();
    // A thread that is ending has nobody left to ask.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// Why the last call of this thread that failed did so. The text stays where it is until the next
/// one fails; a thread that is ending has none any more.
pub fn reason() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

fn panicked(panic: &(dyn Any + Send)) -> Refusal {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Refusal::Panicked(text.unwrap_or("a panic without words").to_owned())
}

#[cfg(test)]
mod tests;
