//! The section "Values" of `esker/c.h`: what a read found, held where it lies.

use std::ffi::c_void;

use esker::Bytes;

use crate::abi::arguments::{give, take, tell};
use crate::answer::told;

/// `esker_value` of `esker/c.h`. Bytes of up to 30 lie inside of it: it must not move while C looks
/// at them, and it lies in a box.
#[derive(Default)]
pub struct EskerValue {
    bytes: Option<Bytes>,
}

impl EskerValue {
    /// Holds other bytes, or none, from now on.
    pub fn hold(&mut self, bytes: Option<Bytes>) {
        self.bytes = bytes;
    }
}

/// `esker_value_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_value_new() -> *mut EskerValue {
    told(std::ptr::null_mut(), || give(EskerValue::default()))
}

/// `esker_value_data` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_value_data(
    value: *const EskerValue,
    size: *mut usize,
) -> *const c_void {
    told(std::ptr::null(), || {
        // SAFETY: NULL or a live value, by the rule of this room.
        let bytes = unsafe { value.as_ref() }.and_then(|value| value.bytes.as_ref());
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(size, bytes.map_or(0, |bytes| bytes.len())) };
        bytes.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast())
    })
}

/// `esker_value_clear` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_value_clear(value: *mut EskerValue) {
    // SAFETY: NULL or a live value that is in no other call, by the rule of this room.
    let value = unsafe { value.as_mut() };
    told((), || value.into_iter().for_each(|value| value.hold(None)));
}

/// `esker_value_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_value_free(value: *mut EskerValue) {
    // SAFETY: NULL, or it came from `esker_value_new` and the caller gives it up.
    told((), || drop(unsafe { take(value) }));
}
