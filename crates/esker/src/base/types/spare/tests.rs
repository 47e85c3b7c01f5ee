//! Tests of `spare_buffer`.

use super::*;

#[test]
fn what_was_given_back_is_taken_next() {
    // The same memory comes round, and a second taker in between gets memory of its own.
    let mut buffer = take();
    buffer.reserve(100);
    let at = buffer.as_ptr();
    give_back(buffer);
    let again = take();
    assert_eq!(again.as_ptr(), at);
    assert_eq!(take().capacity(), 0);
}

#[test]
fn large_buffers_are_not_kept() {
    // A batch of a megabyte leaves nothing behind.
    give_back(Vec::with_capacity(1 << 20));
    assert_eq!(take().capacity(), 0);
}
