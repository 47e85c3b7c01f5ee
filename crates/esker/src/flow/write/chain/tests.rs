//! Tests of `chain`.

use super::*;
use crate::env::sim::fs::SimFs;
use crate::store::wal::writer::WalWriter;

const DIR: &str = "/db";

/// Segments with those heads (`None`: without one), numbered from 1.
fn links(heads: &[Option<Option<(u64, u64)>>]) -> Vec<Link> {
    let fs = SimFs::new(0);
    let dir = Path::new(DIR);
    fs.create_dir_all(dir).unwrap();
    let mut numbers = Vec::new();
    for (number, head) in (1..).map(FileNumber).zip(heads) {
        let path = dir.join(FileName::Wal(number).to_string());
        let mut log = WalWriter::new(fs.open_log(&path, 4096).unwrap(), number);
        if let Some(previous) = head {
            let previous = previous.map(|(number, end)| (FileNumber(number), end));
            log.append(&SegmentHead { previous }.encode()).unwrap();
            log.append(b"a record").unwrap();
        }
        numbers.push(number);
    }
    chain(&fs, dir, &numbers).unwrap()
}

fn parts(links: &[Link]) -> Vec<(u64, bool, Option<u64>)> {
    let parts = links.iter();
    parts
        .map(|link| (link.number.0, link.is_part, link.end))
        .collect()
}

#[test]
fn each_segment_ends_where_the_next_one_says() {
    // An ordinary log of three segments: of the last nobody knows the end.
    let links = links(&[Some(None), Some(Some((1, 60))), Some(Some((2, 70)))]);
    let expected = [(1, true, Some(60)), (2, true, Some(70)), (3, true, None)];
    assert_eq!(parts(&links), expected);
}

#[test]
fn an_end_is_seen_past_segments_without_a_head() {
    // Between a log that was cut off and what was written behind the cut lies a spare segment.
    let links = links(&[Some(None), None, None, Some(Some((1, 31)))]);
    let expected = [
        (1, true, Some(31)),
        (2, false, None),
        (3, false, None),
        (4, true, None),
    ];
    assert_eq!(parts(&links), expected);
}

#[test]
fn what_a_later_head_passes_over_is_no_part() {
    // Segments 2 and 3 were dropped with the end of the first, and are still there, whole.
    let heads = [
        Some(None),
        Some(Some((1, 60))),
        Some(Some((2, 60))),
        Some(Some((1, 31))),
    ];
    let links = links(&heads);
    let expected = [
        (1, true, Some(31)),
        (2, false, None),
        (3, false, None),
        (4, true, None),
    ];
    assert_eq!(parts(&links), expected);
}

#[test]
fn nothing_before_a_first_segment_is_part() {
    // Of the log before, a recovery found nothing.
    let links = links(&[Some(None), None, Some(None), None]);
    let is_part: Vec<bool> = links.iter().map(|link| link.is_part).collect();
    assert_eq!(is_part, [false, false, true, true]);
}

#[test]
fn a_reader_stops_at_the_end_that_the_next_one_says() {
    // The record behind the cut is whole, and is not read; the segment ends cleanly.
    let fs = SimFs::new(0);
    let dir = Path::new(DIR);
    fs.create_dir_all(dir).unwrap();
    let number = FileNumber(1);
    let path = dir.join(FileName::Wal(number).to_string());
    let mut log = WalWriter::new(fs.open_log(&path, 4096).unwrap(), number);
    let end = log.append(b"kept").unwrap();
    log.append(b"cut off").unwrap();
    let link = Link {
        number,
        front: Front::Nothing(Tail::Clean),
        is_part: true,
        end: Some(end),
    };
    let mut reader = link.reader(&fs, dir).unwrap();
    assert_eq!(reader.next().unwrap(), Some(&b"kept"[..]));
    assert_eq!(reader.next().unwrap(), None);
    assert_eq!(reader.tail(), Tail::Clean);
}

#[test]
fn a_log_begins_where_its_heads_lead_without_a_break() {
    // Whole from the first one; one that names a segment that is not there; behind a spare one;
    // one of which the head is gone, so that the segment before it is taken; and nothing at all.
    let whole = links(&[Some(None), Some(Some((1, 60))), Some(Some((2, 60))), None]);
    assert_eq!(first_unbroken(&whole), Some(FileNumber(1)));
    let mut gap = links(&[
        Some(None),
        Some(Some((1, 60))),
        Some(Some((2, 60))),
        Some(Some((3, 60))),
    ]);
    gap.remove(1);
    assert_eq!(first_unbroken(&gap), Some(FileNumber(3)));
    let torn = links(&[
        Some(None),
        Some(Some((1, 60))),
        None,
        Some(Some((3, 60))),
        None,
    ]);
    assert_eq!(first_unbroken(&torn), Some(FileNumber(1)));
    assert_eq!(first_unbroken(&links(&[None, None])), None);
}
