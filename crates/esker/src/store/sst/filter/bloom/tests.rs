//! Tests of `bloom`.

use super::*;
use crate::base::codec::checksum::hash64;

fn filled(key_count: u64, bits_per_key: f64) -> Bloom {
    let lines = line_count(key_count as usize, bits_per_key);
    let mut bloom = Bloom::new(lines, best_probe_count(bits_per_key));
    (0..key_count).for_each(|key| bloom.add(hash64(&key.to_le_bytes())));
    bloom
}

fn false_positive_rate(bloom: &Bloom, asked: u64) -> f64 {
    let absent = 1 << 40..(1 << 40) + asked;
    let hits = absent.filter(|key| bloom.may_contain(hash64(&key.to_le_bytes())));
    hits.count() as f64 / asked as f64
}

#[test]
fn no_key_is_ever_denied() {
    // Every key that was added must be found, at every density and size.
    for bits_per_key in [1.0, 4.5, 10.0, 20.0, 64.0] {
        for key_count in [1, 2, 100, 5000] {
            let bloom = filled(key_count, bits_per_key);
            for key in 0..key_count {
                assert!(bloom.may_contain(hash64(&key.to_le_bytes())));
            }
        }
    }
}

#[test]
fn few_absent_keys_pass() {
    // The rates that readers count on: about one in a hundred at 10 bits.
    for (bits_per_key, rate_max) in [(5.0, 0.13), (10.0, 0.013), (15.5, 0.0025)] {
        let rate = false_positive_rate(&filled(100_000, bits_per_key), 200_000);
        assert!(rate <= rate_max, "{bits_per_key} bits: {rate}");
        assert!(rate > 0.0);
    }
}

#[test]
fn bits_come_back() {
    // What is written to a file answers as before; cut or swollen bytes are not a filter.
    let bloom = filled(1000, 10.0);
    let mut bytes = Vec::new();
    bloom.write_into(&mut bytes);
    assert_eq!(Bloom::read(&bytes, bloom.probe_count()), Some(bloom));
    assert_eq!(Bloom::read(&bytes[1..], 6), None);
    assert_eq!(Bloom::read(&[], 6), None);
    assert_eq!(Bloom::read(&bytes, 0), None);
    assert_eq!(Bloom::read(&bytes, PROBE_COUNT_MAX + 1), None);
}
