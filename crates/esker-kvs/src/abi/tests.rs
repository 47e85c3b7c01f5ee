//! Tests of `abi`: what C cannot show. The rest is in tests/c.

use std::ffi::CString;
use std::path::Path;

use super::*;

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn size(bytes: &[u8]) -> c_int {
    c_int::try_from(bytes.len()).unwrap()
}

fn put(key: &[u8], value: &[u8]) -> c_int {
    // SAFETY: both are slices with their own sizes.
    unsafe {
        kv_put(
            key.as_ptr().cast(),
            size(key),
            value.as_ptr().cast(),
            size(value),
        )
    }
}

/// Gets into memory that ends where the capacity does.
fn got(key: &[u8], capacity: usize) -> (c_int, c_int, Vec<u8>) {
    let mut buf = vec![b'x'; capacity].into_boxed_slice();
    let mut size_of_buf = size(&buf);
    // SAFETY: a slice with its own size, and a buffer with its own.
    let code = unsafe {
        kv_get(
            key.as_ptr().cast(),
            size(key),
            buf.as_mut_ptr().cast(),
            &raw mut size_of_buf,
        )
    };
    (code, size_of_buf, buf.into_vec())
}

#[test]
fn the_environment_lies_in_memory_as_the_original_has_it() {
    // 48 bytes on machines with 64-bit pointers: programs that are built already rely on it.
    let offsets = [
        std::mem::offset_of!(KvsEnv, init_type),
        std::mem::offset_of!(KvsEnv, disk_file_path),
        std::mem::offset_of!(KvsEnv, image_file_path),
        std::mem::offset_of!(KvsEnv, log_file_path),
        std::mem::offset_of!(KvsEnv, buffer_sleep_time),
        std::mem::offset_of!(KvsEnv, buffer_horizon_size),
        std::mem::offset_of!(KvsEnv, buffer_size),
    ];
    if size_of::<usize>() == 8 {
        assert_eq!(offsets, [0, 8, 16, 24, 32, 36, 40]);
    }
}

#[test]
fn bytes_are_checked_before_they_are_touched() {
    // No pointer is followed unless its size says that there is something.
    let taken = |start: *const c_char, size| {
        // SAFETY: NULL, or three bytes of a string that lives as long as the program.
        unsafe { bytes("key", start, "key_size", size, 3) }.map(<[u8]>::to_vec)
    };
    let three = c"abc".as_ptr();
    assert_eq!(taken(three, 3).unwrap(), b"abc");
    assert_eq!(taken(three, 0).unwrap(), b"");
    assert_eq!(taken(std::ptr::null(), 0).unwrap(), b"");
    assert!(matches!(
        taken(std::ptr::null(), 1),
        Err(Refusal::Null("key"))
    ));
    for size in [-1, c_int::MIN, 4, c_int::MAX] {
        assert!(matches!(taken(three, size), Err(Refusal::Size { .. })));
    }
}

#[test]
fn no_byte_is_written_where_the_buffer_ends() {
    // A sanitizer watches: buffers with room for less than the value, for it, and for a NUL more.
    let dir = tempfile::tempdir().unwrap();
    let [disk, image, log] =
        ["disk_file", "IMAGE_file", "log_file"].map(|name| text(&dir.path().join(name)));
    let env = KvsEnv {
        init_type: 0,
        disk_file_path: disk.as_ptr(),
        image_file_path: image.as_ptr(),
        log_file_path: log.as_ptr(),
        buffer_sleep_time: 0,
        buffer_horizon_size: 0,
        buffer_size: 64 << 20,
    };
    // SAFETY: the paths live until the end of the test.
    assert_eq!(unsafe { kv_init(&raw const env) }, 0);
    for len in [0, 5, 20_000] {
        let (key, value) = (len.to_string(), vec![b'v'; len]);
        let key = key.as_bytes();
        assert_eq!(put(key, &value), 0);
        assert_eq!(put(key, &value), -1);
        let (code, told, bytes) = got(key, len);
        assert_eq!((code, told), (0, size(&value)));
        assert_eq!(bytes, value);
        let (code, _, bytes) = got(key, len + 2);
        assert_eq!(code, 0);
        assert_eq!(bytes, [&value[..], b"\0x"].concat());
        if len > 0 {
            let (code, told, bytes) = got(key, len - 1);
            assert_eq!((code, told), (-1, size(&value) - 1));
            assert!(bytes.iter().all(|byte| *byte == b'x'));
        }
    }
    // SAFETY: NULL is the store of `kv_init`, and `from` has no bytes.
    let scan = unsafe { kvs_scan_open(std::ptr::null(), std::ptr::null(), 0) };
    let (mut start, mut len) = (std::ptr::null(), 0);
    // SAFETY: the scan is live, and the two places may be written to.
    let next = || unsafe {
        let null = std::ptr::null_mut();
        kvs_scan_next(scan, &raw mut start, &raw mut len, null, null.cast())
    };
    assert_eq!(
        std::iter::repeat_with(next)
            .take_while(|it| *it == 0)
            .count(),
        3
    );
    // SAFETY: nobody uses the scan after this.
    unsafe { kvs_scan_close(scan) };
    assert_eq!(kv_exit(), 0);
}
