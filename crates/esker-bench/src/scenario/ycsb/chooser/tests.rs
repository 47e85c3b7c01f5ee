//! Tests of the choice of records: shape, range, and growth.

use super::*;
use crate::scenario::ycsb::properties::Properties;

fn chooser(text: &str) -> (RecordChooser, Workload) {
    let mut properties = Properties::default();
    properties.set("recordcount", "1000");
    properties.set("operationcount", "1000");
    properties.add_text(text).unwrap();
    let workload = Workload::from_properties(&properties).unwrap();
    (RecordChooser::new(&workload), workload)
}

fn counts(text: &str, draws: u32) -> Vec<u32> {
    let (mut chooser, workload) = chooser(text);
    let (turn, mut random) = (AtomicU64::new(0), Random::new(11));
    let mut counts = vec![0; 1000];
    for _ in 0..draws {
        let number = chooser.choose(workload.record_count, &turn, &mut random);
        counts[usize::try_from(number).unwrap()] += 1;
    }
    counts
}

#[test]
fn uniform_is_flat_and_sequential_is_exact() {
    // 100 a record on average, with about 10 of deviation; or exactly 100 each.
    let flat = counts("requestdistribution=uniform", 100_000);
    assert!(flat.iter().all(|count| (50..150).contains(count)));
    let exact = counts("requestdistribution=sequential", 100_000);
    assert!(exact.iter().all(|count| *count == 100));
}

#[test]
fn zipfian_is_strewn_and_latest_is_at_the_end() {
    // The most popular record of the one is where a hash puts it, of the other the last one.
    let strewn = counts("requestdistribution=zipfian", 100_000);
    let top = usize::try_from(6_284_781_860_667_377_211_u64 % 1001).unwrap();
    assert_eq!(strewn.iter().max(), Some(&strewn[top]));
    let latest = counts("requestdistribution=latest", 100_000);
    assert_eq!(latest.iter().max(), Some(&latest[999]));
    assert!((f64::from(latest[999]) / 100_000.0 - 1.0 / 7.729).abs() < 0.01);
}

#[test]
fn a_true_zipf_is_steeper_than_the_strewn_one() {
    // The first record of 1000 has 1 in 7.73 with the usual exponent, more with a larger one.
    let usual = counts("requestdistribution=zipf", 100_000);
    assert!((f64::from(usual[0]) / 100_000.0 - 1.0 / 7.729).abs() < 0.01);
    let steep = counts("requestdistribution=zipf:1.5", 100_000);
    assert!(steep[0] > 2 * usual[0]);
}

#[test]
fn hot_spots_and_exponentials_have_their_shares() {
    // Four fifths to the first fifth; 95 % to the last 857 of 1000.
    let hot = counts("requestdistribution=hotspot", 100_000);
    let first: u32 = hot[..200].iter().sum();
    assert!((79_000..81_000).contains(&first), "{first}");
    let late = counts("requestdistribution=exponential", 100_000);
    let last: u32 = late[1000 - 857..].iter().sum();
    // What would lie before the first record is drawn again, so that it is a little more.
    assert!((95_000..98_500).contains(&last), "{last}");
}

#[test]
fn records_on_their_way_are_never_chosen() {
    // Half of the operations insert: the range is twice as large, and only what is there comes.
    for text in ["zipfian", "latest", "exponential"] {
        let text = format!("requestdistribution={text}\ninsertproportion=0.95");
        let (mut chooser, _) = chooser(&text);
        let (turn, mut random) = (AtomicU64::new(0), Random::new(1));
        for there in [1000, 1001, 1500, 2000] {
            assert!((0..2000).all(|_| chooser.choose(there, &turn, &mut random) < there));
        }
    }
}

#[test]
fn one_record_is_enough() {
    // The smallest table of all does not hang any choice.
    for text in [
        "uniform",
        "zipfian",
        "latest",
        "hotspot",
        "exponential",
        "sequential",
        "zipf",
    ] {
        let (mut chooser, _) = chooser(&format!("recordcount=1\nrequestdistribution={text}"));
        let (turn, mut random) = (AtomicU64::new(0), Random::new(1));
        assert_eq!(chooser.choose(1, &turn, &mut random), 0, "{text}");
    }
}
