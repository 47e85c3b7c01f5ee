//! Tests of `install`.

use super::*;
use crate::base::types::ids::Level;
use crate::store::version::apply::apply;
use crate::store::version::edit::SettingsText;
use crate::store::version::plain_file::record;
use crate::store::version::state::{Identity, Orders};

const ID: KeyspaceId = KeyspaceId(1);

fn added(number: u64, level: usize) -> Change {
    let key = format!("{number:08}");
    Change::AddFile {
        keyspace: ID,
        level: Level::new(level).unwrap(),
        run: 0,
        record: Arc::new(record(number, key.as_bytes(), key.as_bytes())),
    }
}

fn removed(number: u64, level: usize) -> Change {
    Change::RemoveFile {
        keyspace: ID,
        level: Level::new(level).unwrap(),
        number: FileNumber(number),
    }
}

#[test]
fn of_many_files_that_move_only_those_that_go_are_obsolete() {
    // A level of 60 000 files moves down, and one file in a thousand goes instead. To look through
    // the edit for each of them took 3 600 000 000 comparisons, with the manifest locked.
    let identity = Identity {
        database_id: [7; 16],
        created_unix_s: 0,
    };
    let empty = Version::empty(identity, Orders::default());
    let create = Change::CreateKeyspace {
        id: ID,
        name: "many".into(),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::new(),
    };
    let files = 1..=60_000;
    let level_1 = files.clone().map(|number| added(number, 1));
    let before = apply(
        &empty,
        &std::iter::once(create).chain(level_1).collect::<Vec<_>>(),
    );
    let before = before.unwrap();
    let mut edit = Vec::new();
    for number in files {
        edit.push(removed(number, 1));
        if number % 1000 != 0 {
            edit.push(added(number, 2));
        }
    }
    apply(&before, &edit).unwrap();
    let numbers: Vec<u64> = gone(&edit, &before).map(|number| number.0).collect();
    assert_eq!(numbers, (1..=60).map(|it| it * 1000).collect::<Vec<_>>());

    let drop = [Change::DropKeyspace { id: ID }];
    assert_eq!(gone(&drop, &before).count(), 60_000);
}
