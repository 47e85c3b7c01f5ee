//! Tests of `buffers`.

use super::*;

#[test]
fn the_memory_of_a_block_serves_one_of_about_its_size() {
    // 4000 and 4090 bytes both take 4096; a block of half that size must not keep as much.
    let first = for_plain(4000, None);
    let at = first.as_ptr();
    give_back(first);
    let second = for_plain(4090, None);
    assert_eq!(second.as_ptr(), at);
    give_back(second);
    assert_eq!(for_plain(2000, None).len(), 2048);
}

#[test]
fn a_block_of_any_length_fits() {
    // Lengths around the steps, nothing, and more than a thread keeps.
    for len in [0, 1, 127, 128, 129, 4096, 4097, SPARE_BYTES_MAX + 1] {
        let memory = for_plain(len, None);
        assert!(memory.len() >= len && memory.len() < len + STEP_BYTES);
        give_back(memory);
    }
}

#[test]
fn a_scan_goes_on_in_memory_that_is_a_little_larger() {
    // What it left serves a shorter block, but not one that is shorter by much, or longer.
    let first = for_plain(4096, None);
    let at = first.as_ptr();
    let second = for_plain(3700, Some(first));
    assert_eq!(second.as_ptr(), at);
    assert_eq!(for_plain(3000, Some(second)).len(), 3072);
    assert_eq!(for_plain(4200, Some(for_plain(4096, None))).len(), 4224);
}
