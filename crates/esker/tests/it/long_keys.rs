//! Keys as long as they may be, and longer.

use std::ops::Bound;

use esker::internals::env::sim::SimWorld;
use esker::{Db, ErrorKind, Readable};

#[test]
fn keys_at_and_beyond_the_limit() {
    for searchable in [false, true] {
        let world = SimWorld::new(5);
        let mut builder = Db::builder("/db").env(world.env());
        builder = builder.set("merge_operator", "append:,").unwrap();
        if searchable {
            builder = builder.set("compression", "searchable").unwrap();
            builder = builder.set("sst.dictionary_min", "1KiB").unwrap();
        }
        let db = builder.open().unwrap();
        let long = |byte: u8, len: usize| {
            let mut key = vec![b'k'; len];
            *key.last_mut().unwrap() = byte;
            key
        };
        let mut keys = vec![Vec::new(), vec![0], vec![0xff; 65_535]];
        for byte in 0..40 {
            keys.push(long(byte, 65_535));
            keys.push(long(byte, 65_534));
        }
        keys.sort();
        let text = "some words that come again and again and again ".repeat(20);
        for key in &keys {
            db.put(key, &text).unwrap();
        }
        let beyond = vec![b'k'; 70_000];
        let check = |keys: &[Vec<u8>]| {
            let found: Vec<Vec<u8>> = db.iter().unwrap().map(|e| e.unwrap().0.to_vec()).collect();
            assert!(found == keys);
            let back: Vec<Vec<u8>> = db
                .iter()
                .unwrap()
                .rev()
                .map(|e| e.unwrap().0.to_vec())
                .collect();
            assert!(back.iter().rev().eq(keys.iter()));
            for key in keys {
                assert_eq!(db.get(key).unwrap().unwrap(), text.as_bytes());
            }
            assert!(db.get(&beyond).unwrap().is_none());
            assert!(!db.contains_key(&beyond).unwrap());
            let at = keys.partition_point(|key| *key < beyond);
            let mut cursor = db.cursor().unwrap();
            cursor.seek(&beyond).unwrap();
            assert!(cursor.key() == keys.get(at).map(|key| &key[..]));
            cursor.seek_for_prev(&beyond).unwrap();
            assert!(cursor.key() == at.checked_sub(1).map(|at| &keys[at][..]));
            assert_eq!(db.range(beyond.clone()..).unwrap().count(), keys.len() - at);
            assert_eq!(db.range(..beyond.clone()).unwrap().count(), at);
        };
        check(&keys);
        db.flush().unwrap();
        check(&keys);
        db.compact::<&[u8]>(..).unwrap();
        check(&keys);
        db.compact(beyond.clone()..).unwrap();
        db.compact(..beyond.clone()).unwrap();
        for answer in [
            db.put(&beyond, "v").err(),
            db.delete(&beyond).err(),
            db.merge(&beyond, "v").err(),
            db.put_if_absent(&beyond, "v").err(),
            db.compare_and_swap(&beyond, None, Some(b"v")).err(),
            db.delete_range(beyond.clone()..).err(),
            db.delete_range(..beyond.clone()).err(),
        ] {
            assert_eq!(answer.unwrap().kind(), ErrorKind::TooLarge);
        }
        assert!(!db.delete_if_present(&beyond).unwrap());
        check(&keys);
        let first = long(3, 65_535);
        let last = long(7, 65_535);
        db.delete_range((
            Bound::Excluded(first.clone()),
            Bound::Included(last.clone()),
        ))
        .unwrap();
        keys.retain(|key| *key <= first || *key > last);
        check(&keys);
        db.flush().unwrap();
        check(&keys);
        db.compact::<&[u8]>(..).unwrap();
        check(&keys);
        db.delete_range::<&[u8]>(..).unwrap();
        check(&[]);
        db.compact::<&[u8]>(..).unwrap();
        check(&[]);
        assert!(db.verify().unwrap().is_whole());
    }
}
