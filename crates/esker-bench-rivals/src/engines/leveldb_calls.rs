//! The calls of LevelDB's C interface that the adapter needs.
//!
//! Every handle is an opaque struct of its own in C; all are plain addresses here.
//!
//! Source: `leveldb/c.h` of version 1.23, as Debian's libleveldb-dev ships it.
#![allow(unsafe_code)]
#![allow(
    missing_docs,
    reason = "the names are those of LevelDB's own header, which tells them"
)]

use std::ffi::{c_char, c_int, c_uchar, c_void};

/// `leveldb_no_compression`.
pub const NO_COMPRESSION: c_int = 0;

/// `leveldb_snappy_compression`.
pub const SNAPPY: c_int = 1;

/// The address of something of LevelDB's.
pub type Handle = *mut c_void;

/// Where a call leaves its error.
pub type Fault = *mut *mut c_char;

#[link(name = "leveldb")]
unsafe extern "C" {
    pub fn leveldb_options_create() -> Handle;
    pub fn leveldb_options_destroy(options: Handle);
    pub fn leveldb_options_set_create_if_missing(options: Handle, yes: c_uchar);
    pub fn leveldb_options_set_write_buffer_size(options: Handle, bytes: usize);
    pub fn leveldb_options_set_cache(options: Handle, cache: Handle);
    pub fn leveldb_options_set_block_size(options: Handle, bytes: usize);
    pub fn leveldb_options_set_compression(options: Handle, kind: c_int);
    pub fn leveldb_options_set_filter_policy(options: Handle, policy: Handle);
    pub fn leveldb_cache_create_lru(bytes: usize) -> Handle;
    pub fn leveldb_cache_destroy(cache: Handle);
    pub fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> Handle;
    pub fn leveldb_filterpolicy_destroy(policy: Handle);
    pub fn leveldb_readoptions_create() -> Handle;
    pub fn leveldb_readoptions_destroy(options: Handle);
    pub fn leveldb_readoptions_set_verify_checksums(options: Handle, yes: c_uchar);
    pub fn leveldb_writeoptions_create() -> Handle;
    pub fn leveldb_writeoptions_destroy(options: Handle);
    pub fn leveldb_writeoptions_set_sync(options: Handle, yes: c_uchar);
    pub fn leveldb_open(options: Handle, name: *const c_char, fault: Fault) -> Handle;
    pub fn leveldb_close(db: Handle);
    pub fn leveldb_put(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_bytes: usize,
        value: *const u8,
        value_bytes: usize,
        fault: Fault,
    );
    pub fn leveldb_delete(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_bytes: usize,
        fault: Fault,
    );
    pub fn leveldb_get(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_bytes: usize,
        value_bytes: *mut usize,
        fault: Fault,
    ) -> *mut c_char;
    pub fn leveldb_write(db: Handle, options: Handle, batch: Handle, fault: Fault);
    pub fn leveldb_writebatch_create() -> Handle;
    pub fn leveldb_writebatch_destroy(batch: Handle);
    pub fn leveldb_writebatch_clear(batch: Handle);
    pub fn leveldb_writebatch_put(
        batch: Handle,
        key: *const u8,
        key_bytes: usize,
        value: *const u8,
        value_bytes: usize,
    );
    pub fn leveldb_writebatch_delete(batch: Handle, key: *const u8, key_bytes: usize);
    pub fn leveldb_compact_range(
        db: Handle,
        start: *const u8,
        start_bytes: usize,
        limit: *const u8,
        limit_bytes: usize,
    );
    pub fn leveldb_property_value(db: Handle, name: *const c_char) -> *mut c_char;
    pub fn leveldb_create_iterator(db: Handle, options: Handle) -> Handle;
    pub fn leveldb_iter_destroy(iterator: Handle);
    pub fn leveldb_iter_valid(iterator: Handle) -> c_uchar;
    pub fn leveldb_iter_seek_to_first(iterator: Handle);
    pub fn leveldb_iter_seek_to_last(iterator: Handle);
    pub fn leveldb_iter_seek(iterator: Handle, key: *const u8, key_bytes: usize);
    pub fn leveldb_iter_next(iterator: Handle);
    pub fn leveldb_iter_prev(iterator: Handle);
    pub fn leveldb_iter_key(iterator: Handle, bytes: *mut usize) -> *const u8;
    pub fn leveldb_iter_value(iterator: Handle, bytes: *mut usize) -> *const u8;
    pub fn leveldb_iter_get_error(iterator: Handle, fault: Fault);
    pub fn leveldb_free(address: *mut c_void);
    pub fn leveldb_major_version() -> c_int;
    pub fn leveldb_minor_version() -> c_int;
}
