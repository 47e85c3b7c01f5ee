//! Tests of `bytes`.

use super::*;

#[test]
fn short_strings_live_in_the_handle() {
    // Up to 22 bytes need no allocation; one more needs a shared buffer.
    assert_eq!(Bytes::copy_of(&[7; 22]).pinned_bytes(), 0);
    assert_eq!(Bytes::copy_of(&[7; 23]).pinned_bytes(), 23);
    assert_eq!(Bytes::copy_of(b""), Bytes::EMPTY);
}

#[test]
fn slices_share_their_buffer() {
    // A long slice pins the whole buffer, a short one is copied out and pins nothing.
    let buffer = Arc::new((0..100).collect::<Vec<u8>>());
    let long = Bytes::slice_of(&buffer, 10..60);
    assert_eq!(long.pinned_bytes(), 100);
    assert_eq!(long.slice(5..35), buffer[15..45]);
    assert_eq!(long.slice(5..7).pinned_bytes(), 0);
    assert_eq!(long.slice(5..7), [15u8, 16]);
}

#[test]
#[should_panic]
fn a_slice_beyond_the_string_panics() {
    // The buffer is longer than the slice; reaching into the neighbour is a bug of the caller.
    let buffer = Arc::new(vec![0; 100]);
    let _neighbour = Bytes::slice_of(&buffer, 0..50).slice(40..60);
}
