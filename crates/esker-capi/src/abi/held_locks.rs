//! The section "Watching" of `esker/c.h`: the locks that a transaction holds.

use std::ffi::{c_char, c_int, c_void};

use esker::{Error, HeldLockStats};

use crate::abi::arguments::{bytes, live};
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
        // SAFETY: as the caller's function is asked for.
        unsafe { tell(db.db.held_locks(transaction), visit, state) }
    })
}

/// `esker_db_prepared_locks` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_prepared_locks(
    db: *const EskerDb,
    id: *const c_void,
    id_size: usize,
    visit: LockVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, id) = unsafe { (live("db", db)?, bytes("id", id, id_size)?) };
        // SAFETY: as the caller's function is asked for.
        unsafe { tell(db.db.prepared_locks(id)?, visit, state) }
    })
}

/// Tells the caller's function of each, until it has enough.
///
/// # Safety
/// `visit` is NULL or a function of that type, which may be called with `state`.
unsafe fn tell(
    locks: Vec<HeldLockStats>,
    visit: LockVisitor,
    state: *mut c_void,
) -> esker::Result<Done> {
    let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
    for lock in locks {
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
}
