//! LMDB, a copy-on-write B-tree in a memory map.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{ptr, slice};

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::{Matched, StoreSettings};
use esker_bench::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};
use lmdb_master_sys::*;

use crate::engines::held::HeldBatch;
use crate::engines::room;
use crate::engines::sheet::Sheet;

/// LMDB.
#[derive(Clone, Copy, Debug)]
pub struct Lmdb;

/// Addresses set aside for the map, and the length of its sparse file: more than any run here
/// writes, and less than any file system's longest file.
const MAP_BYTES: usize = 256 << 30;

impl Engine for Lmdb {
    fn name(&self) -> &str {
        "LMDB"
    }

    fn version(&self) -> String {
        format!("{MDB_VERSION_MAJOR}.{MDB_VERSION_MINOR}.{MDB_VERSION_PATCH}")
    }

    fn is_there(&self, dir: &Path) -> bool {
        room::room(dir, "lmdb").join("data.mdb").is_file()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let room = room::room(dir, "lmdb");
        room::make(&room)?;
        // A write that need not be synced goes straight to the map: as durable as a write to the
        // page cache, and the fastest that LMDB has.
        let flags = match settings.sync {
            true => MDB_NOTLS,
            false => MDB_NOTLS | MDB_NOSYNC | MDB_WRITEMAP,
        };
        let name = room.to_str().and_then(|name| CString::new(name).ok());
        let name = name.ok_or_else(|| Failure::usage("LMDB wants a path in UTF-8"))?;
        let mut env = ptr::null_mut();
        // SAFETY: the handle is made here and owned by the store at once, which closes it.
        check(unsafe { mdb_env_create(&mut env) })?;
        let mut store = Open {
            env,
            table: 0,
            is_synced: settings.sync,
            idle: Mutex::new(Vec::new()),
        };
        // SAFETY: the environment is live, and the name ends with a zero.
        unsafe {
            check(mdb_env_set_mapsize(env, MAP_BYTES as mdb_size_t))?;
            check(mdb_env_open(env, name.as_ptr(), flags, 0o644))?;
        }
        let transaction = store.begin_write()?;
        // SAFETY: the transaction is live and ends here; null names the one table without a name.
        unsafe {
            check(mdb_dbi_open(transaction, ptr::null(), 0, &mut store.table))?;
            check(mdb_txn_commit(transaction))?;
        }
        Ok(Opened {
            store: Box::new(store),
            matched: matched(settings),
        })
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        room::clear(&room::room(dir, "lmdb"))
    }
}

fn matched(settings: &StoreSettings) -> Vec<Matched> {
    let mut sheet = Sheet::new(settings);
    let note = "maps its file: as much of the page cache as the system gives";
    sheet.told("cache_bytes", "", note);
    sheet.told("write_buffer_bytes", "", "writes go to the map");
    sheet.told("packing", "", "pages are never packed");
    sheet.told("filter_bits", "", "a B-tree has no filters");
    match settings.sync {
        true => sheet.given("sync", "the default flags: each commit is synced"),
        false => sheet.given("sync", "MDB_NOSYNC MDB_WRITEMAP"),
    }
    sheet.aside("checksums", "none", "nothing that is read is checked");
    sheet.rows()
}

/// What `code` means, if it is an error.
fn check(code: c_int) -> Outcome {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the answer is a constant string, or one of the system's, that ends with a zero.
    let text = unsafe { CStr::from_ptr(mdb_strerror(code)) };
    Err(Failure::failed(format!("LMDB: {}", text.to_string_lossy())))
}

/// Whether something was found.
fn found(code: c_int) -> Outcome<bool> {
    match code {
        MDB_NOTFOUND => Ok(false),
        code => check(code).map(|()| true),
    }
}

/// Bytes for LMDB to read; it never writes through what it is lent.
fn lent(bytes: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: bytes.len(),
        mv_data: bytes.as_ptr().cast_mut().cast::<c_void>(),
    }
}

fn nothing() -> MDB_val {
    lent(&[])
}

/// The bytes of a value.
///
/// # Safety
/// The value must come from LMDB, and its transaction must outlive `'a`.
unsafe fn bytes<'a>(value: &MDB_val) -> &'a [u8] {
    // SAFETY: LMDB's values point to that many bytes until their transaction ends.
    unsafe { slice::from_raw_parts(value.mv_data.cast(), value.mv_size) }
}

/// An open LMDB.
struct Open {
    env: *mut MDB_env,
    table: MDB_dbi,
    is_synced: bool,
    /// Transactions for reading that are not in use: beginning one anew costs several times a
    /// read.
    idle: Mutex<Vec<Reader>>,
}

/// A transaction for reading.
struct Reader(*mut MDB_txn);

// SAFETY: without thread-local storage (MDB_NOTLS) a transaction for reading may move between
// threads, as long as one uses it at a time.
unsafe impl Send for Reader {}

// SAFETY: an environment may be used by any thread; transactions are kept apart as above.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

impl Open {
    fn begin_write(&self) -> Outcome<*mut MDB_txn> {
        let mut transaction = ptr::null_mut();
        // SAFETY: the environment is live; the caller ends the transaction on this thread.
        check(unsafe { mdb_txn_begin(self.env, ptr::null_mut(), 0, &mut transaction) })?;
        Ok(transaction)
    }

    fn write(&self, how: WriteHow, work: impl FnOnce(*mut MDB_txn) -> Outcome) -> Outcome {
        let transaction = self.begin_write()?;
        if let Err(failure) = work(transaction) {
            // SAFETY: live until here.
            unsafe { mdb_txn_abort(transaction) };
            return Err(failure);
        }
        // SAFETY: live until here.
        check(unsafe { mdb_txn_commit(transaction) })?;
        match how.sync && !self.is_synced {
            true => self.sync(),
            false => Ok(()),
        }
    }

    fn sync(&self) -> Outcome {
        // SAFETY: the environment is live.
        check(unsafe { mdb_env_sync(self.env, 1) })
    }

    fn put_in(&self, transaction: *mut MDB_txn, key: &[u8], value: &[u8]) -> Outcome {
        let (mut key, mut value) = (lent(key), lent(value));
        // SAFETY: the transaction is live; LMDB copies key and value.
        check(unsafe { mdb_put(transaction, self.table, &mut key, &mut value, 0) })
    }

    fn delete_in(&self, transaction: *mut MDB_txn, key: &[u8]) -> Outcome {
        let mut key = lent(key);
        // SAFETY: as above; null asks for the key's one value.
        let code = unsafe { mdb_del(transaction, self.table, &mut key, ptr::null_mut()) };
        found(code).map(drop)
    }

    /// A transaction that sees everything committed so far.
    fn begin_read(&self) -> Outcome<Reader> {
        let idle = self.idle().pop();
        if let Some(reader) = idle {
            // SAFETY: it was reset when it was put there.
            check(unsafe { mdb_txn_renew(reader.0) })?;
            return Ok(reader);
        }
        let mut reader = ptr::null_mut();
        // SAFETY: the environment is live, and outlives all transactions of the store.
        check(unsafe { mdb_txn_begin(self.env, ptr::null_mut(), MDB_RDONLY, &mut reader) })?;
        Ok(Reader(reader))
    }

    fn end_read(&self, reader: Reader) {
        // SAFETY: live, and nothing read in it is used from here on.
        unsafe { mdb_txn_reset(reader.0) };
        self.idle().push(reader);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Open {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        self.write(how, |transaction| self.put_in(transaction, key, value))
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let reader = self.begin_read()?;
        let (mut key, mut value) = (lent(key), nothing());
        // SAFETY: the transaction is live; the value is lent only while it is.
        let is_found = unsafe {
            let is_found = found(mdb_get(reader.0, self.table, &mut key, &mut value));
            if let Ok(true) = is_found {
                take(bytes(&value));
            }
            is_found
        };
        self.end_read(reader);
        is_found
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        self.write(how, |transaction| self.delete_in(transaction, key))
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Ok(Box::new(HeldBatch::new("LMDB", |writes, how| {
            self.write(how, |transaction| {
                writes.iter().try_for_each(|(key, value)| match value {
                    Some(value) => self.put_in(transaction, key, value),
                    None => self.delete_in(transaction, key),
                })
            })
        })))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        let reader = self.begin_read()?;
        let mut cursor = ptr::null_mut();
        // SAFETY: the transaction is live and ends after the cursor.
        let code = unsafe { mdb_cursor_open(reader.0, self.table, &mut cursor) };
        check(code)?;
        Ok(Box::new(OpenCursor {
            store: self,
            reader: Some(reader),
            cursor,
            key: nothing(),
            value: nothing(),
            _thread: PhantomData,
        }))
    }

    fn flush(&self) -> Outcome {
        self.sync()
    }

    // It has nothing to merge: each write already went to its place.
    fn compact(&self) -> Outcome {
        self.sync()
    }

    fn drain(&self) -> Outcome {
        Ok(())
    }

    fn property(&self, _name: &str) -> Option<String> {
        None
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn close(self: Box<Self>) -> Outcome {
        self.sync()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        for reader in self.idle().drain(..) {
            // SAFETY: live, reset, and dropped here.
            unsafe { mdb_txn_abort(reader.0) };
        }
        // SAFETY: no transaction is left.
        unsafe { mdb_env_close(self.env) };
    }
}

struct OpenCursor<'a> {
    store: &'a Open,
    reader: Option<Reader>,
    cursor: *mut MDB_cursor,
    key: MDB_val,
    value: MDB_val,
    _thread: PhantomData<*mut ()>,
}

impl OpenCursor<'_> {
    #[inline]
    fn to(&mut self, movement: MDB_cursor_op) -> Outcome<bool> {
        // SAFETY: the cursor is live.
        let code = unsafe { mdb_cursor_get(self.cursor, &mut self.key, &mut self.value, movement) };
        let is_on = found(code)?;
        if !is_on {
            (self.key, self.value) = (nothing(), nothing());
        }
        Ok(is_on)
    }
}

impl Cursor for OpenCursor<'_> {
    fn seek_to_first(&mut self) -> Outcome<bool> {
        self.to(MDB_FIRST)
    }

    fn seek_to_last(&mut self) -> Outcome<bool> {
        self.to(MDB_LAST)
    }

    fn seek(&mut self, key: &[u8]) -> Outcome<bool> {
        self.key = lent(key);
        self.to(MDB_SET_RANGE)
    }

    fn next(&mut self) -> Outcome<bool> {
        self.to(MDB_NEXT)
    }

    fn prev(&mut self) -> Outcome<bool> {
        self.to(MDB_PREV)
    }

    fn key(&self) -> &[u8] {
        // SAFETY: either empty or LMDB's, and the transaction lives as long as the cursor.
        unsafe { bytes(&self.key) }
    }

    fn value(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { bytes(&self.value) }
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        // SAFETY: closed once, before its transaction ends.
        unsafe { mdb_cursor_close(self.cursor) };
        if let Some(reader) = self.reader.take() {
            self.store.end_read(reader);
        }
    }
}
