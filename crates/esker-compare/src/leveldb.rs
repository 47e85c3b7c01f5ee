//! LevelDB under measurement, by its C interface.
//!
//! Source: `leveldb/c.h` of version 1.23, as Debian's libleveldb-dev ships it.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr;

use crate::Fault;
use crate::engine::{Engine, Kind, Met, Setup};

/// LevelDB.
pub const LEVELDB: Kind = Kind {
    name: "leveldb",
    open: |dir, setup| Ok(Box::new(LevelDb::open(dir, setup)?)),
};

/// `leveldb_snappy_compression` and `leveldb_no_compression`.
const SNAPPY: c_int = 1;
const NO_COMPRESSION: c_int = 0;

type Handle = *mut c_void;

// Every handle is an opaque struct of its own in C; all are plain addresses here.
#[link(name = "leveldb")]
unsafe extern "C" {
    fn leveldb_options_create() -> Handle;
    fn leveldb_options_destroy(options: Handle);
    fn leveldb_options_set_create_if_missing(options: Handle, yes: c_uchar);
    fn leveldb_options_set_write_buffer_size(options: Handle, bytes: usize);
    fn leveldb_options_set_cache(options: Handle, cache: Handle);
    fn leveldb_options_set_compression(options: Handle, kind: c_int);
    fn leveldb_options_set_filter_policy(options: Handle, policy: Handle);
    fn leveldb_cache_create_lru(bytes: usize) -> Handle;
    fn leveldb_cache_destroy(cache: Handle);
    fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> Handle;
    fn leveldb_filterpolicy_destroy(policy: Handle);
    fn leveldb_readoptions_create() -> Handle;
    fn leveldb_readoptions_destroy(options: Handle);
    fn leveldb_readoptions_set_verify_checksums(options: Handle, yes: c_uchar);
    fn leveldb_writeoptions_create() -> Handle;
    fn leveldb_writeoptions_destroy(options: Handle);
    fn leveldb_open(options: Handle, name: *const c_char, fault: *mut *mut c_char) -> Handle;
    fn leveldb_close(db: Handle);
    fn leveldb_put(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_bytes: usize,
        value: *const u8,
        value_bytes: usize,
        fault: *mut *mut c_char,
    );
    fn leveldb_get(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_bytes: usize,
        value_bytes: *mut usize,
        fault: *mut *mut c_char,
    ) -> *mut c_char;
    fn leveldb_compact_range(
        db: Handle,
        start: *const u8,
        start_bytes: usize,
        limit: *const u8,
        limit_bytes: usize,
    );
    fn leveldb_create_iterator(db: Handle, options: Handle) -> Handle;
    fn leveldb_iter_destroy(iterator: Handle);
    fn leveldb_iter_valid(iterator: Handle) -> c_uchar;
    fn leveldb_iter_seek_to_first(iterator: Handle);
    fn leveldb_iter_seek_to_last(iterator: Handle);
    fn leveldb_iter_next(iterator: Handle);
    fn leveldb_iter_prev(iterator: Handle);
    fn leveldb_iter_key(iterator: Handle, bytes: *mut usize) -> *const u8;
    fn leveldb_iter_value(iterator: Handle, bytes: *mut usize) -> *const u8;
    fn leveldb_iter_get_error(iterator: Handle, fault: *mut *mut c_char);
    fn leveldb_free(address: *mut c_void);
}

struct LevelDb {
    db: Handle,
    options: Handle,
    cache: Handle,
    filter: Handle,
    read: Handle,
    write: Handle,
}

impl LevelDb {
    // Checksums are verified, as Esker always does; LevelDB would not unless told.
    fn open(dir: &Path, setup: &Setup) -> Result<LevelDb, Fault> {
        let name = CString::new(dir.to_str().ok_or("the path is no UTF-8")?)?;
        let packing = if setup.is_packed {
            SNAPPY
        } else {
            NO_COMPRESSION
        };
        let mut fault = ptr::null_mut();
        // SAFETY: every handle comes from its own create function and is destroyed once, in
        // `drop` or, where opening fails, never; the name ends with a zero.
        let opened = unsafe {
            let options = leveldb_options_create();
            let cache = leveldb_cache_create_lru(setup.cache_bytes);
            let filter = if setup.bloom_bits == 0 {
                ptr::null_mut()
            } else {
                leveldb_filterpolicy_create_bloom(c_int::try_from(setup.bloom_bits)?)
            };
            leveldb_options_set_create_if_missing(options, 1);
            leveldb_options_set_write_buffer_size(options, setup.buffer_bytes);
            leveldb_options_set_cache(options, cache);
            leveldb_options_set_compression(options, packing);
            leveldb_options_set_filter_policy(options, filter);
            let read = leveldb_readoptions_create();
            leveldb_readoptions_set_verify_checksums(read, 1);
            LevelDb {
                db: leveldb_open(options, name.as_ptr(), &mut fault),
                options,
                cache,
                filter,
                read,
                write: leveldb_writeoptions_create(),
            }
        };
        check(fault)?;
        Ok(opened)
    }

    fn scan(
        &mut self,
        begin: unsafe extern "C" fn(Handle),
        step: unsafe extern "C" fn(Handle),
    ) -> Result<Met, Fault> {
        let mut met = Met::default();
        let (mut key_bytes, mut value_bytes) = (0, 0);
        let mut fault = ptr::null_mut();
        // SAFETY: the iterator lives from here to its destroy, the database longer; key and
        // value are asked for only while it is valid.
        unsafe {
            let iterator = leveldb_create_iterator(self.db, self.read);
            begin(iterator);
            while leveldb_iter_valid(iterator) != 0 {
                std::hint::black_box(leveldb_iter_key(iterator, &mut key_bytes));
                std::hint::black_box(leveldb_iter_value(iterator, &mut value_bytes));
                met.count += 1;
                met.bytes += (key_bytes + value_bytes) as u64;
                step(iterator);
            }
            leveldb_iter_get_error(iterator, &mut fault);
            leveldb_iter_destroy(iterator);
        }
        check(fault)?;
        Ok(met)
    }
}

impl Engine for LevelDb {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Fault> {
        let mut fault = ptr::null_mut();
        // SAFETY: key and value are valid for their lengths; LevelDB copies them.
        unsafe {
            leveldb_put(
                self.db,
                self.write,
                key.as_ptr(),
                key.len(),
                value.as_ptr(),
                value.len(),
                &mut fault,
            );
        }
        check(fault)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<usize>, Fault> {
        let mut fault = ptr::null_mut();
        let mut bytes = 0;
        // SAFETY: the key is valid for its length; the value is ours, and freed here.
        let is_found = unsafe {
            let (at, len) = (key.as_ptr(), key.len());
            let value = leveldb_get(self.db, self.read, at, len, &mut bytes, &mut fault);
            let is_found = !value.is_null();
            leveldb_free(value.cast());
            is_found
        };
        check(fault)?;
        Ok(is_found.then_some(bytes))
    }

    fn scan_forward(&mut self) -> Result<Met, Fault> {
        self.scan(leveldb_iter_seek_to_first, leveldb_iter_next)
    }

    fn scan_backward(&mut self) -> Result<Met, Fault> {
        self.scan(leveldb_iter_seek_to_last, leveldb_iter_prev)
    }

    fn compact(&mut self) -> Result<(), Fault> {
        // SAFETY: null stands for no bound.
        unsafe { leveldb_compact_range(self.db, ptr::null(), 0, ptr::null(), 0) };
        Ok(())
    }
}

impl Drop for LevelDb {
    fn drop(&mut self) {
        // SAFETY: each handle is destroyed once, the database before what it uses.
        unsafe {
            leveldb_close(self.db);
            leveldb_writeoptions_destroy(self.write);
            leveldb_readoptions_destroy(self.read);
            leveldb_options_destroy(self.options);
            if !self.filter.is_null() {
                leveldb_filterpolicy_destroy(self.filter);
            }
            leveldb_cache_destroy(self.cache);
        }
    }
}

/// The error that LevelDB left behind, if any.
fn check(fault: *mut c_char) -> Result<(), Fault> {
    if fault.is_null() {
        return Ok(());
    }
    // SAFETY: LevelDB's errors are strings that end with a zero, and ours to free.
    let text = unsafe {
        let text = CStr::from_ptr(fault).to_string_lossy().into_owned();
        leveldb_free(fault.cast());
        text
    };
    Err(text.into())
}
