//! Tests of `read_cost`.

use super::*;
use crate::flow::compact::test_tree::levels_of;
use crate::store::version::file::FileRecord;
use crate::store::version::plain_file::record;

fn file(number: u64, size_bytes: u64) -> FileRecord {
    FileRecord {
        size_bytes,
        ..record(number, b"a", b"z")
    }
}

/// Seeks until readers of `files`, each in its level, have paid.
fn seeks_until_due(files: &[(usize, FileRecord)]) -> Option<u64> {
    let levels = levels_of(files.iter().cloned());
    let read_cost = Arc::new(ReadCost::default());
    let cost_meter = CostMeter::through(&levels, &read_cost)?;
    (1..1_000).find(|_| {
        let is_time = (0..1_024).fold(false, |is_time, _| cost_meter.pay(1, 0) | is_time);
        is_time && read_cost.is_due(&levels)
    })
}

#[test]
fn a_merge_is_due_when_seeks_have_cost_as_much() {
    // 8 MiB are 65 536 seeks past one run, or half as many past two.
    let (new, old, below) = (file(3, 2 << 20), file(2, 2 << 20), file(1, 4 << 20));
    let single = [(0, file(3, 4 << 20)), (6, below.clone())];
    assert_eq!(seeks_until_due(&single), Some(64));
    assert_eq!(seeks_until_due(&[(0, new), (0, old), (6, below)]), Some(32));
    let small = [(0, file(3, 1_000)), (6, file(1, 1_000))];
    assert_eq!(seeks_until_due(&small), Some(32), "the least that is paid");
}

#[test]
fn what_would_stay_in_the_way_is_never_due() {
    assert_eq!(
        seeks_until_due(&[(6, file(1, 1_000))]),
        None,
        "nothing there"
    );
    assert_eq!(
        seeks_until_due(&[(0, file(1, 1_000))]),
        None,
        "nothing to merge it with"
    );
}

#[test]
fn what_was_paid_is_forgotten_with_the_files() {
    let levels = levels_of([(0, file(2, 1_000)), (0, file(1, 1_000))]);
    let read_cost = Arc::new(ReadCost::default());
    let cost_meter = CostMeter::through(&levels, &read_cost).unwrap();
    assert!(!cost_meter.pay(0, 65_535), "a step short of a MiB");
    assert!(cost_meter.pay(0, 1));
    assert!(!read_cost.is_due(&levels));
    assert!(cost_meter.pay(0, 3 * 65_536));
    assert!(read_cost.is_due(&levels));
    read_cost.reset();
    assert!(!read_cost.is_due(&levels));
}
