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
    let mut random = Random::new(11);
    let mut counts = vec![0; 1000];
    for _ in 0..draws {
        let number = chooser.choose(workload.record_count, &mut random);
        counts[usize::try_from(number).unwrap()] += 1;
    }
    counts
}

#[test]
fn uniform_is_flat() {
    // 100 a record on average, with about 10 of deviation.
    let flat = counts("requestdistribution=uniform", 100_000);
    assert!(flat.iter().all(|count| (50..150).contains(count)));
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
fn records_on_their_way_are_never_chosen() {
    // Half of the operations insert: the range is twice as large, and only what is there comes.
    for text in ["zipfian", "latest"] {
        let text = format!("requestdistribution={text}\ninsertproportion=0.95");
        let (mut chooser, _) = chooser(&text);
        let mut random = Random::new(1);
        for there in [1000, 1001, 1500, 2000] {
            assert!((0..2000).all(|_| chooser.choose(there, &mut random) < there));
        }
    }
}

#[test]
fn one_record_is_enough() {
    // The smallest table of all does not hang any choice.
    for text in ["uniform", "zipfian", "latest"] {
        let (mut chooser, _) = chooser(&format!("recordcount=1\nrequestdistribution={text}"));
        assert_eq!(chooser.choose(1, &mut Random::new(1)), 0, "{text}");
    }
}
