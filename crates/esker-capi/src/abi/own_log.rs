//! The section "A log of your own" of `esker/c.h`: marks, and the log that they are of.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use esker::{Bytes, Error, Keyspace, OwnLog, Result};

use crate::abi::arguments::{bytes, live, place, tell};
use crate::abi::batch::{EskerBatch, add};
use crate::abi::builder::EskerBuilder;
use crate::abi::callback::{Destroy, State};
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::reading::hold;
use crate::abi::value::EskerValue;
use crate::abi::watching::c_text;
use crate::answer::{Done, answer};

/// `esker_log_is_durable` of `esker/c.h`.
pub type LogIsDurable = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        keyspace: *const c_char,
        mark: *const c_void,
        mark_size: usize,
    ) -> c_int,
>;

/// `esker_log_flushed` of `esker/c.h`.
pub type LogFlushed = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        keyspace: *const c_char,
        mark: *const c_void,
        mark_size: usize,
    ),
>;

/// A log made of callbacks.
struct Callbacks {
    is_durable: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_void, usize) -> c_int,
    flushed: LogFlushed,
    state: State,
}

impl OwnLog for Callbacks {
    fn is_durable(&self, keyspace: &str, mark: &[u8]) -> bool {
        let (keyspace, state) = (c_text(keyspace), self.state.place());
        // SAFETY: the caller's function and state; what it gets lives until it returns.
        unsafe {
            (self.is_durable)(state, keyspace.as_ptr(), mark.as_ptr().cast(), mark.len()) != 0
        }
    }

    fn flushed(&self, keyspace: &str, mark: &[u8]) {
        let Some(flushed) = self.flushed else {
            return;
        };
        let (keyspace, state) = (c_text(keyspace), self.state.place());
        // SAFETY: as above.
        unsafe { flushed(state, keyspace.as_ptr(), mark.as_ptr().cast(), mark.len()) };
    }
}

/// `esker_builder_own_log` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_own_log(
    builder: *mut EskerBuilder,
    is_durable: LogIsDurable,
    flushed: LogFlushed,
    state: *mut c_void,
    destroy: Destroy,
) -> c_int {
    let state = State::new(state, destroy);
    answer(|| {
        // SAFETY: the caller's builder, by the rule of this room.
        let builder = unsafe { place("builder", builder) }?;
        let is_durable = is_durable.ok_or_else(|| Error::invalid("is_durable is NULL"))?;
        let log = Arc::new(Callbacks {
            is_durable,
            flushed,
            state,
        });
        builder.change(|builder| builder.own_log(log));
        Ok(Done::Ok)
    })
}

/// `esker_batch_mark` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_mark(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    mark: *const c_void,
    mark_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let mark = bytes("mark", mark, mark_size)?;
        add(batch, keyspace, |batch, keyspace| {
            batch.mark(keyspace, mark);
        })
    })
}

/// `esker_batch_mark_at` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_batch_mark_at(
    batch: *mut EskerBatch,
    keyspace: *const EskerKeyspace,
    mark: *const c_void,
    mark_size: usize,
    unix_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let mark = bytes("mark", mark, mark_size)?;
        add(batch, keyspace, |batch, keyspace| {
            batch.mark_at(keyspace, mark, unix_ms);
        })
    })
}

/// Has `value` hold a mark.
///
/// # Safety
/// Each NULL or live, and the value in no other call.
unsafe fn marked(
    keyspace: *const EskerKeyspace,
    value: *mut EskerValue,
    read: impl FnOnce(&Keyspace) -> Result<Option<Bytes>>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let (value, keyspace) = unsafe { (place("value", value)?, live("keyspace", keyspace)) };
    hold(
        value,
        keyspace.and_then(|keyspace| read(&keyspace.keyspace)),
    )
}

/// `esker_mark` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_mark(
    keyspace: *const EskerKeyspace,
    value: *mut EskerValue,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe { marked(keyspace, value, Keyspace::mark) })
}

/// `esker_flushed_mark` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_flushed_mark(
    keyspace: *const EskerKeyspace,
    value: *mut EskerValue,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe { marked(keyspace, value, Keyspace::flushed_mark) })
}

/// `esker_clock` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_clock(keyspace: *const EskerKeyspace, unix_ms: *mut u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let keyspace = unsafe {
            tell(unix_ms, 0);
            live("keyspace", keyspace)?
        };
        let Some(clock) = keyspace.keyspace.clock_unix_ms()? else {
            return Ok(Done::NotFound);
        };
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(unix_ms, clock) };
        Ok(Done::Ok)
    })
}

/// `esker_own_log_is_durable` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_own_log_is_durable(keyspace: *const EskerKeyspace) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let keyspace = unsafe { live("keyspace", keyspace) }?;
        keyspace.keyspace.own_log_is_durable();
        Ok(Done::Ok)
    })
}
