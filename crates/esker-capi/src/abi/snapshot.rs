//! The section "Snapshots" of `esker/c.h`: every keyspace as it was at one moment.

use std::ffi::{c_char, c_int};

use esker::Snapshot;

use crate::abi::arguments::{give, live, room, take, text};
use crate::abi::database::EskerDb;
use crate::abi::home::Home;
use crate::answer::{Done, answer, told};

/// `esker_snapshot` of `esker/c.h`.
pub struct EskerSnapshot {
    /// The moment.
    pub snapshot: Snapshot,
    /// Its database.
    pub home: Home,
}

/// `esker_snapshot_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_snapshot_new(
    db: *const EskerDb,
    owner: *const c_char,
    snapshot: *mut *mut EskerSnapshot,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (snapshot, db) = unsafe { (room("snapshot", snapshot)?, live("db", db)?) };
        let taken = match owner.is_null() {
            true => db.db.snapshot(),
            // SAFETY: the caller's string, by the rule of this room.
            false => db.db.snapshot_named(unsafe { text("owner", owner) }?),
        };
        *snapshot = give(EskerSnapshot {
            snapshot: taken,
            home: db.home,
        });
        Ok(Done::Ok)
    })
}

/// `esker_snapshot_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_snapshot_free(snapshot: *mut EskerSnapshot) {
    // SAFETY: NULL, or it came from `esker_snapshot_new` and the caller gives it up.
    told((), || drop(unsafe { take(snapshot) }));
}
