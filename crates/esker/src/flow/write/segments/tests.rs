//! Tests of `segments`.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::env::sim::fault::FaultFs;
use crate::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use crate::env::sim::fs::SimFs;

const CAPACITY_BYTES: u64 = 4096;
const DIR: &str = "/db";

fn segments(fs: Arc<dyn Fs>) -> Segments {
    fs.create_dir_all(Path::new(DIR)).unwrap();
    let numbers = Arc::new(FileNumbers::new(FileNumber(1)));
    Segments::new(fs, Path::new(DIR), numbers, CAPACITY_BYTES)
}

fn names(fs: &dyn Fs) -> Vec<String> {
    let mut names = fs.list(Path::new(DIR)).unwrap();
    names.sort();
    names
}

fn wal(number: u64) -> String {
    FileName::Wal(FileNumber(number)).to_string()
}

#[test]
fn a_prepared_segment_is_the_next_one_taken() {
    // Prepared twice, made once; the taken one is it, and the one after is made on the spot.
    let fs = Arc::new(SimFs::new(0));
    let segments = segments(fs.clone());
    segments.prepare().unwrap();
    segments.prepare().unwrap();
    assert_eq!(segments.idle(), [FileNumber(1)]);
    assert_eq!(segments.take(100).unwrap().0, FileNumber(1));
    assert_eq!(segments.take(100).unwrap().0, FileNumber(2));
    assert_eq!(names(&*fs), [wal(1), wal(2)]);
}

#[test]
fn a_spare_that_was_overtaken_is_not_taken() {
    // While a segment is being prepared, the log turns over to one made on the spot, with a
    // larger number. The spare must not come after it: replay goes by numbers.
    let segments = segments(Arc::new(SimFs::new(0)));
    let late = segments.make(CAPACITY_BYTES).unwrap();
    let first = segments.take(100).unwrap().0;
    assert!(late.0 < first);
    segments.shelf().spare = Some(late);
    assert!(segments.take(100).unwrap().0 > first);
}

#[test]
fn used_segments_are_recycled_and_few_are_kept() {
    // Four segments are used up: two wait to be used again under new numbers, two go.
    let fs = Arc::new(SimFs::new(0));
    let segments = segments(fs.clone());
    let taken: Vec<FileNumber> = (0..4).map(|_| segments.take(100).unwrap().0).collect();
    for number in taken {
        segments.retire(number, CAPACITY_BYTES).unwrap();
    }
    assert_eq!(names(&*fs), [wal(1), wal(2)]);
    segments.prepare().unwrap();
    assert_eq!(names(&*fs), [wal(1), wal(5)]);
    assert_eq!(segments.take(100).unwrap().0, FileNumber(5));
}

#[test]
fn what_is_ahead_grows_with_what_was_written() {
    // The first segments of a session: each twice as large as the one before, the spare one and
    // those that are used again among them, up to the size that was asked for.
    let fs: Arc<dyn Fs> = Arc::new(SimFs::new(0));
    fs.create_dir_all(Path::new(DIR)).unwrap();
    let numbers = Arc::new(FileNumbers::new(FileNumber(1)));
    let segments = Segments::new(fs, Path::new(DIR), numbers, 5 << 20);
    let mut sizes = Vec::new();
    for _ in 0..5 {
        let (number, file) = segments.take(100).unwrap();
        sizes.push(file.capacity_bytes() >> 20);
        segments.prepare().unwrap();
        segments.retire(number, CAPACITY_BYTES).unwrap();
    }
    assert_eq!(sizes, [1, 2, 4, 5, 5]);
}

#[test]
fn a_log_that_is_wound_down_keeps_nothing_ahead() {
    // A spare segment and a used one are there when the database is closed: both go. The last
    // segment of the log is as small as what it holds, and what is used up goes at once.
    let fs = Arc::new(SimFs::new(0));
    let segments = segments(fs.clone());
    let used = segments.take(100).unwrap().0;
    let live = segments.take(100).unwrap().0;
    segments.retire(used, CAPACITY_BYTES).unwrap();
    segments.prepare().unwrap();
    assert_eq!(segments.idle().len(), 1);
    segments.retire(live, CAPACITY_BYTES).unwrap();
    segments.wind_down();
    assert!(segments.idle().is_empty());
    assert!(names(&*fs).is_empty());
    let (last, file) = segments.take(46).unwrap();
    assert_eq!(file.capacity_bytes(), 46);
    assert_eq!(names(&*fs), [wal(last.0)]);
    segments.retire(last, CAPACITY_BYTES).unwrap();
    assert!(names(&*fs).is_empty());
}

#[test]
fn a_giant_batch_gets_a_segment_of_its_own_size() {
    // The spare is too small: it is kept for recycling, and the next segment has a larger number.
    // Used up, the giant one goes at once: nobody recycles so much.
    let fs = Arc::new(SimFs::new(0));
    let segments = segments(fs.clone());
    segments.prepare().unwrap();
    let giant = segments.take(10 * CAPACITY_BYTES).unwrap();
    assert!(giant.1.capacity_bytes() >= 10 * CAPACITY_BYTES);
    assert_eq!(giant.0, FileNumber(2));
    assert_eq!(segments.take(100).unwrap().0, FileNumber(3));
    segments.retire(giant.0, giant.1.capacity_bytes()).unwrap();
    assert_eq!(names(&*fs), [wal(3)]);
}

#[test]
fn a_segment_that_cannot_be_made_leaves_nothing_behind() {
    // Each step of making one fails in turn, with and without a used segment to make it from:
    // no file is left that nobody knows of, and the next try works.
    for has_retired in [false, true] {
        for skip in 0..6 {
            let disk = SimFs::new(0);
            let fs = FaultFs::over_sim(&disk, 0);
            let segments = segments(Arc::new(fs.clone()));
            if has_retired {
                let used = segments.take(100).unwrap().0;
                segments.retire(used, CAPACITY_BYTES).unwrap();
            }
            fs.set_plans(vec![Plan::once(Fault::NoSpace, Calls::Mutating, skip)]);
            let prepared = segments.prepare();
            fs.set_plans(Vec::new());
            if let Err(error) = prepared {
                assert_eq!(error.kind(), ErrorKind::OutOfSpace);
                let known: Vec<String> = segments
                    .idle()
                    .iter()
                    .map(|number| FileName::Wal(*number).to_string())
                    .collect();
                assert_eq!(names(&disk), known);
                segments.prepare().unwrap();
            }
            assert!(segments.take(100).is_ok());
        }
    }
    // Of the calls that were failed, the last ones must have been beyond the making.
    let fs = FaultFs::over_sim(&SimFs::new(0), 0);
    let segments = segments(Arc::new(fs.clone()));
    let before = fs.counts().of(Calls::Mutating);
    segments.prepare().unwrap();
    assert!(fs.counts().of(Calls::Mutating) - before < 6);
    assert!(fs.counts().of(Calls::Of(CallClass::Sync)) > 0);
}
