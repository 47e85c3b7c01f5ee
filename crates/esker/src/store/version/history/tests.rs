//! Tests of `history`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use super::*;
use crate::base::types::ids::KeyspaceId;
use crate::env::random::Random;
use crate::store::version::apply::tests::{Model, empty};
use crate::store::version::edit::SettingsText;

fn files(levels: &Levels) -> impl Iterator<Item = FileNumber> {
    levels.files().map(|(_, file)| file.number)
}

#[test]
fn files_live_as_long_as_somebody_reads_them() {
    // A reader that holds the old levels of one keyspace keeps their files from deletion, and
    // only those: also when the keyspace is dropped.
    let mut random = Random::new(11);
    let mut model = Model::default();
    let history = History::new(Arc::new(empty()));
    let mut held: Vec<Arc<Levels>> = Vec::new();
    for round in 0..300 {
        let edit = model.random_edit(&mut random);
        history.apply(&edit).unwrap();
        model.check(&history.peek());
        let current = history.current();
        if random.one_in(10) {
            let index = round % current.keyspaces.len();
            let state = current.keyspaces.values().nth(index).unwrap();
            held.push(Arc::clone(&state.levels));
        }
        if random.one_in(15) && !held.is_empty() {
            held.remove(round % held.len());
        }
        let states = current.keyspaces.values();
        let levels = states.map(|state| &state.levels).chain(&held);
        let wanted: BTreeSet<FileNumber> = levels.flat_map(|levels| files(levels)).collect();
        assert_eq!(history.files_in_use(), wanted);
    }
}

fn create(id: u32) -> Change {
    Change::CreateKeyspace {
        id: KeyspaceId(id),
        name: format!("keyspace {id}"),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: SettingsText::new(),
    }
}

#[test]
fn only_levels_that_an_edit_changes_are_remembered() {
    // A thousand keyspaces, and edits of one: what nobody changed is not tracked, and what
    // nobody holds is forgotten by the next edit.
    let mut random = Random::new(14);
    let mut model = Model::default();
    let history = History::new(Arc::new(empty()));
    history.apply(&model.random_edit(&mut random)).unwrap();
    let others: Vec<Change> = (1_000..2_000).map(create).collect();
    history.apply(&others).unwrap();
    let first = history.current();
    for id in 0..100 {
        let keyspace = KeyspaceId(1_000 + id);
        let edit = [Change::DropKeyspace { id: keyspace }, create(2_000 + id)];
        history.apply(&edit).unwrap();
        assert_eq!(history.older().len(), usize::try_from(id).unwrap() + 1);
    }
    assert_eq!(history.in_use().1.len(), 100);
    drop(first);
    history.apply(&[]).unwrap();
    assert!(history.older().is_empty());
}

#[test]
fn a_refused_edit_changes_nothing() {
    // The current version stays the very same one.
    let mut random = Random::new(12);
    let history = History::new(Arc::new(empty()));
    let edit = Model::default().random_edit(&mut random);
    let first = history.apply(&edit).unwrap();
    assert!(history.apply(&edit).is_err());
    assert!(Arc::ptr_eq(&first, &history.current()));
}

#[test]
fn a_reader_never_goes_back_in_time() {
    // Versions come in the order in which they were installed, and the files of whatever
    // somebody holds are always in use.
    let mut random = Random::new(13);
    let mut model = Model::default();
    let history = History::new(Arc::new(empty()));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = history.current().next_file;
            for _ in 0..2_000 {
                let version = history.current();
                assert!(version.next_file >= last);
                last = version.next_file;
                let state = version.keyspaces.values().next_back().cloned();
                drop(version);
                let in_use = history.files_in_use();
                let mut held = state.iter().flat_map(|state| files(&state.levels));
                assert!(held.all(|number| in_use.contains(&number)));
            }
        });
        for _ in 0..200 {
            history.apply(&model.random_edit(&mut random)).unwrap();
        }
        reader.join().unwrap();
    });
    model.check(&history.current());
}
