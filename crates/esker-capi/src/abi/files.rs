//! The section "Files" of `esker/c.h`: sorted files that leave a database or come into it.

use std::ffi::{c_char, c_int, c_void};

use esker::{Error, FileSetSummary, IngestOptions, Place, Result, SstWriter, Transfer};

use crate::abi::about::give_texts;
use crate::abi::arguments::{bytes, give, keys_between, live, path, place, room, take, tell};
use crate::abi::database::EskerDb;
use crate::abi::keyspace::EskerKeyspace;
use crate::abi::keyspace_options::{EskerKeyspaceOptions, options_or_default};
use crate::abi::reading::array;
use crate::abi::writing::expiry;
use crate::answer::{Done, answer, told};

/// `ESKER_BELOW`.
const BELOW: u32 = 0x1;
/// `ESKER_COPY`.
const COPY: u32 = 0x2;
/// `ESKER_MOVE`.
const MOVE: u32 = 0x4;
/// `ESKER_UNCHECKED`.
const UNCHECKED: u32 = 0x8;

/// `esker_file_set_summary` of `esker/c.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct EskerFileSetSummary {
    /// Sorted files.
    pub files: u64,
    /// Their bytes, and those of the segments of the value log beside them.
    pub size_bytes: u64,
    /// Their entries.
    pub entries: u64,
    /// Their range deletes.
    pub range_deletes: u64,
}

impl From<&FileSetSummary> for EskerFileSetSummary {
    fn from(summary: &FileSetSummary) -> EskerFileSetSummary {
        EskerFileSetSummary {
            files: summary.file_count as u64,
            size_bytes: summary.size_bytes,
            entries: summary.entry_count,
            range_deletes: summary.range_delete_count,
        }
    }
}

fn ingest_options(flags: u32) -> Result<IngestOptions> {
    if flags & !(BELOW | COPY | MOVE | UNCHECKED) != 0 {
        return Err(Error::invalid(format!(
            "flags {flags:#x} have a bit that no ingest knows; esker/c.h names those there are"
        )));
    }
    let transfer = match (flags & COPY != 0, flags & MOVE != 0) {
        (true, true) => {
            let refusal = "files are copied or moved: give one of ESKER_COPY and ESKER_MOVE";
            return Err(Error::invalid(refusal));
        }
        (true, false) => Transfer::Copy,
        (false, true) => Transfer::Move,
        (false, false) => Transfer::Link,
    };
    let place = match flags & BELOW {
        0 => Place::Above,
        _ => Place::Below,
    };
    let options = IngestOptions::default().place(place).transfer(transfer);
    Ok(options.verify(flags & UNCHECKED == 0))
}

/// `esker_export` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_export(
    db: *const EskerDb,
    keyspaces: *const *const EskerKeyspace,
    count: usize,
    dir: *const c_char,
    summary: *mut EskerFileSetSummary,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, handles, dir) = unsafe {
            tell(summary, EskerFileSetSummary::default());
            (
                live("db", db)?,
                array("keyspaces", keyspaces, count)?,
                path("dir", dir)?,
            )
        };
        let mut exported = Vec::with_capacity(count);
        for handle in handles {
            // SAFETY: NULL or live, by the rule of this room.
            exported.push(unsafe { live("a keyspace", *handle) }?.within(db.home)?);
        }
        let made = db.db.export_all(&exported, dir)?;
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(summary, EskerFileSetSummary::from(&made)) };
        Ok(Done::Ok)
    })
}

/// `esker_ingest` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_ingest(
    db: *const EskerDb,
    keyspaces: *const *const EskerKeyspace,
    dirs: *const *const c_char,
    count: usize,
    flags: u32,
    summary: *mut EskerFileSetSummary,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, handles, dirs) = unsafe {
            tell(summary, EskerFileSetSummary::default());
            (
                live("db", db)?,
                array("keyspaces", keyspaces, count)?,
                array("dirs", dirs, count)?,
            )
        };
        let mut sets = Vec::with_capacity(count);
        for (handle, dir) in handles.iter().zip(dirs) {
            // SAFETY: each NULL or live, by the rule of this room.
            let (keyspace, dir) = unsafe { (live("a keyspace", *handle)?, path("a dir", *dir)?) };
            sets.push((keyspace.within(db.home)?, dir));
        }
        let taken = db.db.ingest_all(&sets, &ingest_options(flags)?)?;
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(summary, EskerFileSetSummary::from(&taken)) };
        Ok(Done::Ok)
    })
}

/// `esker_ingest_by_name` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_ingest_by_name(
    db: *const EskerDb,
    dir: *const c_char,
    flags: u32,
    summary: *mut EskerFileSetSummary,
    names: *mut *mut *mut c_char,
    count: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        unsafe {
            tell(names, std::ptr::null_mut());
            tell(count, 0);
            tell(summary, EskerFileSetSummary::default());
            let (db, dir) = (live("db", db)?, path("dir", dir)?);
            if names.is_null() != count.is_null() {
                let refusal = "names and count are both NULL, or neither is";
                return Err(Error::invalid(refusal));
            }
            let (taken, named) = db.db.ingest_by_name(dir, &ingest_options(flags)?)?;
            tell(summary, EskerFileSetSummary::from(&taken));
            if !names.is_null() {
                (*names, *count) = give_texts(&named);
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_sst_writer` of `esker/c.h`.
pub struct EskerSstWriter {
    /// `None` when it was finished.
    writer: Option<SstWriter>,
}

/// `esker_sst_writer_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_new(
    dir: *const c_char,
    options: *const EskerKeyspaceOptions,
    writer: *mut *mut EskerSstWriter,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (writer, dir, options) = unsafe {
            (
                room("writer", writer)?,
                path("dir", dir)?,
                options_or_default(options),
            )
        };
        *writer = give(EskerSstWriter {
            writer: Some(SstWriter::create(dir, options)?),
        });
        Ok(Done::Ok)
    })
}

/// Writes into the files.
///
/// # Safety
/// NULL, or a live writer that is in no other call.
unsafe fn write(
    writer: *mut EskerSstWriter,
    act: impl FnOnce(&mut SstWriter) -> Result<()>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    let writer = unsafe { place("writer", writer) }?;
    let writer = writer.writer.as_mut();
    act(writer.ok_or_else(|| Error::invalid("the writer is finished"))?)?;
    Ok(Done::Ok)
}

/// `esker_sst_writer_put` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_put(
    writer: *mut EskerSstWriter,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
    unix_ms: u64,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (key, value) = (
            bytes("key", key, key_size)?,
            bytes("value", value, value_size)?,
        );
        write(writer, |writer| match expiry(unix_ms) {
            Some(end) => writer.put_until(key, value, end),
            None => writer.put(key, value),
        })
    })
}

/// `esker_sst_writer_delete` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_delete(
    writer: *mut EskerSstWriter,
    key: *const c_void,
    key_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        write(writer, |writer| writer.delete(key))
    })
}

/// `esker_sst_writer_merge` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_merge(
    writer: *mut EskerSstWriter,
    key: *const c_void,
    key_size: usize,
    operand: *const c_void,
    operand_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let key = bytes("key", key, key_size)?;
        let operand = bytes("operand", operand, operand_size)?;
        write(writer, |writer| writer.merge(key, operand))
    })
}

/// `esker_sst_writer_delete_range` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_delete_range(
    writer: *mut EskerSstWriter,
    lower: *const c_void,
    lower_size: usize,
    upper: *const c_void,
    upper_size: usize,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (lower, upper) = keys_between((lower, lower_size), (upper, upper_size))?;
        write(writer, |writer| writer.delete_range(lower, upper))
    })
}

/// `esker_sst_writer_finish` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_finish(
    writer: *mut EskerSstWriter,
    summary: *mut EskerFileSetSummary,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let writer = unsafe {
            tell(summary, EskerFileSetSummary::default());
            place("writer", writer)?
        };
        let writer = writer.writer.take();
        let made = writer
            .ok_or_else(|| Error::invalid("the writer is finished"))?
            .finish()?;
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(summary, EskerFileSetSummary::from(&made)) };
        Ok(Done::Ok)
    })
}

/// `esker_sst_writer_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_sst_writer_free(writer: *mut EskerSstWriter) {
    // SAFETY: NULL, or it came from `esker_sst_writer_new` and the caller gives it up.
    told((), || drop(unsafe { take(writer) }));
}
