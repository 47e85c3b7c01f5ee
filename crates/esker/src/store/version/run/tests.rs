//! Tests of `run`.

use super::*;
use crate::base::types::comparator::CustomComparator;
use crate::base::types::error::ErrorKind;
use crate::env::random::Random;
use crate::store::version::plain_file::record;

fn file(number: u64, smallest: &[u8], largest: &[u8], is_exclusive: bool) -> Arc<FileRecord> {
    Arc::new(FileRecord {
        size_bytes: 10,
        is_largest_exclusive: is_exclusive,
        ..record(number, smallest, largest)
    })
}

struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

// Cuts a sorted set of random keys into files; some end exclusively at the next one's start.
fn random_run(random: &mut Random, comparator: &Comparator, prefix: &[u8]) -> Run {
    let mut keys: Vec<Vec<u8>> = (0..random.below(40) + 2)
        .map(|_| {
            let len = usize::try_from(random.below(12)).unwrap();
            let tail = (0..len).map(|_| b"ab\0\xff"[usize::try_from(random.below(4)).unwrap()]);
            prefix.iter().copied().chain(tail).collect()
        })
        .collect();
    keys.sort_by(|left, right| comparator.compare(left, right));
    keys.dedup();
    let mut files = Vec::new();
    let mut index = 0;
    while index + 1 < keys.len() {
        let is_exclusive = random.one_in(2);
        let number = index as u64 + 1;
        files.push(file(number, &keys[index], &keys[index + 1], is_exclusive));
        index += if is_exclusive && random.one_in(2) {
            1
        } else {
            2
        };
    }
    files.reverse();
    Run::new(0, comparator, files).unwrap()
}

#[test]
fn searches_agree_with_looking_at_every_file() {
    // Shared prefixes, keys that begin one another, zeros and 0xff: what the heads could get
    // wrong; and another order, which does without them.
    let mut random = Random::new(7);
    let comparators = [
        Comparator::Bytewise,
        Comparator::Custom(Arc::new(Backwards)),
    ];
    for round in 0..160 {
        let comparator = &comparators[round % 2];
        let prefix = [&b""[..], b"user", b"\xff\xff", b"a"][round / 2 % 4];
        let run = random_run(&mut random, comparator, prefix);
        for _ in 0..30 {
            let len = usize::try_from(random.below(8)).unwrap();
            let tail = (0..len).map(|_| b"ab\0\xff"[usize::try_from(random.below(4)).unwrap()]);
            let tail: Vec<u8> = tail.collect();
            let key: Vec<u8> = match random.below(3) {
                0 => tail,
                _ => prefix.iter().copied().chain(tail).collect(),
            };
            check_search(comparator, &run, &key);
            for upper in [b"a".as_slice(), b"usf", b"userb"] {
                check_overlapping(comparator, &run, &key, upper);
            }
        }
    }
}

fn check_search(comparator: &Comparator, run: &Run, key: &[u8]) {
    let mut files = run.files().iter();
    let wanted = files.position(|file| file.covers(comparator, key));
    assert_eq!(run.find(comparator, key), wanted, "{key:?} in {run:?}");
    let wanted = run
        .files()
        .iter()
        .position(|file| !file.ends_before(comparator, key));
    let wanted = wanted.unwrap_or(run.files().len());
    assert_eq!(run.first_not_before(comparator, key), wanted, "{key:?}");
}

fn check_overlapping(comparator: &Comparator, run: &Run, key: &[u8], end: &[u8]) {
    for lower in [Bound::Unbounded, Bound::Included(key), Bound::Excluded(key)] {
        for upper in [Bound::Unbounded, Bound::Included(end), Bound::Excluded(end)] {
            let range = KeyRange {
                lower: lower.map(<[u8]>::to_vec),
                upper: upper.map(<[u8]>::to_vec),
            };
            let found = run.overlapping(comparator, &range);
            if comparator.compare(key, end) != Ordering::Less {
                continue;
            }
            let wanted: Vec<_> = run
                .files()
                .iter()
                .filter(|file| file.overlaps(comparator, lower, upper))
                .cloned()
                .collect();
            assert_eq!(found, wanted, "{lower:?} {upper:?}");
        }
    }
}

#[test]
fn overlapping_files_are_refused_by_name() {
    // The message must name both, so that a person can look at them.
    let comparator = Comparator::Bytewise;
    let files = vec![file(7, b"a", b"k", false), file(9, b"k", b"z", false)];
    let error = Run::new(0, &comparator, files).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    let text = error.to_string();
    assert!(text.contains("000007") && text.contains("000009"), "{text}");
    // A range delete up to the first key of the next file is fine.
    let files = vec![file(7, b"a", b"k", true), file(9, b"k", b"z", false)];
    assert!(Run::new(0, &comparator, files).is_ok());
}

#[test]
fn an_edit_leaves_the_old_run_as_it_was() {
    // Readers still hold it.
    let comparator = Comparator::Bytewise;
    let run = Run::new(3, &comparator, vec![file(1, b"a", b"b", false)]).unwrap();
    let more = run.with(&comparator, file(2, b"c", b"d", false)).unwrap();
    let less = more.without(&comparator, FileNumber(1)).unwrap();
    assert_eq!((run.files().len(), more.files().len()), (1, 2));
    assert_eq!(less.files()[0].number, FileNumber(2));
    assert_eq!((more.size_bytes(), less.id()), (20, 3));
    assert!(run.without(&comparator, FileNumber(2)).is_err());
    let twice = more.edited(&comparator, &[FileNumber(1), FileNumber(1)], Vec::new());
    assert!(twice.unwrap_err().to_string().contains("twice"));
}

#[test]
fn a_run_knows_which_of_its_files_delete_ranges() {
    // Of five files the second and the fourth; asked for every part of the run.
    let comparator = Comparator::Bytewise;
    let files = (0..5u8).map(|place| {
        let key = [b'a' + place];
        let plain = record(u64::from(place) + 1, &key, &key);
        Arc::new(FileRecord {
            range_delete_count: u64::from(place % 2),
            ..plain
        })
    });
    let run = Run::new(0, &comparator, files.collect()).unwrap();
    for start in 0..=5 {
        for end in start..=5 {
            let wanted = [1, 3]
                .into_iter()
                .filter(|place| (start..end).contains(place));
            assert_eq!(run.deleting(&(start..end)), wanted.collect::<Vec<_>>());
        }
    }
    assert!(!run.has_values());
}

#[test]
fn a_run_knows_whether_a_file_points_into_the_value_log() {
    // One of two does, whichever; without it none.
    let comparator = Comparator::Bytewise;
    let mut pointing = record(2, b"c", b"d");
    pointing.values.add(FileNumber(9), 100);
    let files = vec![file(1, b"a", b"b", false), Arc::new(pointing)];
    let run = Run::new(0, &comparator, files).unwrap();
    assert!(run.has_values());
    assert!(
        !run.without(&comparator, FileNumber(2))
            .unwrap()
            .has_values()
    );
    assert!(!Run::empty(0).has_values());
}
