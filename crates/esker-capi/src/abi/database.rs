//! The section "Databases" of `esker/c.h`: what is done to all keyspaces together.

use std::ffi::{c_char, c_int};

use esker::{Db, Error, Result};

use crate::abi::about::give_texts;
use crate::abi::arguments::{Handle, give_text, live, path, place, room, take, tell, text};
use crate::abi::home::Home;
use crate::answer::{Done, answer, told};

/// `esker_db` of `esker/c.h`.
pub struct EskerDb {
    /// The database.
    pub db: Db,
    /// What its other handles know it by.
    pub home: Home,
}

impl Handle for EskerDb {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
    }
}

/// `esker_db_close` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_close(db: *const EskerDb) -> c_int {
    // SAFETY: the caller's handle, by the rule of this room.
    answer(|| unsafe { on(db, Db::close) })
}

/// `esker_db_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_free(db: *mut EskerDb) {
    // SAFETY: NULL, or it came from an opening and the caller gives it up.
    told((), || drop(unsafe { take(db) }));
}

/// `esker_db_flush` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_flush(db: *const EskerDb) -> c_int {
    // SAFETY: the caller's handle, by the rule of this room.
    answer(|| unsafe { on(db, Db::flush_all) })
}

/// `esker_db_sync` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_sync(db: *const EskerDb) -> c_int {
    // SAFETY: the caller's handle, by the rule of this room.
    answer(|| unsafe { on(db, Db::sync) })
}

/// `esker_db_set` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_set(
    db: *const EskerDb,
    name: *const c_char,
    setting: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, name, setting) =
            unsafe { (live("db", db)?, text("name", name)?, text("text", setting)?) };
        db.db.set(name, setting)?;
        Ok(Done::Ok)
    })
}

/// `esker_db_stats` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_stats(db: *const EskerDb, stats: *mut *mut c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (stats, db) = unsafe { (room("stats", stats)?, live("db", db)?) };
        *stats = give_text(&db.db.stats().to_string());
        Ok(Done::Ok)
    })
}

/// `esker_db_property` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_property(
    db: *const EskerDb,
    name: *const c_char,
    property: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (property, db, name) = unsafe {
            (
                room("property", property)?,
                live("db", db)?,
                text("name", name)?,
            )
        };
        let found = db.db.property(name);
        *property = found.as_deref().map_or(std::ptr::null_mut(), give_text);
        Ok(Done::if_found(found.is_some()))
    })
}

/// `esker_db_checkpoint` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_checkpoint(db: *const EskerDb, target: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, target) = unsafe { (live("db", db)?, path("target", target)?) };
        db.db.checkpoint(target)?;
        Ok(Done::Ok)
    })
}

/// `esker_db_verify` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_verify(db: *const EskerDb) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let report = unsafe { live("db", db) }?.db.verify()?;
        match report.is_whole() {
            true => Ok(Done::Ok),
            false => Err(Error::corruption(format!("{report}"))),
        }
    })
}

/// `esker_db_keyspaces` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_keyspaces(
    db: *const EskerDb,
    names: *mut *mut *mut c_char,
    count: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            tell(count, 0);
            let (names, db) = (room("names", names)?, live("db", db)?);
            let count = place("count", count)?;
            (*names, *count) = give_texts(&db.db.keyspaces());
        }
        Ok(Done::Ok)
    })
}

/// Does to the database what has no more arguments.
///
/// # Safety
/// NULL, or a live handle.
unsafe fn on(db: *const EskerDb, act: impl FnOnce(&Db) -> Result<()>) -> Result<Done> {
    // SAFETY: by this function's own rule.
    act(&unsafe { live("db", db) }?.db)?;
    Ok(Done::Ok)
}
