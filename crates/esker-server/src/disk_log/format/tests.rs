//! Tests of `format`.

use esker_raft::HardState;
use esker_raft::entry::Entry;

use super::*;

fn hard(term: u64) -> Record {
    let state = HardState {
        term,
        vote: 3,
        commit: 9,
    };
    Record::Hard {
        group: GroupId(7),
        state,
    }
}

#[test]
fn parts_come_back_in_their_order() {
    let mut out = begin_checkpoint();
    set_oldest(&mut out, FileNumber(12));
    put_record(&mut out, &hard(5));
    let last = Point { index: 8, term: 2 };
    put_point(&mut out, last);
    let (kind, mut parts) = Parts::of(&out).unwrap();
    assert!(matches!(kind, Kind::Checkpoint(FileNumber(12))));
    assert_eq!(parts.record().unwrap(), hard(5));
    assert_eq!(parts.point().unwrap(), last);
    assert!(parts.is_at_end());
}

#[test]
fn records_of_other_groups_are_passed_over_unread() {
    let mut out = vec![RECORDS];
    // Nobody could read it: there is nothing behind its group.
    out.extend([9, 0, 0, 0, 2, 8, 0, 0, 0, 0, 0, 0, 0]);
    put_record(&mut out, &hard(5));
    let (_, mut parts) = Parts::of(&out).unwrap();
    assert_eq!(parts.record_of(GroupId(7)).unwrap(), None);
    assert_eq!(parts.record_of(GroupId(7)).unwrap(), Some(hard(5)));
    let (_, mut parts) = Parts::of(&out).unwrap();
    assert!(parts.record_of(GroupId(8)).is_err());
}

#[test]
fn what_is_cut_off_or_of_no_known_kind_is_refused() {
    let mut out = vec![RECORDS];
    put_record(&mut out, &hard(5));
    for len in 2..out.len() {
        let (_, mut parts) = Parts::of(&out[..len]).unwrap();
        assert!(parts.record().is_err(), "{len}");
    }
    for kind in [0, 3, 255] {
        assert!(Parts::of(&[kind]).is_err());
    }
    assert!(Parts::of(&[]).is_err() && Parts::of(&[CHECKPOINT, 1, 2]).is_err());
    let mut newer = begin_checkpoint();
    newer[1] = 2;
    let refused = Parts::of(&newer).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    // A length that nothing is behind asks for no memory.
    let (_, mut parts) = Parts::of(&[RECORDS, 255, 255, 255, 255, 1]).unwrap();
    assert!(parts.record().is_err() && parts.point().is_err());
    let (_, mut parts) = Parts::of(&[RECORDS, 3, 0, 0, 0, 1, 2, 3]).unwrap();
    assert!(parts.point().is_err());
}

#[test]
fn an_append_of_very_many_entries_is_several() {
    let entry = |index| Entry {
        index,
        term: 1,
        ..Entry::default()
    };
    let entries: Vec<Entry> = (1..=100_000).map(entry).collect();
    let group = GroupId(7);
    let mut out = vec![RECORDS];
    let all = entries.clone();
    put_records(&mut out, &Record::Append { group, entries });
    let (_, mut parts) = Parts::of(&out).unwrap();
    let mut found = Vec::new();
    while !parts.is_at_end() {
        match parts.record().unwrap() {
            Record::Append { entries, .. } => found.extend(entries),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(found, all);
}
