//! Tests of `levels`.

use super::*;
use crate::base::types::seqno::SeqNo;
use crate::store::version::plain_file::record;

const ORDER: Comparator = Comparator::Bytewise;

fn file(number: u64, keys: (&str, &str), seqnos: (u64, u64)) -> Arc<FileRecord> {
    Arc::new(FileRecord {
        size_bytes: number,
        smallest_seqno: SeqNo::new(seqnos.0),
        largest_seqno: SeqNo::new(seqnos.1),
        ..record(number, keys.0.as_bytes(), keys.1.as_bytes())
    })
}

fn level(depth: usize) -> Level {
    Level::new(depth).unwrap()
}

fn l0(added: Vec<(RunId, Arc<FileRecord>)>) -> Result<Levels> {
    let added = added
        .into_iter()
        .map(|(run, file)| (Level::ZERO, run, file));
    let edit = LevelsEdit {
        removed: Vec::new(),
        added: added.collect(),
    };
    Levels::default().edited(&ORDER, edit)
}

#[test]
fn level_0_is_newest_first_and_keeps_runs_together() {
    // Two files of one flush are one run, however the edit lists them.
    let levels = l0(vec![
        (1, file(1, ("a", "c"), (1, 5))),
        (3, file(3, ("a", "z"), (6, 9))),
        (1, file(2, ("d", "f"), (2, 4))),
    ])
    .unwrap();
    let ids: Vec<RunId> = levels.l0().iter().map(Run::id).collect();
    assert_eq!(ids, [3, 1]);
    let numbers: Vec<u64> = levels.files().map(|(_, file)| file.number.0).collect();
    assert_eq!(numbers, [3, 1, 2]);
    assert_eq!(levels.size_bytes(Level::ZERO), 6);
    levels.check(&ORDER).unwrap();
}

#[test]
fn runs_that_mix_keys_and_seqnos_are_refused() {
    // A read asks the newer run first and stops: it would miss the older run's newer entry.
    let mixed = vec![
        (1, file(1, ("a", "m"), (1, 5))),
        (2, file(2, ("m", "z"), (5, 9))),
    ];
    assert!(l0(mixed).unwrap_err().to_string().contains("runs 2 and 1"));
    let apart = vec![
        (1, file(1, ("a", "m"), (1, 5))),
        (2, file(2, ("n", "z"), (5, 9))),
    ];
    assert!(l0(apart).is_ok());
    // The run between them must not hide the pair that mixes.
    let hidden = vec![
        (1, file(1, ("a", "m"), (1, 5))),
        (2, file(2, ("n", "p"), (6, 7))),
        (3, file(3, ("a", "z"), (4, 9))),
    ];
    assert!(l0(hidden).is_err());
}

#[test]
fn a_file_moves_down_in_one_edit() {
    // A trivial move: the same number goes from one level and comes to another.
    let moved = file(1, ("a", "c"), (1, 5));
    let levels = l0(vec![(1, Arc::clone(&moved))]).unwrap();
    let edit = LevelsEdit {
        removed: vec![(Level::ZERO, FileNumber(1))],
        added: vec![(level(1), 0, Arc::clone(&moved))],
    };
    let levels = levels.edited(&ORDER, edit).unwrap();
    assert!(levels.l0().is_empty());
    assert_eq!(levels.deepest(), Some(level(1)));
    assert_eq!(levels.find_file(FileNumber(1)).unwrap().0, level(1));
    assert_eq!(levels.total_size_bytes(), 1);
}

#[test]
fn a_file_is_never_there_twice() {
    // Neither in one run nor at two levels.
    let one = file(1, ("a", "c"), (1, 5));
    let levels = l0(vec![(1, Arc::clone(&one))]).unwrap();
    assert!(levels.with(&ORDER, level(2), 0, Arc::clone(&one)).is_err());
    assert!(levels.with(&ORDER, Level::ZERO, 7, one).is_err());
    let other = file(2, ("d", "e"), (1, 5));
    assert!(levels.with(&ORDER, level(2), 0, other).is_ok());
}

#[test]
fn what_is_not_there_cannot_go() {
    // An edit that removes from the wrong level was made against another version.
    let levels = l0(vec![(1, file(1, ("a", "c"), (1, 5)))]).unwrap();
    assert!(levels.without(&ORDER, level(1), FileNumber(1)).is_err());
    assert!(levels.without(&ORDER, Level::ZERO, FileNumber(2)).is_err());
    let none = levels.without(&ORDER, Level::ZERO, FileNumber(1)).unwrap();
    assert_eq!((none.file_count(), none.deepest()), (0, None));
}

#[test]
fn untouched_runs_are_shared() {
    // An edit of one level must not copy the others.
    let levels = Levels::default()
        .with(&ORDER, level(3), 0, file(1, ("a", "c"), (1, 5)))
        .unwrap();
    let next = levels
        .with(&ORDER, level(2), 0, file(2, ("a", "c"), (6, 7)))
        .unwrap();
    let same = |levels: &Levels| levels.run(level(3)).files().as_ptr();
    assert_eq!(same(&levels), same(&next));
}

#[test]
fn what_levels_point_to_is_the_sum_over_their_files() {
    // Also after the sum was asked for: what comes of an edit has another.
    let pointing = |number: u64, keys, values: &[(u64, u64)]| {
        let values = values.iter();
        let values = values.map(|(segment, bytes)| (FileNumber(*segment), *bytes));
        Arc::new(FileRecord {
            values: values.collect(),
            ..FileRecord::clone(&file(number, keys, (number, number)))
        })
    };
    let sums = |levels: &Levels| {
        let sums = levels.values().iter();
        sums.map(|(segment, bytes)| (segment.0, bytes))
            .collect::<Vec<_>>()
    };
    let first = pointing(1, ("a", "c"), &[(7, 10), (9, 5)]);
    let levels = l0(vec![(1, first)]).unwrap();
    assert_eq!(sums(&levels), [(7, 10), (9, 5)]);
    let second = pointing(2, ("d", "f"), &[(3, 1), (9, 2)]);
    let both = levels.with(&ORDER, level(1), 0, second).unwrap();
    assert_eq!(sums(&both), [(3, 1), (7, 10), (9, 7)]);
    let one = both.without(&ORDER, Level::ZERO, FileNumber(1)).unwrap();
    assert_eq!(sums(&one), [(3, 1), (9, 2)]);
    assert_eq!(sums(&both.clone()), sums(&both));
}
