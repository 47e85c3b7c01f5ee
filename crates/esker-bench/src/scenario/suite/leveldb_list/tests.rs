//! Tests of what LevelDB finds.

use super::*;

#[test]
fn a_million_keys_are_found_as_published() {
    // The three numbers stand in published logs of LevelDB.
    assert_eq!(found_by_leveldb(1_000_000), [864_322, 864_083, 864_105]);
}
