//! Tests of `buffers`.

use super::*;

#[test]
fn the_memory_of_a_block_serves_one_of_about_its_size() {
    // 4000 and 4090 bytes both take 4096; a block of half that size must not keep as much.
    let first = for_plain(4000);
    let at = first.as_ptr();
    PLAIN_BUFFER.give_back(first);
    let second = for_plain(4090);
    assert_eq!(second.as_ptr(), at);
    PLAIN_BUFFER.give_back(second);
    assert_eq!(for_plain(2000).capacity(), 2048);
}

#[test]
fn a_block_of_any_length_fits() {
    // Lengths around the steps, nothing, and more than a thread keeps.
    for len in [0, 1, 127, 128, 129, 4096, 4097, SPARE_BYTES_MAX + 1] {
        let buffer = for_plain(len);
        assert!(buffer.capacity() >= len && buffer.capacity() < len + STEP_BYTES);
        PLAIN_BUFFER.give_back(buffer);
    }
}
