//! Tests of the keys.

use super::*;

#[test]
fn keys_are_sixteen_decimal_digits() {
    // The same bytes as printf's %016d gives.
    assert_eq!(&key(42), b"0000000000000042");
    assert_eq!(&key(9_876_543_210), b"0000009876543210");
}
