//! Tests of `tally`.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::ids::{FileNumber, KeyspaceId};

/// What is told of entries of one key, newest first, and of a range delete, while snapshots at 10
/// and 20 are live: the bytes that each holds, and how many are deletes.
fn held(entries: &[(u64, Kind)], range: Option<u64>) -> (Vec<(u64, u64)>, u64) {
    let mut tally = Tally::new(&BuildSettings {
        number: FileNumber(1),
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression: CompressionType::None,
        keyspace: KeyspaceId::DEFAULT,
        created_unix_s: 0,
    });
    tally.set_snapshots([10, 20].map(SeqNo::new).into());
    for (index, (seqno, kind)) in entries.iter().enumerate() {
        let internal_key = key::encode(b"k", Trailer::new(SeqNo::new(*seqno), *kind));
        let value: &[u8] = if *kind == Kind::Delete { b"" } else { b"v" };
        let entry = Entry::from_internal(&internal_key, value);
        tally.count(&entry, index == 0).unwrap();
    }
    if let Some(seqno) = range {
        tally.count_range(&RangeDelete {
            start: Bytes::copy_of(b"a"),
            end: Bytes::copy_of(b"b"),
            seqno: SeqNo::new(seqno),
        });
    }
    let last = entries
        .last()
        .map(|(seqno, kind)| key::encode(b"k", Trailer::new(SeqNo::new(*seqno), *kind)));
    tally.settle(&last.unwrap_or_default());
    assert_eq!(tally.props.smallest, tally.props.largest);
    let passing = tally.props.passing.unwrap();
    let held = passing.held().map(|(seqno, bytes)| (seqno.get(), bytes));
    (held.collect(), passing.held_delete_count())
}

#[test]
fn the_newest_snapshot_that_sees_the_older_one_alone_holds_it() {
    // A snapshot sees what is not newer than itself. An entry of ours has ten bytes.
    let puts = |seqnos: &[u64]| {
        let entries: Vec<_> = seqnos.iter().map(|seqno| (*seqno, Kind::Put)).collect();
        held(&entries, None).0
    };
    assert_eq!(puts(&[30]), []);
    assert_eq!(puts(&[30, 5]), [(20, 10)]);
    assert_eq!(puts(&[20, 5]), [(10, 10)]);
    assert_eq!(puts(&[21, 20, 11, 10]), [(0, 10), (10, 10), (20, 10)]);
}

#[test]
fn operands_are_held_only_by_snapshots() {
    // Those that no snapshot parts may stay for other reasons.
    let (operand, put) = (Kind::Merge, Kind::Put);
    assert_eq!(held(&[(30, operand), (25, put)], None).0, []);
    assert_eq!(held(&[(30, operand), (15, put)], None).0, [(20, 10)]);
    assert_eq!(held(&[(30, put), (25, operand)], None).0, [(0, 10)]);
}

#[test]
fn deletes_are_held_by_who_is_too_old_to_see_them() {
    assert_eq!(held(&[(9, Kind::Delete)], None), (vec![], 0));
    assert_eq!(held(&[(15, Kind::Delete)], None), (vec![(10, 9)], 1));
    let entries = [(15, Kind::Delete), (5, Kind::Put)];
    assert_eq!(held(&entries, None), (vec![(10, 19)], 1));
    assert_eq!(held(&[], Some(30)), (vec![(20, 10)], 1));
    assert_eq!(held(&[], Some(10)), (vec![], 0));
}
