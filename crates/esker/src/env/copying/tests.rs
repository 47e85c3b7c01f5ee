//! Tests of `copying`.

use std::path::Path;

use super::*;
use crate::env::copy::append_range;
use crate::env::fs::Fs;
use crate::env::random::Random;
use crate::env::sim::SimFs;

fn file_of(fs: &SimFs, bytes: &[u8]) -> Arc<dyn ReadFile> {
    let mut file = fs.create(Path::new("from")).unwrap();
    file.append(bytes).unwrap();
    file.sync().unwrap();
    fs.open_read(Path::new("from")).unwrap()
}

fn copied(fs: &SimFs) -> Vec<u8> {
    let file = fs.open_read(Path::new("to")).unwrap();
    let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn finish(copying: &CopyingFile) -> Result<()> {
    copying.copy_rest()?;
    copying.sync()
}

#[test]
fn whatever_is_read_the_copy_is_the_file() {
    // Mostly from front to back in pieces of any size, and then anywhere: each read has the bytes
    // of the file, and so has the copy in the end.
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let below = |random: &mut Random, end: usize| {
            usize::try_from(random.below(end as u64 + 1)).unwrap()
        };
        let fs = SimFs::new(seed);
        let len = match seed % 4 {
            0 => below(&mut random, 100),
            _ => below(&mut random, 3 << 20),
        };
        let bytes = random.bytes(len);
        let from = file_of(&fs, &bytes);
        let to = fs.create(Path::new("to")).unwrap();
        let copying = CopyingFile::new(from, to);
        let mut at = 0;
        for _ in 0..random.below(400) {
            if random.one_in(6) {
                at = below(&mut random, len);
            }
            let most = [10, 5_000, 40_000, 2 << 20][below(&mut random, 3)];
            let piece = below(&mut random, most).min(len - at);
            let mut read = Vec::new();
            match random.one_in(2) {
                true => copying.read_onto(at as u64, piece, &mut read).unwrap(),
                false => {
                    read = vec![0; piece];
                    copying.read_at(at as u64, &mut read).unwrap();
                }
            }
            assert!(read == bytes[at..at + piece], "seed {seed} at {at}");
            at += piece;
        }
        finish(&copying).unwrap();
        assert!(copied(&fs) == bytes, "seed {seed}");
        let there = fs.open_read(Path::new("to")).unwrap();
        copying.compare(&*there).unwrap();
    }
}

#[test]
fn what_is_read_in_order_is_read_once() {
    // And what the reader has seen is what is copied, though the file is another by then.
    let fs = SimFs::new(1);
    let bytes = Random::new(1).bytes(2 << 20);
    let from = file_of(&fs, &bytes);
    let copying = CopyingFile::new(from, fs.create(Path::new("to")).unwrap());
    let mut seen = Vec::new();
    for piece in 0..512 {
        copying.read_onto(piece * 4096, 4096, &mut seen).unwrap();
    }
    assert_eq!(copying.copy().to.size_bytes(), 2 << 20);
    let mut other = fs.create(Path::new("from")).unwrap();
    other.append(&vec![0; 2 << 20]).unwrap();
    other.sync().unwrap();
    finish(&copying).unwrap();
    assert!(copied(&fs) == seen);
}

#[test]
fn a_read_beyond_the_end_is_refused_as_by_the_file() {
    let fs = SimFs::new(2);
    let copying = CopyingFile::new(file_of(&fs, &[7; 100]), fs.create(Path::new("to")).unwrap());
    let mut buffer = [0; 60];
    copying.read_at(0, &mut buffer).unwrap();
    assert!(copying.read_at(50, &mut buffer).is_err());
    assert!(copying.read_at(u64::MAX, &mut buffer).is_err());
    let mut plain = fs.create(Path::new("plain")).unwrap();
    append_range(&copying, &mut *plain, 0..100).unwrap();
    finish(&copying).unwrap();
    assert_eq!(copied(&fs), [7; 100]);
}

#[test]
fn what_was_read_out_of_order_is_held_against_the_copy() {
    // The end is read first, as the footer of a file is; it is another one when the copy comes
    // there. What lies beside it may change, since nobody has looked at it.
    const LEN: usize = 1 << 20;
    for (changed, is_told) in [(LEN - 10, true), (LEN - 100, false)] {
        let fs = SimFs::new(3);
        let mut bytes = Random::new(3).bytes(LEN);
        let from = file_of(&fs, &bytes);
        let copying = CopyingFile::new(from, fs.create(Path::new("to")).unwrap());
        let mut end = [0; 50];
        copying.read_at((LEN - 50) as u64, &mut end).unwrap();
        assert!(end == bytes[LEN - 50..]);
        bytes[changed] ^= 1;
        let from = file_of(&fs, &bytes);
        let copying = CopyingFile { from, ..copying };
        finish(&copying).unwrap();
        let there = fs.open_read(Path::new("to")).unwrap();
        let compared = copying.compare(&*there);
        assert_eq!(compared.is_err(), is_told, "{changed}");
    }
}

#[test]
fn a_read_longer_than_a_piece_is_copied_too() {
    let fs = SimFs::new(4);
    let bytes = Random::new(4).bytes(3 << 20);
    let copying = CopyingFile::new(file_of(&fs, &bytes), fs.create(Path::new("to")).unwrap());
    let mut read = Vec::new();
    copying.read_onto(0, 1000, &mut read).unwrap();
    copying.read_onto(1000, 2 << 20, &mut read).unwrap();
    assert!(read == bytes[..1000 + (2 << 20)]);
    assert!(copying.copy().asides.is_empty());
    assert!(copying.copy().to.size_bytes() >= 2 << 20);
    finish(&copying).unwrap();
    assert!(copied(&fs) == bytes);
}
