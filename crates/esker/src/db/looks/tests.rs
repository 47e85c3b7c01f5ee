//! Tests of what is looked at, and when.

use crate::base::types::seqno::SeqNo;
use crate::db::looks::CompactionMoment;
use crate::flow::compact::values::ValueLimits;

fn moment(unix_s: u64, snapshots: &[u64]) -> CompactionMoment {
    CompactionMoment {
        unix_s,
        snapshots: snapshots.iter().map(|seqno| SeqNo::new(*seqno)).collect(),
        limits: ValueLimits {
            spare_bytes: 1,
            max_space_amp: 1.2,
        },
        is_settling: false,
        is_closing: false,
    }
}

#[test]
fn a_snapshot_that_goes_frees_something_and_one_that_comes_does_not() {
    let before = moment(5, &[10, 20]);
    assert!(!moment(5, &[10, 20]).may_free(&before));
    assert!(!moment(5, &[10, 20, 30]).may_free(&before));
    assert!(!moment(5, &[7]).may_free(&moment(5, &[])));
    for snapshots in [&[10][..], &[20], &[], &[20, 30], &[5, 10, 20]] {
        assert!(moment(5, snapshots).may_free(&before), "{snapshots:?}");
    }
}

#[test]
fn time_limits_and_rest_have_all_looked_at() {
    let before = moment(5, &[]);
    assert!(moment(6, &[]).may_free(&before));
    let changes: [fn(&mut CompactionMoment); 4] = [
        |it| it.limits.spare_bytes = 2,
        |it| it.limits.max_space_amp = 1.1,
        |it| it.is_settling = true,
        |it| it.is_closing = true,
    ];
    for change in changes {
        let mut now = moment(5, &[]);
        change(&mut now);
        assert!(now.may_free(&before) && before.may_free(&now));
    }
}
