//! Tests of reading what damage left.

use super::*;
use crate::base::types::ids::FileNumber;
use crate::store::wal::format::{BLOCK_BYTES, HEADER_SPAN};
use crate::store::wal::memory_file::MemoryFile;
use crate::store::wal::writer::WalWriter;

const NAME: FileName = FileName::Wal(FileNumber(9));

// What the walk yields: records as their first byte and length, gaps as they are.
#[derive(Debug, PartialEq)]
enum Found {
    Record(u8, usize),
    Gap(u64, u64, u64),
}

fn walk(file: &MemoryFile) -> Vec<Found> {
    let mut walk = WalSalvage::new(file.read_file(), NAME);
    let mut found = Vec::new();
    while let Some(step) = walk.next().unwrap() {
        found.push(match step {
            Salvaged::Record { payload, .. } => Found::Record(payload[0], payload.len()),
            Salvaged::Gap(gap) => Found::Gap(gap.offset, gap.damaged_at, gap.end),
        });
    }
    found
}

// Records of these lengths, filled with 1, 2, 3…; returns where each ends.
fn log_of(lens: &[usize]) -> (MemoryFile, Vec<u64>) {
    let file = MemoryFile::zeros(8 * BLOCK_BYTES);
    let mut writer = WalWriter::new(file.log_file(), FileNumber(9));
    let ends = (1..)
        .zip(lens)
        .map(|(byte, &len)| writer.append(&vec![byte; len]).unwrap());
    let ends = ends.collect();
    (file, ends)
}

fn flip(file: &MemoryFile, offset: u64) -> MemoryFile {
    let mut bytes = file.bytes();
    bytes[usize::try_from(offset).unwrap()] ^= 0x10;
    MemoryFile::with(bytes)
}

#[test]
fn a_record_inside_a_block_is_lost_alone() {
    // Damage in the second of three records: the third follows in the same block.
    let (file, ends) = log_of(&[50, 60, 70]);
    let found = walk(&flip(&file, ends[0] + 20));
    let gap = Found::Gap(ends[0], ends[0], ends[1]);
    assert_eq!(found, [Found::Record(1, 50), gap, Found::Record(3, 70)]);
}

#[test]
fn a_record_of_many_blocks_is_lost_whole() {
    // Its middle is damaged: beginning and end are no records of their own.
    let (file, ends) = log_of(&[50, 100_000, 70]);
    let found = walk(&flip(&file, BLOCK_SPAN + 3));
    let gap = Found::Gap(ends[0], BLOCK_SPAN, ends[1]);
    assert_eq!(found, [Found::Record(1, 50), gap, Found::Record(3, 70)]);
}

#[test]
fn two_gaps_are_told_apart() {
    // Damage at the very first byte and in the last record: two gaps, two records left.
    let (file, ends) = log_of(&[50, 60, 70, 80]);
    let found = walk(&flip(&flip(&file, 0), ends[2]));
    let expected = [
        Found::Gap(0, 0, ends[0]),
        Found::Record(2, 60),
        Found::Record(3, 70),
        Found::Gap(ends[2], ends[2], ends[3]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_end_of_one_record_is_not_joined_to_the_beginning_of_another() {
    // A hole swallows the end of one long record and the beginning of the next.
    let (file, ends) = log_of(&[60_000, 60_000, 10]);
    let mut bytes = file.bytes();
    bytes[BLOCK_BYTES..2 * BLOCK_BYTES].fill(0);
    assert!((BLOCK_SPAN..2 * BLOCK_SPAN).contains(&ends[0]));
    let found = walk(&MemoryFile::with(bytes));
    assert_eq!(
        found,
        [Found::Gap(0, BLOCK_SPAN, ends[1]), Found::Record(3, 10)]
    );
}

#[test]
fn a_beginning_followed_by_a_beginning_is_a_gap() {
    // The end of a long record was lost at the segment's end of an older page: what stands there
    // is another valid record.
    let (long, _) = log_of(&[40_000]);
    let (other, _) = log_of(&[BLOCK_BYTES - 15, 30]);
    let mut bytes = long.bytes();
    bytes[BLOCK_BYTES..].copy_from_slice(&other.bytes()[BLOCK_BYTES..]);
    let found = walk(&MemoryFile::with(bytes));
    assert_eq!(
        found,
        [Found::Gap(0, BLOCK_SPAN, BLOCK_SPAN), Found::Record(2, 30)]
    );
}

#[test]
fn a_copy_of_a_log_inside_a_value_is_not_a_record() {
    // A user stores a log's bytes as a value; the value is damaged, the copy must not speak.
    let (inner, ends) = log_of(&[50, 60, 70]);
    let copy = inner.bytes()[..usize::try_from(ends[2]).unwrap()].to_vec();
    let file = MemoryFile::zeros(BLOCK_BYTES);
    let mut writer = WalWriter::new(file.log_file(), FileNumber(9));
    let end = writer.append(&copy).unwrap();
    assert_eq!(
        walk(&flip(&file, HEADER_SPAN + 40)),
        [Found::Gap(0, 0, end)]
    );
}
