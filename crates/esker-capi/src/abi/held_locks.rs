//! The section "Watching" of `esker/c.h`: the locks that a transaction holds.

use std::ffi::{c_char, c_int, c_void};

use esker::Error;

use crate::abi::arguments::live;
use crate::abi::database::EskerDb;
use crate::abi::reading::EskerBytes;
use crate::abi::watching::c_text;
use crate::answer::{Done, answer};

/// `esker_lock_stats` of `esker/c.h`.
#[repr(C)]
pub struct EskerLockStats {
    keyspace: *const c_char,
    key: EskerBytes,
    mode: *const c_char,
    held_ms: u64,
}

/// `esker_lock_visitor` of `esker/c.h`.
pub type LockVisitor =
    Option<unsafe extern "C" fn(state: *mut c_void, told: *const EskerLockStats) -> c_int>;

/// `esker_db_locks` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_locks(
    db: *const EskerDb,
    transaction: u64,
    visit: LockVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
        for lock in db.db.held_locks(transaction) {
            let keyspace = lock.keyspace.as_deref().map(c_text);
            let mode = c_text(lock.mode);
            let told = EskerLockStats {
                keyspace: keyspace
                    .as_ref()
                    .map_or(std::ptr::null(), |name| name.as_ptr()),
                key: lock.key.as_deref().map_or(EskerBytes::NONE, EskerBytes::of),
                mode: mode.as_ptr(),
                held_ms: u64::try_from(lock.held.as_millis()).unwrap_or(u64::MAX),
            };
            // SAFETY: the caller's function, and its own state, by the rule of this room; what it
            // is told lives until it returns.
            if unsafe { visit(state, &raw const told) } != 0 {
                break;
            }
        }
        Ok(Done::Ok)
    })
}
