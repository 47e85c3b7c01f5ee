//! Tests of made reviews.

use super::*;

#[test]
fn same_seed_makes_the_same_reviews() {
    // Two makers in step, a third that differs; keys and texts belong together.
    let mut makers = [
        Prose::new(1000, 7),
        Prose::new(1000, 7),
        Prose::new(1000, 8),
    ];
    let mut bytes = 0;
    for _ in 0..200 {
        let [one, two, other] = makers.each_mut().map(Prose::next_record);
        assert_eq!(one, two);
        assert_ne!(one, other);
        let (key, text) = one;
        let product = key.split(|byte| *byte == b'/').next().unwrap();
        let head = [b"product/productId: ", product, b"\n"].concat();
        assert!(text.starts_with(&head));
        bytes += text.len();
    }
    // About a kilobyte each, as the original.
    assert!((600..1600).contains(&(bytes / 200)), "{}", bytes / 200);
}
