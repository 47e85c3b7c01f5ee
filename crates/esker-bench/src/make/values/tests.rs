//! Tests of values.

use esker::internals::base::codec::compress::CompressionType;

use super::*;

#[test]
fn values_pack_as_wished() {
    // 64 KiB of values, packed as a block would be: near the wish, never below it.
    for ratio in [0.25, 0.5, 1.0] {
        let mut values = Values::new(100, ratio, 301).unwrap();
        let mut plain = Vec::new();
        while plain.len() < 64 << 10 {
            plain.extend_from_slice(values.next_value());
        }
        let mut packed = Vec::new();
        CompressionType::Lz4
            .compress(&plain, 1, &mut packed)
            .unwrap();
        let got = packed.len() as f64 / plain.len() as f64;
        assert!(got >= ratio * 0.98 && got < ratio + 0.12, "{ratio}: {got}");
    }
}

#[test]
fn long_values_have_a_pool_and_impossible_ones_none() {
    // Values longer than the pool, and shares that cannot be.
    let mut long = Values::new(8 << 20, 0.5, 1).unwrap();
    assert_eq!(long.next_value().len(), 8 << 20);
    assert!(Values::new(1, 0.0, 1).is_err());
    assert!(Values::new(1, f64::NAN, 1).is_err());
}
