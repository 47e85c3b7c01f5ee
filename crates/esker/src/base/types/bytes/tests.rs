//! Tests of `bytes`.

use super::*;

#[test]
fn short_strings_live_in_the_handle() {
    // Up to 30 bytes need no allocation; one more needs a shared buffer.
    assert_eq!(Bytes::copy_of(&[7; 30]).pinned_bytes(), 0);
    assert_eq!(Bytes::copy_of(&[7; 31]).pinned_bytes(), 31);
    assert_eq!(Bytes::copy_of(b""), Bytes::EMPTY);
}

#[test]
fn slices_share_their_buffer() {
    // A long slice pins the whole buffer or memory, a short one is copied out and pins nothing.
    let buffer = Arc::new((0..100).collect::<Vec<u8>>());
    let memory: Arc<[u8]> = Arc::from(&buffer[..]);
    for long in [
        Bytes::slice_of(&buffer, 10..60),
        Bytes::of_shared(&memory, 10..60),
    ] {
        assert_eq!(long, buffer[10..60]);
        assert_eq!(long.pinned_bytes(), 100);
        assert_eq!(long.slice(5..45), buffer[15..55]);
        assert_eq!(long.slice(5..45).pinned_bytes(), 100);
        assert_eq!(long.slice(5..7).pinned_bytes(), 0);
        assert_eq!(long.slice(5..7), [15u8, 16]);
    }
}

#[test]
fn no_part_of_a_memory_keeps_more_than_eight_times_itself() {
    // Parts of every length of a memory of 4 KiB, and parts of those: the small ones have memory of
    // their own, the others share the memory's.
    let memory: Arc<[u8]> = (0..4096_u32).map(|byte| byte as u8).collect();
    for len in 0..=4000 {
        let part = Bytes::of_shared(&memory, 17..17 + len);
        assert_eq!(part, memory[17..17 + len]);
        assert!(part.pinned_bytes() <= 8 * len, "{len} bytes");
        assert_eq!(part.pinned_bytes() == 4096, len >= 512, "{len} bytes");
        let half = part.slice(0..len / 2);
        assert!(half.pinned_bytes() <= 8 * half.len(), "half of {len} bytes");
    }
    assert_eq!(Arc::strong_count(&memory), 1);
}

#[test]
#[should_panic]
fn a_slice_beyond_a_string_of_a_memory_panics() {
    // As below.
    let memory: Arc<[u8]> = Arc::from([0; 100]);
    let _neighbour = Bytes::of_shared(&memory, 0..50).slice(5..60);
}

#[test]
#[should_panic]
fn a_slice_beyond_the_string_panics() {
    // The buffer is longer than the slice; reaching into the neighbour is a bug of the caller.
    let buffer = Arc::new(vec![0; 100]);
    let _neighbour = Bytes::slice_of(&buffer, 0..50).slice(40..60);
}
