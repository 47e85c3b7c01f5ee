//! Tests of `map`.

use super::*;

#[test]
fn a_mapping_that_is_not_given_back_is_no_panic() {
    // The kernel refuses an address between two pages, as it may refuse one more mapping.
    let page = MappedPages.take(4_096).unwrap();
    let between = page.address().as_ptr().wrapping_add(1);
    let refused = Mapping {
        address: NonNull::new(between).unwrap(),
        len: 4_096,
    };
    drop(refused);
    drop(page);
}
