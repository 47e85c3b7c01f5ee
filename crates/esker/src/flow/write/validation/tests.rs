//! Tests of `validation`: what the look under the lock says where it may not read files.

use super::*;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::flow::read::model_view::Layout;
use crate::flow::read::view::ViewParts;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::writer::Batch;
use crate::store::mem::memtable::{Memtable, MemtableWriter};

const KEYSPACE: KeyspaceId = KeyspaceId(1);

/// A keyspace of one live memtable.
fn keyspace() -> (MemtableWriter, Arc<Current>) {
    let comparator = crate::base::types::comparator::Comparator::Bytewise;
    let writer = Memtable::create(comparator.clone(), None);
    let empty = Layout::new(&comparator).view(&[]);
    let parts = ViewParts {
        memtables: vec![Arc::clone(writer.table())],
        ..empty.parts().clone()
    };
    (writer, Arc::new(Current::new(parts, Vec::new())))
}

fn unchanged<'a>(current: &'a Arc<Current>, target: Target<'a>) -> Unchanged<'a> {
    Unchanged {
        keyspace: KEYSPACE,
        current,
        target,
        seen: SeqNo::new(10),
    }
}

fn put(writer: &mut MemtableWriter, key: &[u8], seqno: u64) {
    writer.insert(Trailer::new(SeqNo::new(seqno), Kind::Put), key, b"");
}

fn noted(recent: &mut RecentWrites, key: &[u8], seqno: u64) {
    let mut batch = Batch::new();
    batch.put(KEYSPACE, key, b"").unwrap();
    batch.set_first_seqno(SeqNo::new(seqno));
    recent
        .note(&BatchReader::new(batch.bytes()).unwrap())
        .unwrap();
}

#[test]
fn few_keys_are_looked_up_in_memory() {
    let (mut writer, current) = keyspace();
    put(&mut writer, b"a", 10);
    let conditions = [
        unchanged(&current, Target::Key(b"b")),
        unchanged(&current, Target::Key(b"a")),
    ];
    let mut validation = Validation::new(&conditions);
    assert!(!validation.wants_recent());
    assert_eq!(validation.look(SeqNo::new(10)).unwrap(), Look::Holds);
    let recent = RecentWrites::default();
    put(&mut writer, b"c", 11);
    assert_eq!(
        validation.look_again(SeqNo::new(11), &recent).unwrap(),
        Look::Holds
    );
    put(&mut writer, b"a", 12);
    assert_eq!(
        validation.look_again(SeqNo::new(12), &recent).unwrap(),
        Look::Broken(1)
    );
    assert_eq!(validation.look(SeqNo::new(12)).unwrap(), Look::Broken(1));
}

#[test]
fn ranges_are_held_against_what_came_meanwhile() {
    let (_writer, current) = keyspace();
    let range = KeyRange::new(&b"b"[..]..&b"d"[..]);
    let conditions = [unchanged(&current, Target::Range(&range))];
    let mut validation = Validation::new(&conditions);
    assert!(validation.wants_recent());
    let mut recent = RecentWrites::default();
    recent.watch(SeqNo::new(10));
    assert_eq!(validation.look(SeqNo::new(10)).unwrap(), Look::Holds);
    noted(&mut recent, b"d", 11);
    assert_eq!(
        validation.look_again(SeqNo::new(11), &recent).unwrap(),
        Look::Holds
    );
    noted(&mut recent, b"c", 12);
    assert_eq!(
        validation.look_again(SeqNo::new(12), &recent).unwrap(),
        Look::Broken(0)
    );
    // Somebody whose look began before anything was kept cannot tell.
    let mut early = Validation::new(&conditions);
    assert_eq!(early.look(SeqNo::new(9)).unwrap(), Look::Holds);
    assert_eq!(
        early.look_again(SeqNo::new(12), &recent).unwrap(),
        Look::Unclear
    );
}

#[test]
fn many_keys_are_held_against_what_came_meanwhile() {
    let (_writer, current) = keyspace();
    let keys: Vec<Vec<u8>> = (0..100_u32)
        .map(|number| number.to_be_bytes().into())
        .collect();
    let conditions: Vec<_> = keys
        .iter()
        .map(|key| unchanged(&current, Target::Key(key)))
        .collect();
    let mut validation = Validation::new(&conditions);
    let mut recent = RecentWrites::default();
    recent.watch(SeqNo::new(10));
    assert_eq!(validation.look(SeqNo::new(10)).unwrap(), Look::Holds);
    noted(&mut recent, b"other", 11);
    assert_eq!(
        validation.look_again(SeqNo::new(11), &recent).unwrap(),
        Look::Holds
    );
    noted(&mut recent, &keys[42], 12);
    assert_eq!(
        validation.look_again(SeqNo::new(12), &recent).unwrap(),
        Look::Broken(42)
    );
    let mut batch = Batch::new();
    batch.delete_range(KEYSPACE, &keys[7], &keys[8]).unwrap();
    batch.set_first_seqno(SeqNo::new(13));
    recent
        .note(&BatchReader::new(batch.bytes()).unwrap())
        .unwrap();
    assert_eq!(
        validation.look_again(SeqNo::new(13), &recent).unwrap(),
        Look::Broken(7)
    );
}
