//! Tests of `file_set`.

use std::path::PathBuf;

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{KeyspaceId, Level};
use crate::env::sim::world::SimWorld;
use crate::store::version::edit::SettingsText;
use crate::store::version::plain_file;

fn set(comparator_name: &str, orders: Orders) -> FileSet {
    let identity = Identity {
        database_id: [7; 16],
        created_unix_s: 0,
    };
    let create = Change::CreateKeyspace {
        id: KeyspaceId(3),
        name: "harbour".into(),
        comparator_name: comparator_name.into(),
        merge_name: Some("uint64add".into()),
        settings: SettingsText::default(),
    };
    let add = Change::AddFile {
        keyspace: KeyspaceId(3),
        level: Level::ZERO,
        run: 9,
        record: plain_file::record(9, b"a", b"k").into(),
    };
    FileSet {
        maker: Maker::Export,
        version: apply(&Version::empty(identity, orders), &[create, add]).unwrap(),
    }
}

#[test]
fn a_list_is_read_as_it_was_written_and_no_byte_of_it_may_change() {
    let orders = Orders::default();
    let bytes = set("bytewise", orders.clone()).encode();
    let read = FileSet::decode(&bytes, &orders).unwrap();
    assert_eq!(read.maker, Maker::Export);
    assert_eq!(read.version.identity.database_id, [7; 16]);
    let state = read.version.keyspace(KeyspaceId(3)).unwrap();
    assert_eq!(state.merge_name.as_deref(), Some("uint64add"));
    assert_eq!(state.levels.file_count(), 1);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(FileSet::decode(&damaged, &orders).is_err(), "byte {at}");
        assert!(FileSet::decode(&bytes[..at], &orders).is_err(), "cut {at}");
    }
}

#[test]
fn a_list_of_an_order_that_is_not_here_is_refused() {
    struct Backwards;
    impl crate::base::types::comparator::CustomComparator for Backwards {
        fn name(&self) -> &str {
            "backwards"
        }
        fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
            right.cmp(left)
        }
    }
    let orders = Orders::new(vec![Comparator::Custom(std::sync::Arc::new(Backwards))]);
    let mut there = set("bytewise", orders);
    let state = there.version.keyspaces.get_mut(&KeyspaceId(3)).unwrap();
    std::sync::Arc::make_mut(state).comparator = Comparator::Custom(std::sync::Arc::new(Backwards));
    let refused = FileSet::decode(&there.encode(), &Orders::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_directory_without_a_list_is_told_what_it_lacks() {
    let world = SimWorld::new(1);
    let env = world.env();
    let dir = PathBuf::from("/set");
    env.fs.create_dir_all(&dir).unwrap();
    let refused = FileSet::read(&*env.fs, &dir, &Orders::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    set("bytewise", Orders::default())
        .write(&*env.fs, &dir)
        .unwrap();
    FileSet::read(&*env.fs, &dir, &Orders::default()).unwrap();
}
