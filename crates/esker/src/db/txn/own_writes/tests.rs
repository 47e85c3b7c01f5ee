//! Tests of `own_writes`.

use super::*;
use crate::base::types::comparator::Comparator;
use crate::db::txn::test_keyspace::keyspace;
use crate::store::batch::writer::LargeBytes;

fn own_value(own: &mut OwnWrites, parts: &Arc<KeyspaceParts>, key: &[u8]) -> Option<Vec<u8>> {
    let (view, visibility) = own
        .in_front_of(parts, parts.current.view(), SeqNo::new(5))
        .unwrap();
    if !visibility.has_own() {
        return None;
    }
    let entry = view.parts().memtables[0].get(key, visibility.newest())?;
    Some(entry.value.to_vec())
}

#[test]
fn what_comes_later_is_caught_up_with() {
    let (one, two) = (keyspace(1), keyspace(2));
    let mut own = OwnWrites::default();
    assert_eq!(own_value(&mut own, &one, b"a"), None);
    own.batch_for(&one).put(one.id, b"a", b"1").unwrap();
    assert_eq!(own_value(&mut own, &one, b"a").unwrap(), b"1");
    // Another keyspace has none in front.
    assert_eq!(own_value(&mut own, &two, b"a"), None);
    let large = LargeBytes::Shared(vec![7; 99].into());
    own.batch_for(&two)
        .put_separated(two.id, b"a", Some(Expiry::from_unix_s(9)), large)
        .unwrap();
    own.batch_for(&one).put(one.id, b"a", b"2").unwrap();
    assert_eq!(own_value(&mut own, &one, b"a").unwrap(), b"2");
    let raw = own_value(&mut own, &two, b"a").unwrap();
    assert_eq!(raw, [&9_u32.to_le_bytes()[..], &[7; 99]].concat());
}

#[test]
fn views_are_made_once() {
    let parts = keyspace(1);
    let mut own = OwnWrites::default();
    own.batch_for(&parts).put(parts.id, b"a", b"1").unwrap();
    let base = parts.current.view();
    let mut view = |base: &Arc<View>| {
        let (view, _) = own
            .in_front_of(&parts, Arc::clone(base), SeqNo::new(5))
            .unwrap();
        view
    };
    let first = view(&base);
    assert!(Arc::ptr_eq(&first, &view(&base)));
    let other = Arc::new(View::new(base.parts().clone(), Some(&base)));
    assert!(!Arc::ptr_eq(&first, &view(&other)));
}

#[test]
fn a_rewound_write_is_gone_for_those_who_read_then() {
    let parts = keyspace(1);
    let mut own = OwnWrites::default();
    own.batch_for(&parts).put(parts.id, b"a", b"1").unwrap();
    let mark = own.mark();
    own.batch_for(&parts).put(parts.id, b"a", b"2").unwrap();
    let large = LargeBytes::Shared(vec![7; 99].into());
    own.batch_for(&parts)
        .put_separated(parts.id, b"b", None, large)
        .unwrap();
    let base = parts.current.view();
    let (before, visibility) = own.in_front_of(&parts, base, SeqNo::new(5)).unwrap();
    own.rewind(&mark);
    assert_eq!(own.count(), 1);
    assert_eq!(own_value(&mut own, &parts, b"a").unwrap(), b"1");
    assert_eq!(own_value(&mut own, &parts, b"b"), None);
    let entry = before.parts().memtables[0].get(b"a", visibility.newest());
    assert_eq!(entry.unwrap().value, b"2");
    own.rewind(&BatchMark::START);
    assert_eq!(own_value(&mut own, &parts, b"a"), None);
    assert_eq!(own.size_bytes(), Batch::new().size_bytes() as u64);
}

#[test]
fn merges_are_no_part_of_what_was_written() {
    let parts = keyspace(1);
    let mut own = OwnWrites::default();
    let batch = own.batch_for(&parts);
    batch.merge(parts.id, b"a", b"1").unwrap();
    batch.delete(parts.id, b"b").unwrap();
    batch.delete_range(parts.id, b"c", b"f").unwrap();
    let written = own.written().unwrap();
    let shown: Vec<String> = written
        .iter()
        .map(|written| match &written.what {
            What::Key(key) => key.escape_ascii().to_string(),
            What::Range(range) => {
                assert!(range.contains(&Comparator::Bytewise, b"e"));
                "range".into()
            }
        })
        .collect();
    assert_eq!(shown, ["b", "range"]);
}
