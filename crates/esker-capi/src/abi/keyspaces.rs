//! The section "Keyspaces of a database" of `esker/c.h`: found, made and dropped by name.

use std::ffi::{c_char, c_int};

use crate::abi::arguments::{give, live, room, text};
use crate::abi::database::EskerDb;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::keyspace_options::EskerKeyspaceOptions;
use crate::answer::{Done, answer};

/// `esker_db_default` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_default(
    db: *const EskerDb,
    keyspace: *mut *mut EskerKeyspace,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, db) = unsafe { (room("keyspace", keyspace)?, live("db", db)?) };
        *keyspace = give(EskerKeyspace::new(db.db.default_keyspace().clone(), db));
        Ok(Done::Ok)
    })
}

/// `esker_db_keyspace` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_keyspace(
    db: *const EskerDb,
    name: *const c_char,
    options: *const EskerKeyspaceOptions,
    keyspace: *mut *mut EskerKeyspace,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, db, name, options) = unsafe {
            (
                room("keyspace", keyspace)?,
                live("db", db)?,
                text("name", name)?,
                options.as_ref(),
            )
        };
        let found = match options {
            Some(options) => db.db.keyspace_with(name, options.options.clone())?,
            None => db.db.keyspace(name)?,
        };
        *keyspace = give(EskerKeyspace::new(found, db));
        Ok(Done::Ok)
    })
}

/// `esker_db_existing_keyspace` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_existing_keyspace(
    db: *const EskerDb,
    name: *const c_char,
    keyspace: *mut *mut EskerKeyspace,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, db, name) = unsafe {
            (
                room("keyspace", keyspace)?,
                live("db", db)?,
                text("name", name)?,
            )
        };
        let Some(found) = db.db.existing_keyspace(name) else {
            return Ok(Done::NotFound);
        };
        *keyspace = give(EskerKeyspace::new(found, db));
        Ok(Done::Ok)
    })
}

/// `esker_db_drop_keyspace` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_drop_keyspace(db: *const EskerDb, name: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, name) = unsafe { (live("db", db)?, text("name", name)?) };
        db.db.drop_keyspace(name)?;
        Ok(Done::Ok)
    })
}
