//! Tests of `stripes`.

use super::*;

#[test]
fn snapshots_cut_stripes_above_themselves() {
    // A snapshot at 5 sees 5 but not 6: the two lie in different stripes.
    let stripes = Stripes::new(vec![SeqNo::new(5), SeqNo::new(9)]);
    let of = |seqno| stripes.of(SeqNo::new(seqno));
    assert_eq!([of(1), of(5), of(6), of(9), of(10)], [0, 0, 1, 1, 2]);
    assert_eq!(stripes.newest(), 2);
}
