//! Tests of `reader`.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_phrase::{Effort, Encoder, corpus};

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::env::fs::ReadFile;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};
use crate::store::sst::opening::RawFooter;
use crate::store::sst::searchable::builder::SearchableBuilder;

/// A file that can be made to fail.
struct Vanishing {
    bytes: MemoryBytes,
    is_gone: AtomicBool,
}

impl ReadFile for Vanishing {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        if self.is_gone.load(Ordering::SeqCst) {
            return Err(Error::corruption("it is gone"));
        }
        self.bytes.read_at(offset, buffer)
    }

    fn size_bytes(&self) -> u64 {
        self.bytes.size_bytes()
    }

    fn prefetch(&self, _: u64, _: u64) {}
}

fn settings() -> BuildSettings {
    BuildSettings {
        number: FileNumber(3),
        comparator: Comparator::Bytewise,
        sst: SstOptions {
            block_size_bytes: 400,
            ..SstOptions::default()
        },
        compression: CompressionType::None,
        keyspace: KeyspaceId(1),
        created_unix_s: 0,
    }
}

// Five hundred keys with long ends of their own, in pages of some dozens.
fn build() -> (Vec<u8>, Vec<Vec<u8>>) {
    let file = MemoryFile::default();
    let mut builder = SearchableBuilder::new(Box::new(file.clone()), settings(), None).unwrap();
    let mut keys = Vec::new();
    for number in 0..500 {
        let user_key = format!("{number:03}, and a tail that no page needs").into_bytes();
        let trailer = Trailer::new(SeqNo::new(number), Kind::Put);
        let internal = key::encode(&user_key, trailer);
        builder.add(&internal, &number.to_le_bytes()).unwrap();
        keys.push(user_key);
    }
    builder.finish().unwrap();
    (file.bytes(), keys)
}

fn try_open(bytes: Vec<u8>) -> Result<SearchableReader> {
    let cache = Arc::new(BlockCache::new(1 << 20));
    let file = Arc::new(MemoryBytes(bytes));
    let footer = RawFooter::read(&*file, FileNumber(3))?;
    let footer = footer.decode(Footer::decode)?;
    let source = BlockSource::new(file, FileNumber(3), cache);
    SearchableReader::open(source, &footer, Comparator::Bytewise)
}

fn open(bytes: Vec<u8>) -> SearchableReader {
    try_open(bytes).unwrap()
}

#[test]
fn an_ordinal_leads_to_its_key() {
    // Every one of them, and two that are beyond the end.
    let (bytes, keys) = build();
    let reader = open(bytes);
    assert!(reader.page_count() > 5);
    let options = ReadOptions::default();
    for (ordinal, user_key) in keys.iter().enumerate() {
        let found = reader.key_at(ordinal as u64, &options).unwrap();
        assert_eq!(found.as_ref(), Some(user_key));
    }
    for ordinal in [500, u64::MAX] {
        assert_eq!(reader.key_at(ordinal, &options).unwrap(), None);
    }
}

#[test]
fn a_damaged_record_is_not_a_missing_key() {
    // The key's tail is wrong, so it looks like another key: an error, and not "nothing there".
    // Its neighbours stay readable.
    let (mut bytes, keys) = build();
    let at = bytes.windows(3).position(|bytes| bytes == b"tai").unwrap();
    bytes[at] ^= 1;
    let reader = open(bytes);
    let get = |key: &[u8]| reader.get(key, SeqNo::MAX, &ReadOptions::default());
    let error = get(&keys[0]).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Corruption, Some(0))
    );
    assert_eq!(error.file(), Some("000003.sst"));
    assert!(get(&keys[1]).unwrap().is_some());
}

#[test]
fn a_key_that_only_begins_like_another_is_not_there() {
    // Keys between, before and behind those that are there, and ones that are cut or go on.
    let (bytes, keys) = build();
    let reader = open(bytes);
    for user_key in &keys {
        for (cut, more) in [(1, &b""[..]), (2, b"zz"), (0, b" and more"), (30, b"")] {
            let other = [&user_key[..user_key.len() - cut], more].concat();
            let found = reader.get(&other, SeqNo::MAX, &ReadOptions::default());
            assert_eq!(found.unwrap(), None);
        }
    }
}

#[test]
fn a_file_with_a_dictionary_is_right_or_damaged() {
    // Text as phrases. Every third byte of the file, its dictionary included, is damaged in turn:
    // each key then has its value, or fails.
    let [dictionary, _] = corpus::dictionaries();
    let mut dice = corpus::Dice::new(3);
    let rows: Vec<(String, Vec<u8>)> = (0..12)
        .map(|number| (format!("{number:03}/end"), corpus::prose(&mut dice, 100)))
        .collect();
    let file = MemoryFile::default();
    let phrases = Encoder::new(&dictionary, Effort::Best);
    let mut builder =
        SearchableBuilder::new(Box::new(file.clone()), settings(), Some(phrases)).unwrap();
    for (user_key, value) in &rows {
        let trailer = Trailer::new(SeqNo::new(1), Kind::Put);
        builder
            .add(&key::encode(user_key.as_bytes(), trailer), value)
            .unwrap();
    }
    builder.finish().unwrap();
    let good = file.bytes();
    assert_eq!(
        open(good.clone()).dictionary().map(|own| own.to_bytes()),
        Some(dictionary.to_bytes())
    );
    let mut failed = 0;
    for at in (0..good.len()).step_by(3).chain([usize::MAX]) {
        let mut bytes = good.clone();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << (at % 8);
        }
        let is_whole = bytes == good;
        let Ok(reader) = try_open(bytes) else {
            failed += 1;
            continue;
        };
        for (user_key, value) in &rows {
            match reader.get(user_key.as_bytes(), SeqNo::MAX, &ReadOptions::default()) {
                Ok(found) => assert_eq!(&found.unwrap().value[..], value),
                Err(_) => failed += usize::from(!is_whole),
            }
        }
    }
    assert!(failed >= good.len() / 3);
}

#[test]
fn a_record_read_before_is_read_from_memory() {
    // The file is destroyed behind the reader's back: what was read with the cache filled stays
    // readable, also under other names that begin alike; what was read past it does not.
    let (bytes, keys) = build();
    let cache = Arc::new(BlockCache::new(1 << 20));
    let file = Arc::new(Vanishing {
        bytes: MemoryBytes(bytes),
        is_gone: AtomicBool::new(false),
    });
    let footer = RawFooter::read(&*file, FileNumber(3)).unwrap();
    let comparator = Comparator::Bytewise;
    let footer = footer.decode(Footer::decode).unwrap();
    let source = BlockSource::new(file.clone(), FileNumber(3), cache);
    let reader = SearchableReader::open(source, &footer, comparator).unwrap();
    let past = ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    };
    let get = |key: &[u8], options: &ReadOptions| reader.get(key, SeqNo::MAX, options);
    let usual = ReadOptions::default();
    let kept = get(&keys[7], &usual).unwrap();
    assert_eq!(kept.as_ref().unwrap().value[..], 7u64.to_le_bytes());
    assert!(get(&keys[8], &past).unwrap().is_some());
    file.is_gone.store(true, Ordering::SeqCst);
    assert_eq!(get(&keys[7], &past).unwrap(), kept);
    let longer = [&keys[7][..], b"s"].concat();
    let shorter = &keys[7][..keys[7].len() - 1];
    for other in [&longer, shorter] {
        assert_eq!(get(other, &past).unwrap(), None);
    }
    assert!(get(&keys[8], &usual).is_err());
}

#[test]
fn keys_with_one_hash_are_told_apart() {
    // Two keys with the same fingerprint, asked for as if all of their hashes were the same: what
    // the cache has of the one is not the other's.
    let (bytes, keys) = build();
    let reader = open(bytes);
    let fingerprint = |key: &Vec<u8>| fingerprint_of(hash64(key));
    let one = &keys[0];
    let alike = |key: &&Vec<u8>| *key != one && fingerprint(key) == fingerprint(one);
    let other = keys.iter().find(alike).unwrap();
    for user_key in [one, other, one, other] {
        let options = ReadOptions::default();
        let found = reader.get_hashed(user_key, hash64(one), SeqNo::MAX, &options);
        let number = keys.iter().position(|key| key == user_key).unwrap() as u64;
        assert_eq!(found.unwrap().unwrap().value[..], number.to_le_bytes());
    }
}

#[test]
fn a_cached_record_is_not_shown_to_an_older_reader() {
    // The newest entry of a key comes into the cache; who reads an older moment sees the one
    // before, or none, and leaves nothing there for those who read now.
    let file = MemoryFile::default();
    let mut builder = SearchableBuilder::new(Box::new(file.clone()), settings(), None).unwrap();
    for (seqno, value) in [(9, b"new"), (5, b"old")] {
        let trailer = Trailer::new(SeqNo::new(seqno), Kind::Put);
        builder.add(&key::encode(b"key", trailer), value).unwrap();
    }
    builder.finish().unwrap();
    let reader = open(file.bytes());
    let get = |seqno| {
        let found = reader.get(b"key", SeqNo::new(seqno), &ReadOptions::default());
        found.unwrap().map(|found| found.value.to_vec())
    };
    for _ in 0..2 {
        assert_eq!(get(8).unwrap(), b"old");
        assert_eq!(get(9).unwrap(), b"new");
        assert_eq!(get(100).unwrap(), b"new");
        assert_eq!(get(4), None);
    }
}
