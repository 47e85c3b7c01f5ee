//! Tests of `abi`: what C cannot show. The rest is in tests/c.

use super::*;

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
