//! When a balance is done.

use super::*;

#[test]
fn a_balance_is_done_only_when_all_is_known_and_was_looked_at() {
    let told = |under_way, is_whole| BalanceResponse {
        under_way,
        is_whole,
        ..BalanceResponse::default()
    };
    assert_eq!(is_anything_left(&told(0, true)), 0);
    assert_eq!(is_anything_left(&told(3, true)), 3);
    assert_eq!(is_anything_left(&told(0, false)), 1);
    assert_eq!(is_anything_left(&told(3, false)), 3);
}
