//! The border to C: what `kvs.h` declares. Checks pointers and sizes, and lets no panic across.
//!
//! The only file with unsafe code. What every function relies on, and the header says: a pointer
//! that is not NULL points to as many bytes as the size beside it says, or to a string that ends
//! with NUL, or to a live object of its type; and nobody changes those bytes during the call.
#![allow(
    unsafe_code,
    reason = "pointers from C; everything behind them is in safe files"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "one rule for all, at the head of this file and in kvs.h"
)]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use esker::DbCursor;
use esker::internals::env::bundle::Env;

use crate::answer::{code, code_of_kvs, guarded, logged, object, reason, remember};
use crate::config::{Config, Fields, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::instance::Instance;
use crate::refusal::Refusal;
use crate::text_log::TextLog;

/// `KVS_ENV` of `kvs.h`.
#[repr(C)]
pub struct KvsEnv {
    // A number and not an enum: C may put anything there.
    init_type: c_int,
    disk_file_path: *const c_char,
    image_file_path: *const c_char,
    log_file_path: *const c_char,
    buffer_sleep_time: c_int,
    buffer_horizon_size: c_int,
    buffer_size: c_int,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<KvsEnv>() == 48);

/// `kvs_store` of `kvs.h`.
pub struct KvsStore(Instance);

/// `kvs_scan` of `kvs.h`.
pub struct KvsScan {
    cursor: DbCursor,
    /// Where to begin; taken by the first step.
    from: Option<Vec<u8>>,
}

/// What `kv_init` opened. Held for reading by every call, so that they run together; `kv_init` and
/// `kv_exit` wait for those that are under way.
static CURRENT: RwLock<Option<Instance>> = RwLock::new(None);

/// `kv_init` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kv_init(env: *const KvsEnv) -> c_int {
    code(guarded(|| {
        let mut current = CURRENT.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*current {
            open.log().refusal(&Refusal::AlreadyOpen.lines("kv_init"));
            return Err(Refusal::AlreadyOpen);
        }
        // SAFETY: the caller's pointer, by the rule of this file.
        *current = Some(unsafe { open("kv_init", env) }?);
        Ok(())
    }))
}

/// `kv_exit` of `kvs.h`.
#[unsafe(no_mangle)]
pub extern "C" fn kv_exit() -> c_int {
    code(guarded(|| {
        let mut current = CURRENT.write().unwrap_or_else(PoisonError::into_inner);
        let instance = current.take().ok_or(Refusal::NotOpen)?;
        drop(current);
        close(&instance, "kv_exit")
    }))
}

/// `kv_put` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kv_put(
    key: *const c_char,
    key_size: c_int,
    value: *const c_char,
    value_size: c_int,
) -> c_int {
    code(on_current("kv_put", |instance| {
        // SAFETY: the caller's pointers, by the rule of this file.
        let (key, value) = unsafe {
            (
                bytes("key", key, "key_size", key_size, KEY_BYTES_MAX)?,
                bytes("value", value, "value_size", value_size, VALUE_BYTES_MAX)?,
            )
        };
        instance.put_new(key, value)
    }))
}

/// `kv_get` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kv_get(
    key: *const c_char,
    key_size: c_int,
    buf: *mut c_char,
    buf_size: *mut c_int,
) -> c_int {
    code(on_current("kv_get", |instance| {
        // SAFETY: the caller's pointers, by the rule of this file.
        unsafe { get(instance, key, key_size, buf, buf_size) }
    }))
}

/// `kv_delete` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kv_delete(key: *const c_char, key_size: c_int) -> c_int {
    code(on_current("kv_delete", |instance| {
        // SAFETY: the caller's pointer, by the rule of this file.
        let key = unsafe { bytes("key", key, "key_size", key_size, KEY_BYTES_MAX)? };
        instance.delete(key)
    }))
}

/// `kvs_open` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_open(env: *const KvsEnv) -> *mut KvsStore {
    // SAFETY: the caller's pointer, by the rule of this file.
    object(guarded(|| unsafe { open("kvs_open", env) }.map(KvsStore)))
}

/// `kvs_close` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_close(store: *mut KvsStore) -> c_int {
    code(guarded(|| {
        if store.is_null() {
            return Ok(());
        }
        // SAFETY: it came from `kvs_open`, and the caller gives it up.
        let store = unsafe { Box::from_raw(store) };
        close(&store.0, "kvs_close")
    }))
}

/// `kvs_put` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_put(
    store: *const KvsStore,
    key: *const c_char,
    key_size: c_int,
    value: *const c_char,
    value_size: c_int,
) -> c_int {
    let act = |instance: &Instance| {
        // SAFETY: the caller's pointers, by the rule of this file.
        let (key, value) = unsafe {
            (
                bytes("key", key, "key_size", key_size, KEY_BYTES_MAX)?,
                bytes("value", value, "value_size", value_size, VALUE_BYTES_MAX)?,
            )
        };
        instance.put(key, value)
    };
    // SAFETY: the caller's store, by the rule of this file.
    code_of_kvs(unsafe { on_store(store, "kvs_put", act) })
}

/// `kvs_get` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_get(
    store: *const KvsStore,
    key: *const c_char,
    key_size: c_int,
    buf: *mut c_char,
    buf_size: *mut c_int,
) -> c_int {
    let act = |instance: &Instance| {
        // SAFETY: the caller's pointers, by the rule of this file.
        unsafe { get(instance, key, key_size, buf, buf_size) }
    };
    // SAFETY: the caller's store, by the rule of this file.
    let got = unsafe { on_store(store, "kvs_get", act) };
    if let Err(Refusal::SmallBuffer { needed, .. }) = &got {
        let needed = c_int::try_from(*needed).expect("values have 5 MiB at the most");
        // SAFETY: it was not NULL, or the capacity in it had not been compared.
        unsafe { buf_size.write(needed) };
    }
    code_of_kvs(got)
}

/// `kvs_delete` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_delete(
    store: *const KvsStore,
    key: *const c_char,
    key_size: c_int,
) -> c_int {
    let act = |instance: &Instance| {
        // SAFETY: the caller's pointer, by the rule of this file.
        let key = unsafe { bytes("key", key, "key_size", key_size, KEY_BYTES_MAX)? };
        instance.delete(key)
    };
    // SAFETY: the caller's store, by the rule of this file.
    code_of_kvs(unsafe { on_store(store, "kvs_delete", act) })
}

/// `kvs_sync` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_sync(store: *const KvsStore) -> c_int {
    // SAFETY: the caller's store, by the rule of this file.
    code_of_kvs(unsafe { on_store(store, "kvs_sync", Instance::sync) })
}

/// `kvs_scan_open` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_scan_open(
    store: *const KvsStore,
    from: *const c_char,
    from_size: c_int,
) -> *mut KvsScan {
    let mut opened = Err(Refusal::NotOpen);
    let act = |instance: &Instance| {
        // SAFETY: the caller's pointer, by the rule of this file.
        let from = unsafe { bytes("from", from, "from_size", from_size, KEY_BYTES_MAX)? };
        opened = Ok(KvsScan {
            cursor: instance.cursor()?,
            from: Some(from.to_vec()),
        });
        Ok(())
    };
    // SAFETY: the caller's store, by the rule of this file.
    let acted = unsafe { on_store(store, "kvs_scan_open", act) };
    object(acted.and(opened))
}

/// `kvs_scan_next` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_scan_next(
    scan: *mut KvsScan,
    key: *mut *const c_char,
    key_size: *mut c_int,
    value: *mut *const c_char,
    value_size: *mut c_int,
) -> c_int {
    code_of_kvs(guarded(|| {
        // SAFETY: NULL, or a live scan that no other thread is in, by the rule of this file.
        let scan = unsafe { scan.as_mut() }.ok_or(Refusal::Null("scan"))?;
        let is_there = match scan.from.take() {
            Some(from) => scan.cursor.seek(from)?,
            None => scan.cursor.next()?,
        };
        if !is_there {
            return Err(Refusal::Missing);
        }
        let found = scan.cursor.key().ok_or(Refusal::Missing)?;
        // SAFETY: NULL, or room for what is written; the bytes stay until the scan moves.
        unsafe { show(found, key, key_size) };
        // Not asked for, the value is not looked at.
        if !value.is_null() || !value_size.is_null() {
            let found = scan.cursor.value()?.ok_or(Refusal::Missing)?;
            // SAFETY: as above.
            unsafe { show(found, value, value_size) };
        }
        Ok(())
    }))
}

/// `kvs_scan_close` of `kvs.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvs_scan_close(scan: *mut KvsScan) {
    let closed = guarded(|| {
        if !scan.is_null() {
            // SAFETY: it came from `kvs_scan_open`, and the caller gives it up.
            drop(unsafe { Box::from_raw(scan) });
        }
        Ok(())
    });
    if let Err(refusal) = closed {
        remember(&refusal);
    }
}

/// `kvs_errmsg` of `kvs.h`.
#[unsafe(no_mangle)]
pub extern "C" fn kvs_errmsg() -> *const c_char {
    reason()
}

/// Opens what the environment says.
///
/// # Safety
/// NULL, or an environment whose paths are NULL or strings.
unsafe fn open(call: &str, env: *const KvsEnv) -> Result<Instance, Refusal> {
    // SAFETY: by this function's own rule.
    let env = unsafe { env.as_ref() }.ok_or(Refusal::Null("env"))?;
    // SAFETY: by this function's own rule.
    let log_path = unsafe { path(env.log_file_path) };
    let log = TextLog::open(log_path.as_deref()).map_err(|error| {
        let name = log_path.unwrap_or_default();
        Refusal::Environment(format!("cannot open the log {}: {error}", name.display()))
    })?;
    let fields = Fields {
        init_type: env.init_type,
        // SAFETY: by this function's own rule.
        disk_path: unsafe { path(env.disk_file_path) },
        // SAFETY: by this function's own rule.
        image_path: unsafe { path(env.image_file_path) },
        sleep_s: env.buffer_sleep_time,
        horizon_bytes: env.buffer_horizon_size,
        buffer_bytes: env.buffer_size,
        is_strict: is_strict(),
    };
    let opened = match Config::check(fields) {
        Ok(config) => Instance::open(&Env::real(Env::core_count()), &config, log),
        Err(refusal) => Err((refusal, log)),
    };
    opened.map_err(|(refusal, log)| {
        log.refusal(&refusal.lines(call));
        refusal
    })
}

fn close(instance: &Instance, call: &str) -> Result<(), Refusal> {
    let closed = instance.exit();
    if let Err(refusal) = &closed {
        instance.log().refusal(&refusal.lines(call));
    }
    closed
}

#[allow(
    clippy::disallowed_methods,
    reason = "the library's one setting that KVS_ENV has no field for"
)]
fn is_strict() -> bool {
    std::env::var_os("KVS_STRICT").is_some_and(|value| value == "1")
}

/// Gets a value into the caller's buffer. On failure neither buffer nor size is touched.
///
/// # Safety
/// `key` as [`bytes`]; `buf_size` is NULL or the number of bytes that `buf` has room for.
unsafe fn get(
    instance: &Instance,
    key: *const c_char,
    key_size: c_int,
    buf: *mut c_char,
    buf_size: *mut c_int,
) -> Result<(), Refusal> {
    // SAFETY: by this function's own rule.
    let key = unsafe { bytes("key", key, "key_size", key_size, KEY_BYTES_MAX)? };
    if buf_size.is_null() {
        return Err(Refusal::Null("buf_size"));
    }
    // SAFETY: it is not NULL, so it points to a number, by this function's own rule.
    let given = unsafe { buf_size.read() };
    let capacity = usize::try_from(given).map_err(|_| Refusal::Size {
        name: "buf_size",
        given: i64::from(given),
        max: c_int::MAX.unsigned_abs() as usize,
    })?;
    if buf.is_null() && capacity > 0 {
        return Err(Refusal::Null("buf"));
    }
    let value = instance.get(key)?;
    let needed = value.len();
    if capacity < needed {
        return Err(Refusal::SmallBuffer { needed, capacity });
    }
    let size = c_int::try_from(needed).expect("not more than the capacity, which is one");
    // SAFETY: the buffer has room for `capacity` bytes, of which no more are written, and the
    // value is memory of ours. With room for nothing, nothing is written.
    unsafe {
        std::ptr::copy_nonoverlapping(value.as_ptr(), buf.cast(), needed);
        if capacity > needed {
            buf.add(needed).write(0);
        }
        buf_size.write(size);
    }
    Ok(())
}

/// The caller's bytes.
///
/// # Safety
/// NULL, or that many bytes which live and stay as they are while the result is used.
unsafe fn bytes<'a>(
    name: &'static str,
    start: *const c_char,
    size_name: &'static str,
    size: c_int,
    max: usize,
) -> Result<&'a [u8], Refusal> {
    let refused = Refusal::Size {
        name: size_name,
        given: i64::from(size),
        max,
    };
    let len = usize::try_from(size).ok().filter(|len| *len <= max);
    match len.ok_or(refused)? {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Refusal::Null(name)),
        // SAFETY: not NULL, and as many bytes as said, by this function's own rule.
        len => Ok(unsafe { std::slice::from_raw_parts(start.cast(), len) }),
    }
}

/// The caller's path.
///
/// # Safety
/// NULL, or a string that ends with NUL.
unsafe fn path(start: *const c_char) -> Option<PathBuf> {
    if start.is_null() {
        return None;
    }
    // SAFETY: not NULL, and a string, by this function's own rule.
    let text = unsafe { CStr::from_ptr(start) };
    Some(PathBuf::from(OsStr::from_bytes(text.to_bytes())))
}

/// Tells the caller where bytes are.
///
/// # Safety
/// Each is NULL or may be written to.
unsafe fn show(bytes: &[u8], start: *mut *const c_char, size: *mut c_int) {
    let len = c_int::try_from(bytes.len()).expect("keys and values are far below 2 GiB");
    if !start.is_null() {
        // SAFETY: by this function's own rule.
        unsafe { start.write(bytes.as_ptr().cast()) };
    }
    if !size.is_null() {
        // SAFETY: by this function's own rule.
        unsafe { size.write(len) };
    }
}

/// Runs `act` on what `kv_init` opened; a refusal goes into its log.
#[track_caller]
fn on_current(
    call: &str,
    act: impl FnOnce(&Instance) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let current = CURRENT.read().unwrap_or_else(PoisonError::into_inner);
    let instance = current.as_ref().ok_or(Refusal::NotOpen)?;
    logged(instance, call, act)
}

/// Runs `act` on a store, or with NULL on what `kv_init` opened.
///
/// # Safety
/// NULL, or a store that is open.
#[track_caller]
unsafe fn on_store(
    store: *const KvsStore,
    call: &str,
    act: impl FnOnce(&Instance) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    // SAFETY: by this function's own rule.
    match unsafe { store.as_ref() } {
        Some(store) => logged(&store.0, call, act),
        None => on_current(call, act),
    }
}

#[cfg(test)]
mod tests;
