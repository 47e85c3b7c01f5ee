//! Tests of replay: round trips, and every way for a log to be cut, holed, flipped or recycled.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::env::random::Random;
use crate::store::wal::format::{BLOCK_BYTES, FRAGMENT_BYTES_MAX, HEADER_BYTES};
use crate::store::wal::memory_file::MemoryFile;
use crate::store::wal::writer::WalWriter;

const NUMBER: FileNumber = FileNumber(9);

/// Offsets in memory are `usize`.
fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}

/// A log being written, with what it should hold.
struct Log {
    file: MemoryFile,
    writer: WalWriter,
    records: Vec<Vec<u8>>,
    starts: Vec<usize>,
    marks: Vec<usize>,
    synced: usize,
}

impl Log {
    fn over(file: MemoryFile, number: FileNumber) -> Log {
        Log {
            writer: WalWriter::new(file.log_file(), number),
            file,
            records: Vec::new(),
            starts: Vec::new(),
            marks: Vec::new(),
            synced: 0,
        }
    }

    fn new(capacity: usize) -> Log {
        Log::over(MemoryFile::zeros(capacity), NUMBER)
    }

    // Contents differ by log, record and place in it, so that nothing can stand for another.
    fn append(&mut self, len: usize) {
        let seed = self.writer.number().0 << 32 | self.records.len() as u64;
        let record = Random::new(seed).bytes(len);
        self.starts.push(index(self.writer.end_offset()));
        self.marks.push(self.synced);
        self.writer.append(&record).unwrap();
        self.records.push(record);
    }

    fn sync(&mut self) {
        self.synced = self.end();
        self.writer.set_synced(self.writer.end_offset());
    }

    fn end(&self) -> usize {
        index(self.writer.end_offset())
    }

    // How many records lie wholly before the byte.
    fn whole_before(&self, offset: usize) -> usize {
        self.starts
            .iter()
            .skip(1)
            .chain([&self.end()])
            .filter(|end| **end <= offset)
            .count()
    }

    // What a reader has to make of a log in which the byte at `offset` changed.
    fn check_damage_at(&self, offset: usize, bytes: Vec<u8>) {
        let hit = self.whole_before(offset);
        let (records, end) = read(bytes);
        assert!(self.records.starts_with(&records), "invented at {offset}");
        let behind = self.marks.get(hit + 1..).unwrap_or(&[]);
        let proof = behind.iter().copied().max().unwrap_or(0);
        match end {
            Ok(Tail::Clean) => assert_eq!(records.len(), self.records.len(), "at {offset}"),
            Ok(Tail::Torn {
                offset: torn_at, ..
            }) => {
                assert_eq!(records.len(), hit, "at {offset}");
                assert!(index(torn_at) <= offset);
                assert!(
                    hit == self.records.len() || proof <= self.starts[hit],
                    "at {offset}"
                );
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption);
                assert_eq!(error.file(), Some("000009.wal"));
                assert!(error.offset().is_some_and(|at| index(at) <= offset));
                assert_eq!(records.len(), hit, "at {offset}");
                assert!(proof > self.starts[hit], "at {offset}: {error}");
            }
        }
    }
}

fn read_as(bytes: Vec<u8>, number: FileNumber) -> (Vec<Vec<u8>>, Result<Tail>) {
    let mut reader = WalReader::new(MemoryFile::with(bytes).read_file(), number);
    let mut records = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => return (records, Ok(reader.tail())),
            Err(error) => return (records, Err(error)),
        }
    }
}

fn read(bytes: Vec<u8>) -> (Vec<Vec<u8>>, Result<Tail>) {
    read_as(bytes, NUMBER)
}

#[test]
fn records_around_every_border_read_back() {
    // The second record starts at each place near a block's end, and ends near the next ones.
    let near = |middle: usize| middle - 18..middle + 18;
    for first in near(FRAGMENT_BYTES_MAX) {
        let mut log = Log::new(5 * BLOCK_BYTES);
        for len in [first, 0, 1, first, 2 * FRAGMENT_BYTES_MAX - 40, 100] {
            log.append(len);
        }
        let (records, tail) = read(log.file.bytes());
        assert!(records == log.records, "first record of {first} bytes");
        assert_eq!(tail.unwrap(), Tail::Clean);
    }
}

#[test]
fn random_logs_read_back() {
    // Many lengths, also over several blocks, with and without syncs between.
    let mut random = Random::new(1);
    for _ in 0..40 {
        let mut log = Log::new(16 * BLOCK_BYTES);
        loop {
            let len_max = 1 << random.below(18);
            let len = index(random.below(len_max));
            if !log.writer.fits(len) {
                break;
            }
            log.append(len);
            if random.one_in(4) {
                log.sync();
            }
        }
        let (records, tail) = read(log.file.bytes());
        assert!(records == log.records);
        assert_eq!(tail.unwrap(), Tail::Clean);
    }
}

#[test]
fn an_empty_segment_is_clean() {
    // New, of any size, or without a byte.
    for len in [0, 1, HEADER_BYTES, 1000, 3 * BLOCK_BYTES] {
        let (records, tail) = read(vec![0; len]);
        assert_eq!((records.len(), tail.unwrap()), (0, Tail::Clean));
    }
}

#[test]
fn empty_records_are_records() {
    // Nothing is something: three empty records are three records.
    let mut log = Log::new(1000);
    (0..3).for_each(|_| log.append(0));
    assert_eq!(read(log.file.bytes()).0.len(), 3);
}

#[test]
fn every_truncation_gives_a_prefix() {
    // The file ends after any of its bytes: whole records come back, the rest is torn.
    let mut log = Log::new(600);
    [30, 0, 50, 7, 120, 1]
        .iter()
        .for_each(|&len| log.append(len));
    for len in 0..600 {
        let (records, tail) = read(log.file.bytes()[..len].to_vec());
        let whole = log.whole_before(len);
        assert!(records == log.records[..whole], "length {len}");
        let start = log.starts.get(whole).copied().unwrap_or(log.end());
        let dropped = len.saturating_sub(start) as u64;
        match tail.unwrap() {
            Tail::Clean => assert!(dropped == 0 || whole == log.records.len(), "length {len}"),
            Tail::Torn {
                offset,
                dropped_bytes,
                ..
            } => {
                assert_eq!((index(offset), dropped_bytes <= dropped), (start, true));
            }
        }
    }
}

#[test]
fn every_truncation_of_a_long_record_drops_it() {
    // A record over four blocks loses its end at or near each border.
    let mut log = Log::new(5 * BLOCK_BYTES);
    log.append(100);
    log.append(3 * BLOCK_BYTES);
    let borders = (1..=3).flat_map(|block| block * BLOCK_BYTES - 20..block * BLOCK_BYTES + 20);
    for len in borders.chain(log.end() - 20..log.end()) {
        let (records, tail) = read(log.file.bytes()[..len].to_vec());
        assert_eq!(records.len(), 1);
        assert!(
            matches!(tail, Ok(Tail::Torn { offset: 115, .. })),
            "length {len}"
        );
    }
}

#[test]
fn every_flip_of_a_small_log_is_judged_rightly() {
    // Each byte is changed in four ways: a prefix comes back, and damage before a durable mark
    // is corruption, all other damage a torn tail.
    let mut log = Log::new(700);
    for len in [30, 0, 50] {
        log.append(len);
    }
    log.sync();
    [9, 120].iter().for_each(|&len| log.append(len));
    log.sync();
    [40, 3, 60].iter().for_each(|&len| log.append(len));
    for offset in 0..700 {
        for flip in [0x01, 0x04, 0x80, 0xff] {
            let mut bytes = log.file.bytes();
            bytes[offset] ^= flip;
            log.check_damage_at(offset, bytes);
        }
    }
}

#[test]
fn flips_across_blocks_are_judged_rightly() {
    // The same over several blocks, at every byte near a border or a record's start.
    let mut log = Log::new(4 * BLOCK_BYTES);
    for len in [20_000, 12_700, 10, 50_000] {
        log.append(len);
    }
    log.sync();
    log.append(9_000);
    log.append(11_000);
    let borders = (1..4).map(|block| block * BLOCK_BYTES);
    let places: Vec<usize> = borders
        .chain(log.starts.clone())
        .chain([log.end()])
        .collect();
    for place in places {
        for offset in place.saturating_sub(20)..(place + 20).min(4 * BLOCK_BYTES) {
            let mut bytes = log.file.bytes();
            bytes[offset] ^= 0x40;
            log.check_damage_at(offset, bytes);
        }
    }
}

#[test]
fn damage_names_place_and_loss() {
    // Two durable records, then three more; the second is damaged.
    let mut log = Log::new(1000);
    [50, 60].iter().for_each(|&len| log.append(len));
    log.sync();
    [10, 10, 10].iter().for_each(|&len| log.append(len));
    let mut bytes = log.file.bytes();
    bytes[100] ^= 1;
    let file = MemoryFile::with(bytes).read_file();
    let mut reader = WalReader::named(file, FileName::Manifest(NUMBER));
    assert!(reader.next().unwrap().is_some());
    let error = reader.next().unwrap_err();
    assert_eq!(
        (error.file(), error.offset()),
        (Some("MANIFEST-000009"), Some(65))
    );
    assert!(error.message().contains("durable up to 140"), "{error}");
    assert!(error.message().contains("behind the damage: 3"), "{error}");
    assert_eq!(reader.next().unwrap_err().to_string(), error.to_string());
}

#[test]
fn records_behind_a_hole_are_dropped_when_never_synced() {
    // A power cut kept a later page and lost an earlier one, in whole pages of 4 KiB.
    let mut log = Log::new(2 * BLOCK_BYTES);
    (0..60).for_each(|_| log.append(1000));
    for page in 0..log.end() / 4096 {
        let mut bytes = log.file.bytes();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        let (records, tail) = read(bytes);
        assert!(records == log.records[..log.whole_before(page * 4096)]);
        let start = log.starts[records.len()];
        let dropped_bytes = (log.end() - start) as u64;
        let behind = (page + 1) * 4096;
        let intact = log.starts.iter().filter(|start| **start >= behind);
        assert_eq!(
            tail.unwrap(),
            Tail::Torn {
                offset: start as u64,
                dropped_bytes,
                intact_count: intact.count() as u64,
            }
        );
    }
}

#[test]
fn a_hole_in_what_was_synced_is_corruption() {
    // The same loss, but a later record knows that the page had been durable.
    let mut log = Log::new(2 * BLOCK_BYTES);
    (0..30).for_each(|_| log.append(1000));
    log.sync();
    let durable_pages = log.synced / 4096;
    (0..30).for_each(|_| log.append(1000));
    for page in 0..durable_pages {
        let mut bytes = log.file.bytes();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        let (records, end) = read(bytes);
        assert!(records == log.records[..log.whole_before(page * 4096)]);
        assert_eq!(end.unwrap_err().kind(), ErrorKind::Corruption);
    }
}

#[test]
fn proof_is_found_in_the_middle_of_a_damaged_block() {
    // The block's front is gone, and the only fragment with a mark stands behind it.
    let mut log = Log::new(2 * BLOCK_BYTES);
    (0..3).for_each(|_| log.append(FRAGMENT_BYTES_MAX / 2));
    log.sync();
    log.append(5);
    let mut bytes = log.file.bytes();
    bytes[BLOCK_BYTES..BLOCK_BYTES + 4096].fill(0xaa);
    assert_eq!(read(bytes).1.unwrap_err().kind(), ErrorKind::Corruption);
}

#[test]
fn a_mark_guards_the_last_record() {
    // A log is synced and closed. Without the mark a flip in its last record looks like a torn
    // tail; with it the flip is damage, and a flip in the mark itself loses nothing.
    let mut log = Log::new(1000);
    [50, 60].iter().for_each(|&len| log.append(len));
    log.sync();
    let flipped = |log: &Log, offset: usize| {
        let mut bytes = log.file.bytes();
        bytes[offset] ^= 1;
        read(bytes)
    };
    let last = log.starts[1] + 20;
    assert!(matches!(flipped(&log, last).1, Ok(Tail::Torn { .. })));
    let end = log.end();
    log.writer.append_mark().unwrap();
    assert_eq!(
        flipped(&log, last).1.unwrap_err().kind(),
        ErrorKind::Corruption
    );
    assert!(flipped(&log, end).0 == log.records);
    assert_eq!(read(log.file.bytes()).0.last(), Some(&Vec::new()));
}

#[test]
fn a_recycled_segment_shows_only_its_new_life() {
    // Old records of the same sizes, of others, and long ones lie behind each new end.
    for old_lens in [
        vec![100; 500],
        vec![37; 1000],
        vec![70_000],
        vec![20_000, 20_000, 20_000],
    ] {
        let file = MemoryFile::zeros(3 * BLOCK_BYTES);
        let mut old = Log::over(file.clone(), FileNumber(8));
        old_lens.iter().for_each(|&len| old.append(len));
        old.sync();
        old.append(100);
        let mut new = Log::over(file.clone(), NUMBER);
        for len in [100, 100, 32_000, 385, 100, 100, 29_000, 50] {
            let (records, tail) = read(file.bytes());
            assert!(records == new.records);
            assert_eq!(
                tail.unwrap(),
                Tail::Clean,
                "after {} records",
                records.len()
            );
            new.append(len);
        }
    }
}

#[test]
fn a_torn_record_in_a_recycled_segment_is_dropped() {
    // The page of a new record was lost: old bytes of the same size stand in its place.
    let file = MemoryFile::zeros(BLOCK_BYTES);
    let mut old = Log::over(file.clone(), FileNumber(8));
    (0..200).for_each(|_| old.append(100));
    let before = file.bytes();
    let mut new = Log::over(file.clone(), NUMBER);
    (0..100).for_each(|_| new.append(100));
    let mut bytes = file.bytes();
    bytes[4096..8192].copy_from_slice(&before[4096..8192]);
    let (records, tail) = read(bytes);
    assert!(records == new.records[..new.whole_before(4096)]);
    let Ok(Tail::Torn {
        offset,
        dropped_bytes,
        ..
    }) = tail
    else {
        panic!("must be torn");
    };
    assert_eq!(index(offset + dropped_bytes), new.end());
}

#[test]
fn old_records_of_equal_size_are_a_clean_end() {
    // Without the zeros behind the last record (their sector was lost) the next header is that
    // of an old record: intact, but of another log.
    let file = MemoryFile::zeros(BLOCK_BYTES);
    let mut old = Log::over(file.clone(), FileNumber(8));
    (0..4).for_each(|_| old.append(100));
    let before = file.bytes();
    let mut new = Log::over(file.clone(), NUMBER);
    new.append(100);
    let mut bytes = file.bytes();
    let end = new.end();
    bytes[end..].copy_from_slice(&before[end..]);
    let (records, tail) = read(bytes);
    assert_eq!((records.len(), tail.unwrap()), (1, Tail::Clean));
}

#[test]
fn two_segments_are_read_one_by_one() {
    // A segment is full, the next goes on; neither speaks for the other.
    let mut first = Log::new(BLOCK_BYTES);
    while first.writer.fits(1000) {
        first.append(1000);
    }
    let mut second = Log::over(MemoryFile::zeros(BLOCK_BYTES), FileNumber(10));
    second.append(1000);
    assert!(read(first.file.bytes()).0 == first.records);
    let (records, tail) = read_as(second.file.bytes(), FileNumber(10));
    assert!(records == second.records);
    assert_eq!(tail.unwrap(), Tail::Clean);
    // Under a wrong number there is nothing to be read.
    let (records, tail) = read(second.file.bytes());
    assert_eq!((records.len(), tail.unwrap()), (0, Tail::Clean));
}

#[test]
fn a_failed_read_is_told_and_may_be_repeated() {
    // The file shrank under the reader: the error names file and block, and nothing is skipped.
    let mut log = Log::new(2 * BLOCK_BYTES);
    log.append(100);
    log.append(40_000);
    let file = MemoryFile::with(log.file.bytes());
    let mut reader = WalReader::new(std::sync::Arc::new(file.clone()), NUMBER);
    assert!(reader.next().unwrap().is_some());
    file.truncate(BLOCK_BYTES);
    for _ in 0..2 {
        let error = reader.next().unwrap_err();
        assert_eq!(
            (error.file(), error.offset()),
            (Some("000009.wal"), Some(32_768))
        );
    }
}

#[test]
fn garbage_never_panics() {
    // Random bytes, and random changes to a real log, over several blocks.
    let mut random = Random::new(3);
    let mut log = Log::new(3 * BLOCK_BYTES);
    (0..20).for_each(|_| log.append(4_000));
    for _ in 0..60 {
        let (records, _) = read(random.bytes(70_000));
        assert!(records.is_empty());
        let mut bytes = log.file.bytes();
        for _ in 0..1 + random.below(20) {
            let at = index(random.below(3 * BLOCK_BYTES as u64));
            bytes[at] = random.bytes(1)[0];
        }
        assert!(log.records.starts_with(&read(bytes).0));
    }
}

#[test]
fn the_mark_of_earlier_segments_proves_nothing_of_this_one() {
    // A power cut takes the sector of the first record, and spares a later record that says that
    // earlier segments are durable. Nothing of this segment was: its tail is torn, from the front.
    let mut log = Log::new(4096);
    log.append(16);
    log.writer.set_synced(EARLIER_DURABLE);
    log.append(600);
    let mut bytes = log.file.bytes();
    bytes[..31].fill(0);
    let (records, tail) = read(bytes);
    assert!(records.is_empty());
    assert!(matches!(tail.unwrap(), Tail::Torn { offset: 0, .. }));
}
