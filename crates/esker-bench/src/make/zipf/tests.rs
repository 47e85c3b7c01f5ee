//! Tests of zipfian ranks.

use super::*;

#[test]
fn one_item_is_always_drawn() {
    // The smallest set, and a huge one whose ranks stay inside.
    let mut random = Random::new(1);
    assert_eq!(Zipf::new(1, 0.99).draw(&mut random), 0);
    let zipf = Zipf::new(1 << 40, 0.99);
    assert!((0..1000).all(|_| zipf.draw(&mut random) < 1 << 40));
}
