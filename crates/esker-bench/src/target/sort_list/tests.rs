//! Tests of sorted lists.

use super::*;

#[test]
fn lists_are_merged_in_order_however_they_are_grouped() {
    // All at once, and two of them first.
    let (one, two, three) = (&b"1,5,9"[..], &b"2,7"[..], &b"-3,7"[..]);
    let all = SortList.fold(b"k", Some(one), &[two, three]).unwrap();
    assert_eq!(all, b"-3,1,2,5,7,7,9");
    let pair = SortList.combine(b"k", two, three).unwrap();
    assert_eq!(SortList.fold(b"k", Some(one), &[&pair]).unwrap(), all);
    assert_eq!(SortList.fold(b"k", None, &[b"4,x"]).unwrap(), b"0,4");
}
