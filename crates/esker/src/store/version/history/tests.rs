use super::*;
use crate::env::random::Random;
use crate::store::version::apply::tests::{Model, empty};

#[test]
fn files_live_as_long_as_somebody_reads_them() {
    // A reader that holds an old version keeps its files from the janitor, and only those.
    let mut random = Random::new(11);
    let mut model = Model::default();
    let history = History::new(Arc::new(empty()));
    let mut held = Vec::new();
    for round in 0..300 {
        let edit = model.random_edit(&mut random);
        history.apply(&edit).unwrap();
        model.check(&history.peek());
        if random.one_in(10) {
            held.push(history.current());
        }
        if random.one_in(15) && !held.is_empty() {
            held.remove(round % held.len());
        }
        let wanted: BTreeSet<FileNumber> = held
            .iter()
            .chain([&history.current()])
            .flat_map(|version| version.keyspaces.values())
            .flat_map(|state| state.levels.files().map(|(_, file)| file.number))
            .collect();
        assert_eq!(history.files_in_use(), wanted);
        assert!(history.versions_in_use().len() <= held.len() + 1);
    }
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
    // Versions come in the order in which they were installed, and what is current is always
    // among those whose files are in use.
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
                let in_use = history.versions_in_use();
                assert!(in_use.iter().any(|other| Arc::ptr_eq(other, &version)));
            }
        });
        for _ in 0..200 {
            history.apply(&model.random_edit(&mut random)).unwrap();
        }
        reader.join().unwrap();
    });
    model.check(&history.current());
}
