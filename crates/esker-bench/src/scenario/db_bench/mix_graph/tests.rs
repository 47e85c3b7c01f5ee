//! Tests of the mix.

use super::*;

#[test]
fn pareto_is_that_of_the_paper() {
    // With the paper's parameters for values, half of them have some 19 bytes beyond theta.
    let value = Pareto {
        theta: 0.0,
        k: 0.2615,
        sigma: 25.45,
    };
    assert_eq!(value.at(0.5), 20);
    assert_eq!(value.at(1.0), 0);
    let flat = Pareto { k: 0.0, ..value };
    assert_eq!(flat.at(0.5), 18);
}

#[test]
fn requests_come_in_their_shares() {
    // 83 gets, 14 puts and 3 seeks of a hundred, as the paper has it.
    let mix = Mix {
        ends: [830, 970, 1000],
        ranges: None,
        key_heat: (0.0, 0.0),
        value: Pareto {
            theta: 0.0,
            k: 0.2615,
            sigma: 25.45,
        },
        value_bytes_max: 1024,
        scan: Pareto {
            theta: 0.0,
            k: 2.517,
            sigma: 14.236,
        },
        scan_max: 10_000,
        num: 100_000,
    };
    let count = |wanted| {
        let all = (0..100_000).filter(|random| mix.request(*random) == wanted);
        all.count()
    };
    assert_eq!(
        [Request::Get, Request::Put, Request::Seek].map(count),
        [83_000, 14_000, 3_000]
    );
    assert_eq!(mix.key(17), 17);
    // A share of nothing would be a value without end.
    assert!(mix.value_bytes(0.0) <= 1024);
    assert_eq!(mix.value_bytes(1.0), VALUE_BYTES_MIN);
}
