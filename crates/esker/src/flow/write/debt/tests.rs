//! Tests of `debt`.

use super::*;

fn debt(owed_bytes: u64) -> Debt {
    Debt {
        owed_bytes,
        soft_bytes: 100,
        hard_bytes: 200,
        digest_bytes_s: 10 << 20,
    }
}

#[test]
fn rate_falls_smoothly_with_debt() {
    // No cliff: each step of debt changes the rate by a bounded factor, and never upwards.
    assert_eq!(rate_for(debt(100)), RATE_UNLIMITED);
    let rates: Vec<u64> = (101..1000).map(|owed| rate_for(debt(owed))).collect();
    for pair in rates.windows(2) {
        assert!(pair[1] <= pair[0]);
        assert!(pair[1] as f64 >= pair[0] as f64 * 0.45, "{pair:?}");
    }
    assert_eq!(rate_for(debt(200)), 10 << 20);
    assert_eq!(rate_for(debt(1_000_000)), RATE_MIN);
}
