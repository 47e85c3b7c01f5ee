//! Tests of values.

use esker::base::codec::compress::Compression;

use super::*;

#[test]
fn values_pack_as_wished() {
    // 64 KiB of values, packed as a block would be: near the wish, never below it.
    for ratio in [0.25, 0.5, 1.0] {
        let mut values = Values::new(ValueSize::Fixed(100), ratio, 301).unwrap();
        let mut plain = Vec::new();
        while plain.len() < 64 << 10 {
            plain.extend_from_slice(values.next_value());
        }
        let mut packed = Vec::new();
        Compression::Lz4.pack(&plain, 1, &mut packed).unwrap();
        let got = packed.len() as f64 / plain.len() as f64;
        assert!(got >= ratio * 0.98 && got < ratio + 0.12, "{ratio}: {got}");
    }
}

#[test]
fn sizes_stay_between_their_ends() {
    // Each way of drawing, and values longer than the pool.
    let mut random = Random::new(4);
    for size in [
        ValueSize::Uniform { min: 10, max: 20 },
        ValueSize::Normal { min: 10, max: 20 },
    ] {
        let drawn: Vec<usize> = (0..2000).map(|_| size.draw(&mut random)).collect();
        assert!(drawn.iter().all(|size| (10..=20).contains(size)));
        let mean = drawn.iter().sum::<usize>() as f64 / 2000.0;
        assert!((mean - 15.0).abs() < 0.5, "{mean}");
    }
    let mut long = Values::new(ValueSize::Fixed(8 << 20), 0.5, 1).unwrap();
    assert_eq!(long.next_value().len(), 8 << 20);
    assert!(Values::new(ValueSize::Fixed(1), 0.0, 1).is_err());
    assert!(Values::new(ValueSize::Fixed(1), f64::NAN, 1).is_err());
}
