//! The section "Keyspaces" of `esker/c.h`: one map, its settings, files and sizes.

use std::ffi::{c_char, c_int, c_void};

use esker::{Error, Keyspace, Result};

use crate::abi::about::give_texts;
use crate::abi::arguments::{Handle, bounds, give, give_text, live, place, room, take, tell, text};
use crate::abi::database::EskerDb;
use crate::abi::home::Home;
use crate::answer::{Done, answer, told};

/// `esker_keyspace` of `esker/c.h`.
#[derive(Clone)]
pub struct EskerKeyspace {
    /// The keyspace.
    pub keyspace: Keyspace,
    /// Its database.
    home: Home,
}

impl EskerKeyspace {
    /// One of `db`.
    pub fn new(keyspace: Keyspace, db: &EskerDb) -> EskerKeyspace {
        EskerKeyspace {
            keyspace,
            home: db.home,
        }
    }

    /// Its database.
    pub fn home(&self) -> Home {
        self.home
    }

    /// The keyspace, for something that belongs to that database: elsewhere it would be another
    /// one, or none.
    pub fn within(&self, home: Home) -> Result<&Keyspace> {
        if self.home == home {
            return Ok(&self.keyspace);
        }
        Err(Error::invalid(format!(
            "keyspace {:?} belongs to another database",
            self.keyspace.name()
        )))
    }
}

impl Handle for EskerKeyspace {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
    }
}

/// `esker_keyspace_clone` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_clone(
    keyspace: *const EskerKeyspace,
    clone: *mut *mut EskerKeyspace,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (clone, keyspace) = unsafe { (room("clone", clone)?, live("keyspace", keyspace)?) };
        *clone = give(keyspace.clone());
        Ok(Done::Ok)
    })
}

/// `esker_keyspace_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_free(keyspace: *mut EskerKeyspace) {
    // SAFETY: NULL, or it came from a database and the caller gives it up.
    told((), || drop(unsafe { take(keyspace) }));
}

/// `esker_keyspace_name` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_name(
    keyspace: *const EskerKeyspace,
    name: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (name, keyspace) = unsafe { (room("name", name)?, live("keyspace", keyspace)?) };
        *name = give_text(keyspace.keyspace.name());
        Ok(Done::Ok)
    })
}

/// `esker_keyspace_set` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_set(
    keyspace: *const EskerKeyspace,
    name: *const c_char,
    setting: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, name, setting) = unsafe {
            (
                live("keyspace", keyspace)?,
                text("name", name)?,
                text("text", setting)?,
            )
        };
        keyspace.keyspace.set(name, setting)?;
        Ok(Done::Ok)
    })
}

/// `esker_flush` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_flush(keyspace: *const EskerKeyspace) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        unsafe { live("keyspace", keyspace) }?.keyspace.flush()?;
        Ok(Done::Ok)
    })
}

/// `esker_compact` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_compact(
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, range) = unsafe {
            (
                live("keyspace", keyspace)?,
                bounds((lower, lower_size), (upper, upper_size))?,
            )
        };
        keyspace.keyspace.compact::<&[u8]>(range)?;
        Ok(Done::Ok)
    })
}

/// `esker_approximate` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_approximate(
    keyspace: *const EskerKeyspace,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
    disk_bytes: *mut u64,
    memory_bytes: *mut u64,
    keys: *mut u64,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (keyspace, range) = unsafe {
            tell(disk_bytes, 0);
            tell(memory_bytes, 0);
            tell(keys, 0);
            (
                live("keyspace", keyspace)?,
                bounds((lower, lower_size), (upper, upper_size))?,
            )
        };
        let found = keyspace.keyspace.approximate::<&[u8], _>(&[range])?;
        let found = found.first().copied().unwrap_or_default();
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(disk_bytes, found.disk_bytes());
            tell(memory_bytes, found.memory_bytes);
            tell(keys, found.key_count());
        }
        Ok(Done::Ok)
    })
}

/// `esker_keyspace_settings` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_settings(
    keyspace: *const EskerKeyspace,
    texts: *mut *mut *mut c_char,
    count: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            tell(count, 0);
            let (texts, keyspace) = (room("texts", texts)?, live("keyspace", keyspace)?);
            let count = place("count", count)?;
            let own = keyspace.keyspace.own_settings().into_iter();
            let own: Vec<String> = own.flat_map(|(name, text)| [name, text]).collect();
            (*texts, *count) = give_texts(&own);
        }
        Ok(Done::Ok)
    })
}

/// `esker_flush_soon` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_flush_soon(keyspace: *const EskerKeyspace) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        unsafe { live("keyspace", keyspace) }?
            .keyspace
            .flush_soon()?;
        Ok(Done::Ok)
    })
}
