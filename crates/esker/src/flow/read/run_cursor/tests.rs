//! Tests of `run_cursor`.

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::{FileNumber, Level};
use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::Fs;
use crate::flow::read::model::{
    History, Shape, VectorCursor, comparator_of, for_seeds, random_key,
};
use crate::flow::read::model_view::Layout;
use crate::store::names::FileName;

#[test]
fn files_of_a_run_move_as_one() {
    // A run of up to seven files, some of them with range deletes only; random movements.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: random.below(80),
            key_count: 1 + random.below(40),
            range_delete_one_in: 4,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let mut layout = Layout::new(&history.comparator);
        let cuts = (0..random.below(7))
            .map(|_| random_key(random, 40))
            .collect();
        let level = Level::new(1).unwrap();
        layout.add_run(level, &history, cuts);
        let view = layout.view(&[]);
        let run = view.parts().levels.run(level);
        let mut cursor = RunCursor::new(&view, run, &KeyRange::ALL, ReadOptions::default());
        let mut oracle = VectorCursor::new(&history.comparator, history.entries());
        for _ in 0..80 {
            let target = key::encode(
                &random_key(random, 40),
                Trailer::seek(SeqNo::new(random.below(120))),
            );
            let (found, expected) = match random.below(16) {
                0 => (cursor.seek_to_first(), oracle.seek_to_first()),
                1 => (cursor.seek_to_last(), oracle.seek_to_last()),
                2 => (cursor.seek(&target), oracle.seek(&target)),
                3 => (cursor.seek_for_prev(&target), oracle.seek_for_prev(&target)),
                _ if !oracle.is_valid() => continue,
                4..=9 => (cursor.next(), oracle.next()),
                _ => (cursor.prev(), oracle.prev()),
            };
            assert_eq!(found.unwrap(), expected.unwrap());
            assert_eq!(cursor.is_valid(), oracle.is_valid());
            if oracle.is_valid() {
                assert_eq!(cursor.key(), oracle.key());
                assert_eq!(cursor.value_bytes().unwrap(), oracle.value().unwrap());
            }
        }
    });
}

/// Ten files with ten keys each, 00 to 99, at level 1.
fn ten_files() -> (Layout, Level) {
    let mut history = History::default();
    for number in 0..100_u64 {
        history.writes.push(crate::flow::read::model::Write {
            key: format!("{number:02}").into_bytes(),
            trailer: Trailer::new(SeqNo::new(number + 1), crate::base::types::kind::Kind::Put),
            value: Vec::new(),
        });
    }
    let mut layout = Layout::new(&Comparator::Bytewise);
    let cuts = (1..10).map(|ten| format!("{ten}0").into_bytes()).collect();
    let level = Level::new(1).unwrap();
    layout.add_run(level, &history, cuts);
    (layout, level)
}

#[test]
fn files_outside_the_range_are_not_opened() {
    // Ten files, a range inside two of them, a scan over the whole range and off both ends.
    let (layout, level) = ten_files();
    let view = layout.view(&[]);
    let run = view.parts().levels.run(level);
    assert_eq!(run.files().len(), 10);
    let range = KeyRange::new(b"35".as_slice()..b"45");
    let mut cursor = RunCursor::new(&view, run, &range, ReadOptions::default());
    assert!(cursor.seek_to_first().unwrap());
    while cursor.next().unwrap() {}
    assert!(cursor.seek_to_last().unwrap());
    while cursor.prev().unwrap() {}
    assert_eq!(view.parts().open_files.open_count(), 2);
}

#[test]
fn a_missing_file_is_an_error_and_the_others_stay_readable() {
    // The fourth file is gone: moving into it from either side fails, moving elsewhere does not.
    let (layout, level) = ten_files();
    let path = std::path::Path::new("/db").join(FileName::Sst(FileNumber(4)).to_string());
    layout.fs().remove_file(&path).unwrap();
    let view = layout.view(&[]);
    let run = view.parts().levels.run(level);
    let mut cursor = RunCursor::new(&view, run, &KeyRange::ALL, ReadOptions::default());
    let target = |key: &str| key::encode(key.as_bytes(), Trailer::seek(SeqNo::MAX));
    assert!(cursor.seek(&target("29")).unwrap());
    assert_eq!(cursor.next().unwrap_err().kind(), ErrorKind::Corruption);
    assert!(!cursor.is_valid());
    assert!(cursor.seek(&target("40")).unwrap());
    assert_eq!(cursor.prev().unwrap_err().kind(), ErrorKind::Corruption);
    assert!(!cursor.is_valid());
    assert!(cursor.seek(&target("35")).is_err());
    assert!(cursor.seek_to_first().unwrap());
    assert!(cursor.seek_to_last().unwrap());
}
