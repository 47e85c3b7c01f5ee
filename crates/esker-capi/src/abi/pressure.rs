//! The section "Watching" of `esker/c.h`: what a write to a keyspace would meet.

use std::ffi::{c_char, c_int};

use esker::WriteState;

use crate::abi::arguments::{give_text, live, tell};
use crate::abi::keyspace::EskerKeyspace;
use crate::answer::{Done, answer};

/// `esker_write_pressure` of `esker/c.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct EskerWritePressure {
    /// `ESKER_WRITES_OPEN` and its like.
    pub state: c_int,
    /// Whether a flush waits for the program's own log.
    pub is_parked: c_int,
    /// How many bytes may be written in a second while writes are slowed down; else 0.
    pub bytes_per_s: u64,
    /// Bytes that compactions have yet to move.
    pub debt_bytes: u64,
    /// Bytes that are in no file.
    pub unflushed_bytes: u64,
}

/// `esker_keyspace_pressure` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_pressure(
    keyspace: *const EskerKeyspace,
    pressure: *mut EskerWritePressure,
    reason: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let keyspace = unsafe {
            tell(pressure, EskerWritePressure::default());
            tell(reason, std::ptr::null_mut());
            live("keyspace", keyspace)?
        };
        let told = keyspace.keyspace.write_pressure();
        let (state, bytes_per_s, why) = match told.state {
            WriteState::Open => (0, 0, None),
            WriteState::Slowed {
                bytes_per_s,
                reason,
            } => (1, bytes_per_s, Some(reason)),
            WriteState::Stopped { reason } => (2, 0, Some(reason)),
        };
        let found = EskerWritePressure {
            state,
            is_parked: c_int::from(told.is_parked),
            bytes_per_s,
            debt_bytes: told.debt_bytes,
            unflushed_bytes: told.unflushed_bytes,
        };
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(pressure, found);
            if !reason.is_null() {
                let why = why.as_deref();
                reason.write(why.map_or(std::ptr::null_mut(), give_text));
            }
        }
        Ok(Done::Ok)
    })
}
