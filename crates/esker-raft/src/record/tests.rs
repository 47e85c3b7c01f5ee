//! Records read as they were written; anything else is refused, and nothing panics.

use super::*;
use crate::change::{Change, ChangeStep};
use crate::ids::NodeId;
use raft::eraftpb::EntryType;

pub(crate) fn write(index: u64, term: u64, payload: &[u8]) -> Entry {
    let mut entry = Entry::default();
    (entry.index, entry.term) = (index, term);
    entry.data = payload.to_vec().into();
    entry
}

fn change(index: u64) -> Entry {
    let mut entry = write(index, 3, b"as raft has it");
    entry.set_entry_type(EntryType::EntryConfChangeV2);
    let steps = vec![
        ChangeStep::AddLearner(ReplicaId(9), NodeId(4)),
        ChangeStep::Promote(ReplicaId(8)),
        ChangeStep::Remove(ReplicaId(1)),
    ];
    entry.context = Change { steps }.encode().into();
    entry
}

fn records() -> Vec<Record> {
    let group = GroupId(7);
    let replica = ReplicaId(3);
    let mut configuration =
        Configuration::first(5, &[(replica, NodeId(1)), (ReplicaId(4), NodeId(2))]);
    configuration.outgoing.insert(replica);
    configuration.auto_leave = true;
    let (index, term) = (5, 2);
    let entries = vec![write(6, 2, b"one"), write(7, 3, b""), change(8)];
    let state = HardState {
        term: 3,
        vote: 4,
        commit: 6,
    };
    vec![
        Record::Begin {
            group,
            replica,
            index,
            term,
            configuration,
        },
        Record::Append { group, entries },
        Record::Hard { group, state },
        Record::Compact { group, index, term },
        Record::Destroy { group, replica },
    ]
}

fn encoded(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    bytes
}

#[test]
fn records_read_as_they_were_written() {
    for record in records() {
        let bytes = encoded(&record);
        assert_eq!(Record::peek_group(&bytes), Ok(record.group()));
        assert_eq!(Record::decode(&bytes), Ok(record));
    }
}

#[test]
fn the_bytes_are_those_of_the_table() {
    let state = HardState {
        term: 3,
        vote: 4,
        commit: 6,
    };
    let bytes = encoded(&Record::Hard {
        group: GroupId(7),
        state,
    });
    let expected = [
        &[3][..],
        &7_u64.to_le_bytes(),
        &3_u64.to_le_bytes(),
        &4_u64.to_le_bytes(),
    ];
    assert_eq!(
        bytes,
        [&expected.concat()[..], &6_u64.to_le_bytes()].concat()
    );
    let mut entry = Vec::new();
    entry::encode(&write(6, 2, b"one"), &mut entry);
    assert_eq!(
        entry,
        b"\0\x02\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x03\0\0\0one\0\0\0\0"
    );
}

#[test]
fn no_record_ends_early_or_late() {
    for record in records() {
        let bytes = encoded(&record);
        for len in 0..bytes.len() {
            assert!(Record::decode(&bytes[..len]).is_err());
        }
        assert!(Record::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
}

#[test]
fn a_flipped_bit_is_refused_or_read_as_another_sound_record() {
    for record in records() {
        let bytes = encoded(&record);
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Record::decode(&other) {
                assert_eq!(encoded(&read), other, "one record has one form");
            }
        }
    }
}

#[test]
fn entries_out_of_their_order_are_refused() {
    let group = GroupId(7);
    for entries in [
        vec![],
        vec![write(6, 2, b""), write(8, 2, b"")],
        vec![write(6, 2, b""), write(7, 1, b"")],
        vec![write(0, 2, b"")],
    ] {
        assert!(Record::decode(&encoded(&Record::Append { group, entries })).is_err());
    }
}

#[test]
fn a_length_beyond_the_end_takes_no_memory() {
    let mut bytes = vec![2];
    bytes.extend_from_slice(&7_u64.to_le_bytes());
    bytes.extend_from_slice(&u32::MAX.to_le_bytes());
    let refused = Record::decode(&bytes).map_err(|error| error.expected);
    assert_eq!(refused, Err("count of entries"));
}

#[test]
fn what_one_record_cannot_have_goes_in_several() {
    // A follower that catches up takes far more entries in one turn than a record has.
    let group = GroupId(7);
    let small: Vec<Entry> = (1..=70_000)
        .map(|index| write(index, 2, b"eight by"))
        .collect();
    let large: Vec<Entry> = (1..=5)
        .map(|index| write(index, 2, &vec![0; 700 << 10]))
        .collect();
    for (entries, least) in [(small, 3), (large, 5)] {
        let mut read = Vec::new();
        let records = appends(group, entries.clone());
        assert!(records.len() >= least);
        for record in records {
            let bytes = encoded(&record);
            assert!(bytes.len() < RECORD_BYTES_MAX + 1024);
            match Record::decode(&bytes) {
                Ok(Record::Append { entries, .. }) => read.extend(entries),
                other => panic!("no append: {other:?}"),
            }
        }
        assert_eq!(read, entries);
    }
    assert!(appends(group, Vec::new()).is_empty());
}
