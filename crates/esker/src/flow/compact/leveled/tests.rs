//! Tests of `leveled`.

use super::*;
use crate::base::types::bytes::Bytes;
use crate::store::version::levels::LevelsEdit;

/// A file with that number, level, run and range of keys.
fn file(number: u64, depth: usize, keys: [&str; 2]) -> (Level, u64, Arc<FileRecord>) {
    let record = FileRecord {
        number: FileNumber(number),
        size_bytes: 100,
        smallest: Bytes::copy_of(keys[0].as_bytes()),
        largest: Bytes::copy_of(keys[1].as_bytes()),
        is_largest_exclusive: false,
        smallest_seqno: SeqNo::new(number * 10),
        largest_seqno: SeqNo::new(number * 10 + 9),
        entry_count: 10,
        delete_count: 0,
        range_delete_count: 0,
        newest_expiry_s: None,
        values: crate::store::vlog::shares::ValueShares::default(),
        is_searchable: false,
        raw_bytes: 0,
    };
    (Level::new(depth).unwrap(), number, Arc::new(record))
}

fn levels_of(added: Vec<(Level, u64, Arc<FileRecord>)>) -> Levels {
    let edit = LevelsEdit {
        removed: Vec::new(),
        added,
    };
    Levels::default().edited(&KeyOrder::Bytewise, edit).unwrap()
}

fn with<T>(levels: &Levels, busy: &[u64], look: impl FnOnce(&Situation<'_>) -> T) -> T {
    let options = CompactionOptions {
        l0_trigger: 2,
        base_level_bytes: 1_000,
        ..CompactionOptions::default()
    };
    look(&Situation {
        keyspace: KeyspaceId(1),
        levels,
        order: &KeyOrder::Bytewise,
        options: &options,
        busy: &busy.iter().map(|number| FileNumber(*number)).collect(),
        oldest_snapshot: SeqNo::MAX,
        now_unix_s: 0,
        is_searchable_wanted: false,
    })
}

fn numbers(plan: &Plan) -> Vec<u64> {
    plan.numbers().map(|number| number.0).collect()
}

#[test]
fn a_range_waits_for_a_merge_that_spans_it() {
    // Two runs with a gap between them are being merged: the result may be one file over the
    // gap. A run that came into the gap meanwhile must not overtake it to the same level.
    let levels = levels_of(vec![
        file(1, 0, ["a", "c"]),
        file(2, 0, ["x", "z"]),
        file(3, 0, ["m", "n"]),
    ]);
    let range = KeyRange::new("m"..="n");
    with(&levels, &[1, 2], |situation| {
        assert!(situation.pick_range(&range).is_none());
        assert!(situation.is_busy(&range));
    });
    with(&levels, &[], |situation| {
        assert_eq!(numbers(&situation.pick_range(&range).unwrap()), [3]);
        assert!(!situation.is_busy(&range));
    });
}

#[test]
fn a_range_that_grows_into_a_running_merge_is_busy() {
    // The range itself touches one idle file only, but that file leads to one that is busy: not
    // "nothing to do".
    let levels = levels_of(vec![file(2, 0, ["a", "m"]), file(1, 6, ["k", "z"])]);
    let range = KeyRange::new("a"..="b");
    with(&levels, &[1], |situation| {
        assert!(situation.pick_range(&range).is_none());
        assert!(situation.is_busy(&range));
    });
}

#[test]
fn an_expired_file_is_dropped_only_if_it_hides_nothing() {
    // The older file below holds a key of the expired one: dropped whole, the expired entry
    // would let the older one live again.
    let (level, run, record) = file(5, 5, ["c", "f"]);
    let record = Arc::new(FileRecord {
        newest_expiry_s: Some(0),
        ..(*record).clone()
    });
    let expired = (level, run, record);
    let levels = levels_of(vec![expired.clone(), file(1, 6, ["f", "z"])]);
    with(&levels, &[], |situation| {
        assert!(situation.pick().is_none())
    });
    let levels = levels_of(vec![expired, file(1, 6, ["g", "z"])]);
    with(&levels, &[], |situation| {
        let plan = situation.pick().unwrap();
        assert_eq!((plan.deed, plan.reason), (Deed::Drop, Reason::Expiry));
        assert_eq!(numbers(&plan), [5]);
    });
}

#[test]
fn a_run_of_level_0_moves_only_below_what_is_newer() {
    // The oldest run overlaps nothing: it moves. When a newer run overlaps it, all are merged.
    let levels = levels_of(vec![file(1, 0, ["a", "c"]), file(2, 0, ["d", "f"])]);
    with(&levels, &[], |situation| {
        let plan = situation.pick().unwrap();
        assert_eq!((plan.deed, numbers(&plan)), (Deed::Move, vec![1]));
    });
    let levels = levels_of(vec![file(1, 0, ["a", "d"]), file(2, 0, ["d", "f"])]);
    with(&levels, &[], |situation| {
        let plan = situation.pick().unwrap();
        assert_eq!((plan.deed, numbers(&plan)), (Deed::Merge, vec![2, 1]));
    });
}
