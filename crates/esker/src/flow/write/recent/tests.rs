//! Tests of `recent`.

use super::*;
use crate::store::batch::writer::Batch;

const KEYSPACE: KeyspaceId = KeyspaceId(3);

fn batch(first: u64, keys: &[&[u8]]) -> Batch<'static> {
    let mut batch = Batch::new();
    for key in keys {
        batch.put(KEYSPACE, key, b"value").unwrap();
    }
    batch.set_first_seqno(SeqNo::new(first));
    batch
}

fn note(recent: &mut RecentWrites, batch: &Batch<'_>) {
    recent
        .note(&BatchReader::new(batch.bytes()).unwrap())
        .unwrap();
}

fn keys(recent: &RecentWrites, seen: u64) -> Option<Vec<Vec<u8>>> {
    let writes = recent.since(SeqNo::new(seen))?;
    Some(writes.map(|write| write.key.clone()).collect())
}

#[test]
fn only_what_comes_while_somebody_watches_is_kept() {
    let mut recent = RecentWrites::default();
    note(&mut recent, &batch(1, &[b"a"]));
    recent.watch(SeqNo::new(1));
    note(&mut recent, &batch(2, &[b"b", b"c"]));
    recent.watch(SeqNo::new(3));
    note(&mut recent, &batch(4, &[b"d"]));
    assert_eq!(keys(&recent, 0), None);
    assert_eq!(keys(&recent, 1).unwrap(), [b"d", b"c", b"b"]);
    assert_eq!(keys(&recent, 3).unwrap(), [b"d"]);
    recent.unwatch();
    assert_eq!(keys(&recent, 1).unwrap().len(), 3);
    recent.unwatch();
    note(&mut recent, &batch(5, &[b"e"]));
    recent.watch(SeqNo::new(5));
    assert_eq!(keys(&recent, 4), None);
    assert_eq!(keys(&recent, 5).unwrap(), Vec::<Vec<u8>>::new());
}

#[test]
fn a_range_delete_has_two_ends() {
    let mut recent = RecentWrites::default();
    recent.watch(SeqNo::ZERO);
    let mut batch = Batch::new();
    batch.delete_range(KEYSPACE, b"a", b"m").unwrap();
    batch.set_first_seqno(SeqNo::new(1));
    note(&mut recent, &batch);
    let write = recent.since(SeqNo::ZERO).unwrap().next().unwrap();
    assert_eq!(
        (&write.key[..], write.end.as_deref()),
        (&b"a"[..], Some(&b"m"[..]))
    );
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let mut recent = RecentWrites::default();
    recent.watch(SeqNo::ZERO);
    let long = vec![7; 60_000];
    for number in 1..=40 {
        note(&mut recent, &batch(number, &[&long]));
    }
    assert_eq!(keys(&recent, 0), None);
    let kept = (0..40).find(|&seen| keys(&recent, seen).is_some()).unwrap();
    assert_eq!(keys(&recent, kept).unwrap().len() as u64, 40 - kept);
    assert!((17 - 1..=17).contains(&(40 - kept)), "{kept}");
}
