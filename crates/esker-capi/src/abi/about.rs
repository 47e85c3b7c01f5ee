//! The section "About" of `esker/c.h`: versions, texts, and what a number means.

use std::ffi::{CStr, CString, c_char, c_int};

use crate::abi::arguments;
use crate::answer::{self, told};

/// Goes up when a program that was linked against an older library could not use a newer one; the
/// last number of the library's name goes up with it (scripts/libesker.sh).
pub const ABI_VERSION: u32 = 1;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// `esker_abi_version` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_abi_version() -> u32 {
    ABI_VERSION
}

/// `esker_version` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_version() -> *const c_char {
    VERSION.as_ptr()
}

/// `esker_errmsg` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_errmsg() -> *const c_char {
    answer::last_text()
}

/// `esker_code_name` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_code_name(code: c_int) -> *const c_char {
    answer::word(code).map_or(std::ptr::null(), CStr::as_ptr)
}

/// `esker_is_retryable` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_is_retryable(code: c_int) -> c_int {
    c_int::from(answer::is_retryable(code))
}

/// `esker_string_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_string_free(text: *mut c_char) {
    // SAFETY: NULL, or it came from `give_text` and the caller gives it up.
    told((), || unsafe { drop_text(text) });
}

/// `esker_strings_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_strings_free(texts: *mut *mut c_char, count: usize) {
    told((), || {
        if texts.is_null() {
            return;
        }
        // SAFETY: both came from one call that gave as many texts, and the caller gives them up.
        let texts = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(texts, count)) };
        // SAFETY: as above.
        texts.iter().for_each(|text| unsafe { drop_text(*text) });
    });
}

/// # Safety
/// NULL, or from `give_text` and given up by the caller.
unsafe fn drop_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: by this function's own rule.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Texts for the caller, who frees them by `esker_strings_free`.
pub fn give_texts(texts: &[String]) -> (*mut *mut c_char, usize) {
    let given: Box<[*mut c_char]> = texts
        .iter()
        .map(|text| arguments::give_text(text))
        .collect();
    let count = given.len();
    (Box::into_raw(given).cast(), count)
}
