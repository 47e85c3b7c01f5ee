//! Tests of `open_runs`.

use std::path::Path;

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, Level};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::Fs;
use crate::env::sim::fs::SimFs;
use crate::flow::read::get::get;
use crate::flow::read::model::{History, Write};
use crate::flow::read::model_view::{Layout, read_at};
use crate::flow::read::view::{AtHand, View, ViewParts};
use crate::store::names::FileName;

/// Puts of the keys of these numbers.
fn puts(seqno: u64, numbers: std::ops::Range<u32>) -> History {
    let writes = numbers.map(|number| Write {
        key: key_of(number),
        trailer: Trailer::new(SeqNo::new(seqno), Kind::Put),
        value: b"value".to_vec(),
    });
    History {
        writes: writes.collect(),
        ..History::default()
    }
}

fn key_of(number: u32) -> Vec<u8> {
    format!("key{number:04}").into_bytes()
}

/// A run of level 0 that is file 1, and where that is.
fn one_run() -> (SimFs, Arc<View>) {
    let mut layout = Layout::new(&Comparator::Bytewise);
    layout.add_run(Level::ZERO, &puts(1, 0..100), Vec::new());
    (layout.fs(), layout.view(&[]))
}

fn is_ruled_out(view: &View, index: usize, number: u32) -> bool {
    view.is_ruled_out(index, hash64(&key_of(number)))
}

/// How many of a thousand keys that are nowhere are ruled out.
fn ruled_out_count(view: &View, index: usize) -> usize {
    let missing = 5_000..6_000;
    missing
        .filter(|number| is_ruled_out(view, index, *number))
        .count()
}

#[test]
fn a_run_of_level_0_is_ruled_out_for_what_none_of_its_files_has() {
    let mut layout = Layout::new(&Comparator::Bytewise);
    layout.add_run(Level::ZERO, &puts(1, 0..100), vec![key_of(30), key_of(60)]);
    layout.add_run(Level::ZERO, &puts(2, 100..200), Vec::new());
    layout.add_run(Level::new(3).unwrap(), &puts(0, 0..200), Vec::new());
    let view = layout.view(&[]);
    // Newest first.
    assert!((100..200).all(|number| !is_ruled_out(&view, 0, number)));
    assert!((0..100).all(|number| !is_ruled_out(&view, 1, number)));
    // 1 % of the keys that a filter does not have it takes for its own.
    assert!(ruled_out_count(&view, 0) > 970);
    assert!(ruled_out_count(&view, 1) > 920);
    assert_eq!(ruled_out_count(&view, 2), 0);
}

#[test]
fn a_run_of_many_files_is_searched_by_key() {
    let mut layout = Layout::new(&Comparator::Bytewise);
    let cuts = (1..=4).map(|part| key_of(part * 20)).collect();
    layout.add_run(Level::ZERO, &puts(1, 0..100), cuts);
    assert_eq!(ruled_out_count(&layout.view(&[]), 0), 0);
}

#[test]
fn what_deletes_a_range_is_never_ruled_out() {
    let mut layout = Layout::new(&Comparator::Bytewise);
    let mut history = puts(2, 0..100);
    history.deletes.push(RangeDelete {
        start: key_of(5_000).into(),
        end: key_of(6_000).into(),
        seqno: SeqNo::new(3),
    });
    layout.add_run(Level::new(1).unwrap(), &puts(1, 5_000..6_000), Vec::new());
    layout.add_run(Level::ZERO, &history, Vec::new());
    let view = layout.view(&[]);
    assert_eq!(ruled_out_count(&view, 0), 0);
    let read = read_at(SeqNo::MAX);
    assert_eq!(get(&view, &key_of(5_500), &read).unwrap(), None);
}

#[test]
fn the_next_view_knows_the_files_of_the_runs_that_stay() {
    let (fs, first) = one_run();
    assert!(ruled_out_count(&first, 0) > 970);
    let parts = ViewParts {
        levels: Arc::new((*first.parts().levels).clone()),
        ..first.parts().clone()
    };
    let second = View::new(parts, Some(&first));
    // Closed and gone, so that nobody can open it again.
    first.parts().open_files.forget(FileNumber(1));
    fs.remove_file(&path_of(FileNumber(1))).unwrap();
    assert!(ruled_out_count(&second, 0) > 970);
}

#[test]
fn a_file_that_cannot_be_opened_is_told_by_who_reads_it() {
    let (fs, view) = one_run();
    fs.remove_file(&path_of(FileNumber(1))).unwrap();
    assert_eq!(ruled_out_count(&view, 0), 0);
    // A read of a key outside the file does not need it.
    let outside = get(&view, &key_of(5_000), &read_at(SeqNo::MAX));
    assert_eq!(outside.unwrap(), None);
    let error = get(&view, &key_of(50), &read_at(SeqNo::MAX)).unwrap_err();
    assert_eq!(error.file(), Some("000001.sst"));
}

#[test]
fn a_file_is_kept_from_the_first_read_on() {
    // Closed and gone, it serves a view that came to it; another one cannot open it any more.
    let mut layout = Layout::new(&Comparator::Bytewise);
    let cuts = vec![key_of(30), key_of(60)];
    layout.add_run(Level::new(3).unwrap(), &puts(1, 0..100), cuts);
    let (fs, view) = (layout.fs(), layout.view(&[]));
    let read = |view: &View, number| get(view, &key_of(number), &read_at(SeqNo::MAX));
    assert!(read(&view, 50).unwrap().is_some());
    view.parts().open_files.forget(FileNumber(2));
    fs.remove_file(&path_of(FileNumber(2))).unwrap();
    assert!(read(&view, 40).unwrap().is_some());
    let error = read(&View::new(view.parts().clone(), None), 50).unwrap_err();
    assert_eq!(error.file(), Some("000002.sst"));
}

#[test]
fn of_many_open_files_none_is_kept() {
    // What a view kept could not be closed for another file.
    let mut layout = Layout::new(&Comparator::Bytewise);
    let cuts = (1..=3).map(|part| key_of(part * 20)).collect();
    layout.add_run(Level::new(3).unwrap(), &puts(1, 0..80), cuts);
    let view = layout.view(&[]);
    let open_files = &view.parts().open_files;
    open_files.set_open_max(0);
    for number in [10, 30, 50, 70, 10, 30, 50, 70] {
        let found = get(&view, &key_of(number), &read_at(SeqNo::MAX));
        assert!(found.unwrap().is_some());
    }
    for place in 0..4 {
        let file = view.open_at(0, place).unwrap();
        assert!(matches!(file, AtHand::Opened(_)));
    }
}

fn path_of(number: FileNumber) -> std::path::PathBuf {
    Path::new("/db").join(FileName::Sst(number).to_string())
}
