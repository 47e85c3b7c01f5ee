//! Tests of the values.

use super::*;

#[test]
fn the_first_value_is_that_of_db_bench() {
    // The first bytes from seed 301, repeated once.
    let mut values = Values::new();
    let first = values.next();
    assert!(first.starts_with(b"^{Vhz\"!/%wMZ;'a F/REZJ4Tw@%NXxy2?.ArVCZ2B6[jnUd)4 "));
    assert_eq!(first[..50], first[50..]);
}
