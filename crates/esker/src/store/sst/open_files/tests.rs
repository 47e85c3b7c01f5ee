//! Tests of `open_files`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use esker_phrase::{Effort, Encoder, corpus};

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::call::ReadOptions;
use crate::base::options::sst::{QUICKEST_FIRST, SstOptions};
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::real::fs::RealFs;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::BuildSettings;

fn settings(number: FileNumber) -> BuildSettings {
    BuildSettings {
        number,
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression: CompressionType::first_built(&QUICKEST_FIRST),
        keyspace: KeyspaceId::DEFAULT,
        created_unix_s: 0,
    }
}

fn write(dir: &std::path::Path, number: FileNumber) {
    let file = RealFs.create(&dir.join(FileName::Sst(number).to_string()));
    let mut builder = AnyBuilder::block_based(file.unwrap(), settings(number));
    let trailer = Trailer::new(SeqNo::new(number.0), Kind::Put);
    builder
        .add(&key::encode(b"key", trailer), b"value")
        .unwrap();
    builder.finish().unwrap();
}

fn open_files(dir: &std::path::Path, max_open: usize) -> OpenFiles {
    let cache = Arc::new(BlockCache::new(1 << 20));
    OpenFiles::new(Arc::new(RealFs), dir, max_open, cache)
}

fn seqno_in(reader: &AnyReader) -> SeqNo {
    let found = reader.get(b"key", SeqNo::MAX, &ReadOptions::default());
    found.unwrap().unwrap().trailer.seqno()
}

#[test]
fn an_open_file_is_opened_once() {
    // The second call gets the very same reader; after `forget` a new one.
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), FileNumber(7));
    let files = open_files(dir.path(), 10);
    let first = files
        .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
        .unwrap();
    let second = files
        .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
        .unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(files.pinned_bytes(), first.pinned_bytes());
    files.forget(FileNumber(7));
    // Somebody holds it still, and with it its memory.
    let held_bytes = first.pinned_bytes();
    assert_eq!((files.open_count(), files.pinned_bytes()), (0, held_bytes));
    assert_eq!(seqno_in(&first), SeqNo::new(7));
    let third = files
        .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
        .unwrap();
    assert!(!Arc::ptr_eq(&first, &third));
    drop((first, second));
    assert_eq!(files.pinned_bytes(), third.pinned_bytes());
}

#[test]
fn files_that_nobody_holds_are_closed_for_their_memory() {
    // Memory for four files, and eight are read: those held stay open, beyond the bound if need
    // be, and of the others those that were opened last.
    let dir = tempfile::tempdir().unwrap();
    let numbers = write_all(dir.path(), 8);
    let files = open_files(dir.path(), 100);
    let open = |number| {
        files
            .get(number, &Comparator::Bytewise, |_| Ok(()))
            .unwrap()
    };
    let first = open(numbers[0]);
    let each = first.pinned_bytes();
    files.keep_within(4 * each + each / 2);
    assert!(files.has_room());
    for number in &numbers {
        open(*number);
    }
    assert_eq!(files.open_count(), 4);
    assert!(!files.has_room());
    assert!(Arc::ptr_eq(&first, &open(numbers[0])));
    files.keep_within(0);
    assert_eq!((files.open_count(), files.pinned_bytes()), (1, each));
    drop(first);
    files.keep_within(0);
    assert_eq!((files.open_count(), files.pinned_bytes()), (0, 0));
}

/// Writes the files from 1 to `count`.
fn write_all(dir: &std::path::Path, count: u64) -> Vec<FileNumber> {
    let numbers: Vec<FileNumber> = (1..=count).map(FileNumber).collect();
    numbers.iter().for_each(|number| write(dir, *number));
    numbers
}

#[test]
fn the_longest_unused_file_is_closed() {
    // Two may be open; the one in use stays, whatever else comes by.
    let dir = tempfile::tempdir().unwrap();
    let numbers = write_all(dir.path(), 9);
    let files = open_files(dir.path(), 1);
    let comparator = Comparator::Bytewise;
    for number in &numbers {
        assert_eq!(
            seqno_in(&files.get(*number, &comparator, |_| Ok(())).unwrap()).get(),
            number.0
        );
        assert_eq!(files.open_count(), 1);
    }
    // One shard of two files, so that the order of eviction can be seen.
    let files = open_files(dir.path(), 1);
    files.set_open_max(2);
    let used = files.get(FileNumber(1), &comparator, |_| Ok(())).unwrap();
    for number in &numbers[1..] {
        files.get(*number, &comparator, |_| Ok(())).unwrap();
        let again = files.get(FileNumber(1), &comparator, |_| Ok(())).unwrap();
        assert!(Arc::ptr_eq(&used, &again));
        assert_eq!(files.open_count(), 2);
    }
}

#[test]
fn what_somebody_holds_is_closed_last() {
    // Closing it would free nothing. Where all are held, the longest unused one goes.
    let dir = tempfile::tempdir().unwrap();
    let numbers = write_all(dir.path(), 4);
    let files = open_files(dir.path(), 1);
    files.set_open_max(2);
    let get = |number: usize| {
        files
            .get(numbers[number - 1], &Comparator::Bytewise, |_| Ok(()))
            .unwrap()
    };
    let first = get(1);
    drop(get(2));
    drop(get(2));
    let third = get(3);
    assert!(Arc::ptr_eq(&first, &get(1)) && Arc::ptr_eq(&third, &get(3)));
    drop(get(4));
    assert!(!Arc::ptr_eq(&first, &get(1)));
}

#[test]
fn the_bound_holds_over_all_shards() {
    // More files than may be open, of every number.
    let dir = tempfile::tempdir().unwrap();
    let files = open_files(dir.path(), 20);
    for number in (1..=60).map(FileNumber) {
        write(dir.path(), number);
        files
            .get(number, &Comparator::Bytewise, |_| Ok(()))
            .unwrap();
        assert!(files.open_count() <= 20);
    }
    assert!(files.pinned_bytes() > 0);
}

#[test]
fn a_missing_file_is_corruption_and_says_so() {
    // Somebody removed a file of the database by hand.
    let dir = tempfile::tempdir().unwrap();
    let error = open_files(dir.path(), 10)
        .get(FileNumber(5), &Comparator::Bytewise, |_| Ok(()))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains("missing"), "{error}");
    assert_eq!(error.file(), Some("000005.sst"));
}

#[test]
fn many_threads_share_few_files() {
    // Threads ask for more files than may be open; each gets the one it asked for.
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path(), 8);
    let files = open_files(dir.path(), 3);
    std::thread::scope(|scope| {
        for start in 0..4u64 {
            let files = &files;
            scope.spawn(move || {
                for step in 0..200 {
                    let number = FileNumber(1 + (start + step * 3) % 8);
                    let reader = files
                        .get(number, &Comparator::Bytewise, |_| Ok(()))
                        .unwrap();
                    assert_eq!(seqno_in(&reader).get(), number.0);
                    if step % 50 == 0 {
                        files.forget(number);
                    }
                }
            });
        }
    });
    assert!(files.open_count() <= 3);
    (1..=8).for_each(|number| files.forget(FileNumber(number)));
    assert_eq!(files.pinned_bytes(), 0);
}

#[test]
fn a_dictionary_is_counted_while_any_file_has_it() {
    // Two files with the same dictionary: whichever is closed first, it is counted once until the
    // other goes too.
    let dir = tempfile::tempdir().unwrap();
    let [_, dictionary] = corpus::dictionaries();
    let text = corpus::prose(&mut corpus::Dice::new(1), 600);
    for number in [FileNumber(1), FileNumber(2)] {
        let file = RealFs.create(&dir.path().join(FileName::Sst(number).to_string()));
        let encoder = Encoder::new(&dictionary, Effort::Fast);
        let settings = settings(number);
        let mut builder = AnyBuilder::searchable(file.unwrap(), settings, Some(encoder)).unwrap();
        let trailer = Trailer::new(SeqNo::new(number.0), Kind::Put);
        builder.add(&key::encode(b"key", trailer), &text).unwrap();
        builder.finish().unwrap();
    }
    for (first, second) in [(1, 2), (2, 1)] {
        let files = open_files(dir.path(), 10);
        let open = |number| {
            files
                .get(FileNumber(number), &Comparator::Bytewise, |_| Ok(()))
                .unwrap()
        };
        let (one, other) = (open(1), open(2));
        let (_, shared_bytes) = one.shared_memory().unwrap();
        assert_eq!(one.shared_memory(), other.shared_memory());
        let own_bytes = one.pinned_bytes();
        assert_eq!(files.pinned_bytes(), 2 * own_bytes + shared_bytes);
        drop((one, other));
        files.forget(FileNumber(first));
        assert_eq!(files.pinned_bytes(), own_bytes + shared_bytes);
        files.forget(FileNumber(second));
        assert_eq!(files.pinned_bytes(), 0);
    }
}

// A searchable file of some keys on the disk; its path and its text.
fn write_searchable(dir: &std::path::Path, number: FileNumber) -> (std::path::PathBuf, Vec<u8>) {
    let [_, dictionary] = corpus::dictionaries();
    let text = corpus::prose(&mut corpus::Dice::new(1), 600);
    let path = dir.join(FileName::Sst(number).to_string());
    let file = RealFs.create(&path).unwrap();
    let encoder = Encoder::new(&dictionary, Effort::Fast);
    let mut builder = AnyBuilder::searchable(file, settings(number), Some(encoder)).unwrap();
    for user_key in [b"key", b"kez"] {
        let trailer = Trailer::new(SeqNo::new(number.0), Kind::Put);
        builder.add(&key::encode(user_key, trailer), &text).unwrap();
    }
    builder.finish().unwrap();
    (path, text)
}

#[test]
fn a_map_outlives_the_name_of_its_file() {
    // The file is removed and another one takes its name, while somebody still reads the first.
    let dir = tempfile::tempdir().unwrap();
    let (path, text) = write_searchable(dir.path(), FileNumber(7));
    let files = open_files(dir.path(), 10).mapped(true);
    let reader = files
        .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
        .unwrap();
    files.forget(FileNumber(7));
    RealFs.remove_file(&path).unwrap();
    write(dir.path(), FileNumber(7));
    let found = reader.get(b"key", SeqNo::MAX, &ReadOptions::default());
    assert_eq!(found.unwrap().unwrap().value[..], text);
    assert!(
        !files
            .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
            .unwrap()
            .is_searchable()
    );
}

#[test]
fn a_cut_file_is_not_mapped() {
    // However much of its end is missing, opening is an error: nothing behind the end is looked at.
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = write_searchable(dir.path(), FileNumber(7));
    let whole = RealFs.open_read(&path).unwrap();
    let len = usize::try_from(whole.size_bytes()).unwrap();
    let mut bytes = vec![0; len];
    whole.read_at(0, &mut bytes).unwrap();
    let files = open_files(dir.path(), 10).mapped(true);
    files
        .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
        .unwrap();
    // Dictionaries are long, and what stands in front of them is not.
    for cut in (1..len).filter(|cut| cut % 97 == 0 || *cut < 300 || *cut > len - 300) {
        files.forget(FileNumber(7));
        let mut file = RealFs.create(&path).unwrap();
        file.append(&bytes[..len - cut]).unwrap();
        file.sync().unwrap();
        let error = files
            .get(FileNumber(7), &Comparator::Bytewise, |_| Ok(()))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{cut}");
        assert_eq!(error.file(), Some("000007.sst"), "{cut}");
    }
    // Cut behind the back of who has it open: by calls from now on, which can tell.
    assert!(whole.map(Unchanging::word()).is_none());
}
