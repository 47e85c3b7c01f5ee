//! LevelDB, by its C interface.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::{ptr, slice};

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::{Matched, Packing, StoreSettings};
use esker_bench::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};

use crate::engines::leveldb_calls::*;
use crate::engines::room::{self, wait_until_quiet};
use crate::engines::sheet::Sheet;

/// LevelDB.
#[derive(Clone, Copy, Debug)]
pub struct LevelDb;

impl Engine for LevelDb {
    fn name(&self) -> &str {
        "LevelDB"
    }

    fn version(&self) -> String {
        // SAFETY: both only return a constant.
        let (major, minor) = unsafe { (leveldb_major_version(), leveldb_minor_version()) };
        format!("{major}.{minor}")
    }

    fn is_there(&self, dir: &Path) -> bool {
        room::room(dir, "leveldb").join("CURRENT").is_file()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let room = room::room(dir, "leveldb");
        room::make(&room)?;
        let (store, matched) = Opener::new(settings).open(&room)?;
        Ok(Opened {
            store: Box::new(store),
            matched,
        })
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        room::clear(&room::room(dir, "leveldb"))
    }
}

/// What LevelDB is opened with; freed when dropped.
struct Opener {
    options: Handle,
    cache: Handle,
    filter: Handle,
    is_synced: bool,
    sheet: Sheet,
}

impl Opener {
    fn new(settings: &StoreSettings) -> Opener {
        // SAFETY: the handle lives as long as the opener.
        let options = unsafe { leveldb_options_create() };
        let mut opener = Opener {
            options,
            cache: ptr::null_mut(),
            filter: ptr::null_mut(),
            is_synced: settings.sync,
            sheet: Sheet::new(settings),
        };
        opener.memory(settings);
        opener.files(settings);
        opener
            .sheet
            .aside("checksums", "verify_checksums=1", "as Esker always does");
        opener
    }

    fn memory(&mut self, settings: &StoreSettings) {
        let sheet = &mut self.sheet;
        // SAFETY: handles are live; each call copies a number or keeps the address it is given,
        // which lives as long as the options.
        unsafe {
            leveldb_options_set_create_if_missing(self.options, 1);
            if let Some(bytes) = settings.cache_bytes {
                self.cache = leveldb_cache_create_lru(size(bytes));
                leveldb_options_set_cache(self.options, self.cache);
                sheet.given("cache_bytes", format!("block_cache={bytes}"));
            }
            if let Some(bytes) = settings.write_buffer_bytes {
                leveldb_options_set_write_buffer_size(self.options, size(bytes));
                sheet.given("write_buffer_bytes", format!("write_buffer_size={bytes}"));
            }
        }
        sheet.told("background_threads", "", "always one");
        sheet.given("sync", format!("sync={}", settings.sync));
    }

    fn files(&mut self, settings: &StoreSettings) {
        let sheet = &mut self.sheet;
        // SAFETY: as above.
        unsafe {
            if let Some(bits) = settings.filter_bits.filter(|bits| *bits > 0.0) {
                // LevelDB takes whole bits; the cast keeps to the range of the integer.
                self.filter = leveldb_filterpolicy_create_bloom(bits.round() as c_int);
                leveldb_options_set_filter_policy(self.options, self.filter);
                sheet.given("filter_bits", format!("bloom={}", bits.round()));
            }
            sheet.given("filter_bits", "no filter");
            if let Some(packing) = settings.packing {
                let is_packed = packing != Packing::None;
                let kind = if is_packed { SNAPPY } else { NO_COMPRESSION };
                leveldb_options_set_compression(self.options, kind);
                let note = match packing {
                    Packing::None | Packing::Snappy => "",
                    _ => "version 1.23 packs with snappy or not at all",
                };
                let name = if is_packed { "snappy" } else { "none" };
                sheet.told("packing", format!("compression={name}"), note);
            }
            if let Some(bytes) = settings.block_bytes {
                leveldb_options_set_block_size(self.options, size(bytes));
                sheet.given("block_bytes", format!("block_size={bytes}"));
            }
        }
    }

    fn open(mut self, room: &Path) -> Outcome<(Open, Vec<Matched>)> {
        let name = room.to_str().and_then(|name| CString::new(name).ok());
        let name = name.ok_or_else(|| Failure::usage("LevelDB wants a path in UTF-8"))?;
        let mut fault = ptr::null_mut();
        // SAFETY: the options live, and the name ends with a zero.
        let db = unsafe { leveldb_open(self.options, name.as_ptr(), &mut fault) };
        check(fault)?;
        // SAFETY: each handle is live, and destroyed once, when the store is dropped.
        let (read, plain, synced) = unsafe {
            let read = leveldb_readoptions_create();
            leveldb_readoptions_set_verify_checksums(read, 1);
            let plain = leveldb_writeoptions_create();
            leveldb_writeoptions_set_sync(plain, u8::from(self.is_synced));
            let synced = leveldb_writeoptions_create();
            leveldb_writeoptions_set_sync(synced, 1);
            (read, plain, synced)
        };
        let rows = std::mem::replace(&mut self.sheet, Sheet::new(&StoreSettings::default())).rows();
        let store = Open {
            db,
            read,
            plain,
            synced,
            opener: self,
        };
        Ok((store, rows))
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        // SAFETY: each handle is destroyed once; the database that used them is gone.
        unsafe {
            leveldb_options_destroy(self.options);
            if !self.filter.is_null() {
                leveldb_filterpolicy_destroy(self.filter);
            }
            if !self.cache.is_null() {
                leveldb_cache_destroy(self.cache);
            }
        }
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// An open LevelDB.
struct Open {
    db: Handle,
    read: Handle,
    plain: Handle,
    synced: Handle,
    /// Dropped after the database, which uses what it holds.
    opener: Opener,
}

// SAFETY: LevelDB's database, options and cache may be used by any thread at the same time; that
// is its documented promise ("A single database may be accessed by multiple threads").
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

impl Open {
    fn how(&self, how: WriteHow) -> Handle {
        if how.sync { self.synced } else { self.plain }
    }

    fn text(&self, name: &str) -> Option<String> {
        let name = CString::new(format!("leveldb.{name}")).ok()?;
        // SAFETY: the name ends with a zero; the answer is a string of ours to free, or null.
        unsafe {
            let value = leveldb_property_value(self.db, name.as_ptr());
            if value.is_null() {
                return None;
            }
            let text = CStr::from_ptr(value).to_string_lossy().into_owned();
            leveldb_free(value.cast());
            Some(text)
        }
    }
}

impl Store for Open {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        let (how, mut fault) = (self.how(how), ptr::null_mut());
        // SAFETY: key and value are valid for their lengths; LevelDB copies them.
        unsafe {
            let (at, len) = (key.as_ptr(), key.len());
            leveldb_put(
                self.db,
                how,
                at,
                len,
                value.as_ptr(),
                value.len(),
                &mut fault,
            );
        }
        check(fault)
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let (mut bytes, mut fault) = (0, ptr::null_mut());
        // SAFETY: the key is valid for its length.
        let value = unsafe {
            leveldb_get(
                self.db,
                self.read,
                key.as_ptr(),
                key.len(),
                &mut bytes,
                &mut fault,
            )
        };
        check(fault)?;
        if value.is_null() {
            return Ok(false);
        }
        // SAFETY: the value is ours, of that length, and freed here once it was lent.
        unsafe {
            take(slice::from_raw_parts(value.cast(), bytes));
            leveldb_free(value.cast());
        }
        Ok(true)
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        let (how, mut fault) = (self.how(how), ptr::null_mut());
        // SAFETY: the key is valid for its length.
        unsafe { leveldb_delete(self.db, how, key.as_ptr(), key.len(), &mut fault) };
        check(fault)
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        // SAFETY: the handle is destroyed once, when the batch is dropped.
        let batch = unsafe { leveldb_writebatch_create() };
        Ok(Box::new(OpenBatch { batch, store: self }))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        // SAFETY: the database outlives the cursor, which destroys the handle once.
        let iterator = unsafe { leveldb_create_iterator(self.db, self.read) };
        Ok(Box::new(OpenCursor {
            iterator,
            _store: self,
        }))
    }

    // The interface has no flush; a compaction begins with one and is done for an empty range.
    fn flush(&self) -> Outcome {
        let nowhere = b"";
        // SAFETY: both bounds are valid for their length, which is 0.
        unsafe { leveldb_compact_range(self.db, nowhere.as_ptr(), 0, nowhere.as_ptr(), 0) };
        Ok(())
    }

    fn compact(&self) -> Outcome {
        // SAFETY: null stands for no bound.
        unsafe { leveldb_compact_range(self.db, ptr::null(), 0, ptr::null(), 0) };
        Ok(())
    }

    // Nothing tells whether a compaction runs; its end changes the list of files.
    fn drain(&self) -> Outcome {
        let mut before = self.text("sstables");
        let mut stats_before = self.text("stats");
        wait_until_quiet(|| {
            let (files, stats) = (self.text("sstables"), self.text("stats"));
            let is_busy = files != before || stats != stats_before;
            (before, stats_before) = (files, stats);
            Ok(is_busy)
        })
    }

    fn property(&self, name: &str) -> Option<String> {
        self.text(name)
    }

    fn counters(&self) -> Counters {
        let memory = self.text("approximate-memory-usage");
        Counters {
            memory_bytes: memory.and_then(|text| text.parse().ok()),
            ..Counters::default()
        }
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: each handle is destroyed once, the database first; what the opener holds
        // follows when this is done.
        unsafe {
            leveldb_close(self.db);
            leveldb_writeoptions_destroy(self.plain);
            leveldb_writeoptions_destroy(self.synced);
            leveldb_readoptions_destroy(self.read);
        }
        debug_assert!(!self.opener.options.is_null());
    }
}

struct OpenBatch<'a> {
    batch: Handle,
    store: &'a Open,
}

impl Batch for OpenBatch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        // SAFETY: key and value are valid for their lengths; the batch copies them.
        unsafe {
            let (at, len) = (key.as_ptr(), key.len());
            leveldb_writebatch_put(self.batch, at, len, value.as_ptr(), value.len());
        }
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        // SAFETY: the key is valid for its length; the batch copies it.
        unsafe { leveldb_writebatch_delete(self.batch, key.as_ptr(), key.len()) };
        Ok(())
    }

    fn merge(&mut self, _key: &[u8], _operand: &[u8]) -> Outcome {
        Err(Failure::unsupported("LevelDB has no merge operators"))
    }

    fn commit(&mut self, how: WriteHow) -> Outcome {
        let mut fault = ptr::null_mut();
        // SAFETY: all handles are live.
        unsafe {
            leveldb_write(self.store.db, self.store.how(how), self.batch, &mut fault);
            leveldb_writebatch_clear(self.batch);
        }
        check(fault)
    }
}

impl Drop for OpenBatch<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { leveldb_writebatch_destroy(self.batch) };
    }
}

struct OpenCursor<'a> {
    iterator: Handle,
    _store: &'a Open,
}

impl OpenCursor<'_> {
    #[inline]
    fn moved(&self) -> Outcome<bool> {
        // SAFETY: the iterator is live.
        if unsafe { leveldb_iter_valid(self.iterator) } != 0 {
            return Ok(true);
        }
        let mut fault = ptr::null_mut();
        // SAFETY: as above.
        unsafe { leveldb_iter_get_error(self.iterator, &mut fault) };
        check(fault).map(|()| false)
    }

    #[inline]
    fn lend(&self, part: unsafe extern "C" fn(Handle, *mut usize) -> *const u8) -> &[u8] {
        let mut bytes = 0;
        // SAFETY: key and value are asked for on an entry only, and stay until the next movement,
        // for which the cursor must be borrowed anew.
        unsafe {
            if leveldb_iter_valid(self.iterator) == 0 {
                return &[];
            }
            let at = part(self.iterator, &mut bytes);
            slice::from_raw_parts(at, bytes)
        }
    }
}

impl Cursor for OpenCursor<'_> {
    fn seek_to_first(&mut self) -> Outcome<bool> {
        // SAFETY: the iterator is live.
        unsafe { leveldb_iter_seek_to_first(self.iterator) };
        self.moved()
    }

    fn seek_to_last(&mut self) -> Outcome<bool> {
        // SAFETY: the iterator is live.
        unsafe { leveldb_iter_seek_to_last(self.iterator) };
        self.moved()
    }

    fn seek(&mut self, key: &[u8]) -> Outcome<bool> {
        // SAFETY: the iterator is live, and the key valid for its length.
        unsafe { leveldb_iter_seek(self.iterator, key.as_ptr(), key.len()) };
        self.moved()
    }

    fn next(&mut self) -> Outcome<bool> {
        // SAFETY: the iterator is live and, by the trait, on an entry.
        unsafe { leveldb_iter_next(self.iterator) };
        self.moved()
    }

    fn prev(&mut self) -> Outcome<bool> {
        // SAFETY: as above.
        unsafe { leveldb_iter_prev(self.iterator) };
        self.moved()
    }

    fn key(&self) -> &[u8] {
        self.lend(leveldb_iter_key)
    }

    fn value(&self) -> &[u8] {
        self.lend(leveldb_iter_value)
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once, before the database.
        unsafe { leveldb_iter_destroy(self.iterator) };
    }
}

/// The error that LevelDB left behind, if any.
fn check(fault: *mut c_char) -> Outcome {
    if fault.is_null() {
        return Ok(());
    }
    // SAFETY: LevelDB's errors are strings that end with a zero, and ours to free.
    let text = unsafe {
        let text = CStr::from_ptr(fault).to_string_lossy().into_owned();
        leveldb_free(fault.cast());
        text
    };
    Err(Failure::failed(format!("LevelDB: {text}")))
}
