//! Tests of our engine behind the traits.

use super::*;
use crate::fail::FailureKind;
use crate::target::settings::Packing;

fn open(settings: &StoreSettings) -> (tempfile::TempDir, Opened) {
    let dir = tempfile::tempdir().unwrap();
    let opened = Esker.open(dir.path(), settings).unwrap();
    (dir, opened)
}

#[test]
fn every_call_of_the_trait_does_what_it_says() {
    // Puts, a batch, merges, reads, a cursor in both directions, then maintenance.
    let settings = StoreSettings {
        has_merges: true,
        ..StoreSettings::default()
    };
    let (_dir, opened) = open(&settings);
    let store = opened.store;
    let plain = WriteHow::default();
    store.put(b"a", b"1", plain).unwrap();
    let mut batch = store.batch().unwrap();
    batch.put(b"b", b"2").unwrap();
    batch.put(b"c", b"3").unwrap();
    batch.commit(plain).unwrap();
    batch.put(b"d", b"4").unwrap();
    batch.delete(b"b").unwrap();
    batch.commit(plain).unwrap();
    drop(batch);
    let unlogged = WriteHow {
        sync: false,
        no_log: true,
    };
    for _ in 0..3 {
        store.merge(b"n", &2_u64.to_le_bytes(), unlogged).unwrap();
    }
    let mut seen = Vec::new();
    assert!(store.get(b"n", &mut |value| seen = value.to_vec()).unwrap());
    assert_eq!(seen, 6_u64.to_le_bytes());
    assert!(!store.get(b"b", &mut |_| panic!("it is deleted")).unwrap());
    let keys: [&[u8]; 3] = [b"a", b"b", b"d"];
    let mut places = Vec::new();
    let found = store.multi_get(&keys, &mut |place, _| places.push(place));
    assert_eq!((found.unwrap(), places), (2, vec![0, 2]));

    let mut cursor = store.cursor().unwrap();
    assert!(cursor.key().is_empty());
    assert!(cursor.seek(b"b").unwrap());
    assert_eq!((cursor.key(), cursor.value()), (&b"c"[..], &b"3"[..]));
    assert!(cursor.prev().unwrap());
    assert_eq!(cursor.key(), b"a");
    assert!(cursor.seek_to_last().unwrap() && !cursor.next().unwrap());
    drop(cursor);

    store.delete(b"a", plain).unwrap();
    store.compact().unwrap();
    store.drain().unwrap();
    let counters = store.counters();
    assert!(counters.user_bytes > Some(0) && counters.live_bytes > Some(0));
    assert_eq!(counters.file_count, 1);
    assert!(store.property("stats").unwrap().contains("disk"));
    assert!(store.property("no such thing").is_none());
    store.close().unwrap();
}

#[test]
fn merges_without_an_operator_are_refused() {
    // The failure is the user's, not the disk's.
    let (_dir, opened) = open(&StoreSettings::default());
    let refused = opened.store.merge(b"a", b"1", WriteHow::default());
    assert_eq!(refused.unwrap_err().kind, FailureKind::Usage);
}

#[test]
fn a_drain_ends_where_compactions_wait_to_be_asked() {
    // More runs in level 0 than it should have, and nobody to merge them.
    let settings = StoreSettings {
        own: vec![("compaction.automatic".into(), "false".into())],
        ..StoreSettings::default()
    };
    let (_dir, opened) = open(&settings);
    let store = opened.store;
    for number in 0..40_u8 {
        store
            .put(&[number % 2], &[number], WriteHow::default())
            .unwrap();
        store.flush().unwrap();
    }
    store.drain().unwrap();
    assert_eq!(store.counters().file_count, 40);
}

#[test]
fn settings_are_translated_and_told() {
    // What has an equivalent is given; the engine takes all of it.
    let settings = StoreSettings {
        cache_bytes: Some(24 << 20),
        write_buffer_bytes: Some(4 << 20),
        filter_bits: Some(10.0),
        packing: Some(Packing::Zstd(3)),
        packing_level_min: Some(2),
        block_bytes: Some(64 << 10),
        mapped_reads: Some(false),
        own: vec![("sst.hash_index".into(), "false".into())],
        ..StoreSettings::default()
    };
    let (_dir, opened) = open(&settings);
    let row = |wish: &str| opened.matched.iter().find(|row| row.wish == wish).unwrap();
    let limit = (24 << 20) + 3 * (4 << 20);
    assert_eq!(row("cache_bytes").given, format!("memory_limit={limit}"));
    assert!(row("packing").given.contains("sst.compression_upper=none"));
    assert_eq!(row("mapped_reads").given, "mapped_reads=false");
    assert!(row("own").has_effect());
    let wrong = StoreSettings {
        own: vec![("no.such".into(), "1".into())],
        ..StoreSettings::default()
    };
    let dir = tempfile::tempdir().unwrap();
    let refused = Esker.open(dir.path(), &wrong).err().unwrap();
    assert_eq!(refused.kind, FailureKind::Usage);
}
