//! Tests of `salvage`.

use std::ops::Range;

use super::*;
use crate::base::options::sst::SstOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::ids::FileNumber;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

const NUMBER: FileNumber = FileNumber(9);

fn rows() -> Rows {
    let row = |number: u64| {
        let trailer = Trailer::new(SeqNo::new(1000 - number), Kind::Put);
        let key = format!("key {number:04}");
        let value = format!("value number {number} of {}", number * number);
        (key::encode(key.as_bytes(), trailer), value.into_bytes())
    };
    (0..150).map(row).collect()
}

fn build(is_searchable: bool, index_partition_bytes: usize) -> Vec<u8> {
    let sst = SstOptions {
        block_size_bytes: 256,
        index_partition_bytes,
        ..SstOptions::default()
    };
    let settings = BuildSettings {
        number: NUMBER,
        comparator: Comparator::Bytewise,
        compression: sst.compression.of_blocks(),
        sst,
        keyspace: KeyspaceId(3),
        created_unix_s: 1,
    };
    let file = MemoryFile::default();
    let mut builder = match is_searchable {
        true => AnyBuilder::searchable(Box::new(file.clone()), settings, None).unwrap(),
        false => AnyBuilder::block_based(Box::new(file.clone()), settings),
    };
    for (key, value) in rows() {
        builder.add(&key, &value).unwrap();
    }
    let range_delete = RangeDelete {
        start: Bytes::from(b"a".to_vec()),
        end: Bytes::from(b"b".to_vec()),
        seqno: SeqNo::new(7),
    };
    builder.add_range_delete(&range_delete);
    builder.finish().unwrap();
    file.bytes()
}

fn salvage(bytes: Vec<u8>) -> (Rows, Vec<LostPart>, usize) {
    let file = Arc::new(MemoryBytes(bytes));
    let cache = Arc::new(ShardedCache::new(1 << 20));
    let remains = SstRemains::read(file, NUMBER.into(), Comparator::Bytewise, cache).unwrap();
    let mut found = Rows::new();
    let lost = remains.save(&mut |key, value| {
        found.push((key.to_vec(), value.to_vec()));
        Ok(())
    });
    let range_deletes = remains.range_deletes().len();
    assert!(range_deletes == 1 || remains.lost_range_deletes().is_some());
    (found, lost.unwrap(), range_deletes)
}

// Whatever is gone lies in a part that is told; gives how many entries are gone.
fn check(bytes: Vec<u8>, what: &str) -> usize {
    let (found, lost, _) = salvage(bytes);
    let mut left = found.iter().peekable();
    let mut gone = 0;
    for row in rows() {
        if left.next_if(|found| **found == row).is_some() {
            continue;
        }
        gone += 1;
        let user_key = key::user_key(&row.0);
        let is_told = lost.iter().any(|part| {
            part.after.as_ref().is_none_or(|after| &**after <= user_key)
                && part
                    .before
                    .as_ref()
                    .is_none_or(|before| user_key <= &**before)
        });
        assert!(
            is_told,
            "{what}: {} is gone, and {lost:?}",
            user_key.escape_ascii()
        );
    }
    assert_eq!(left.next(), None, "{what}: there is more than was written");
    gone
}

fn each_kind(mut test: impl FnMut(&str, &[u8])) {
    test("blocks", &build(false, 1 << 20));
    test("partitions", &build(false, 100));
    test("searchable", &build(true, 1 << 20));
}

#[test]
fn a_whole_file_is_saved_whole() {
    each_kind(|kind, bytes| {
        let (found, lost, range_deletes) = salvage(bytes.to_vec());
        assert!(
            found == rows() && lost.is_empty() && range_deletes == 1,
            "{kind}: {lost:?}"
        );
    });
}

#[test]
fn a_wrong_byte_anywhere_costs_no_more_than_what_it_is_in() {
    // A block of 256 bytes has some six entries, a key page some 40, a record one.
    each_kind(|kind, bytes| {
        let most = if kind == "searchable" { 150 } else { 12 };
        let mut gone_most = 0;
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 0x20;
            let gone = check(damaged, &format!("{kind}, byte {at}"));
            gone_most = gone_most.max(gone);
            assert!(gone <= most, "{kind}, byte {at}: {gone} are gone");
        }
        assert!(gone_most > 0, "{kind}: damage did nothing");
    });
}

#[test]
fn index_and_footer_may_both_be_lost() {
    // The end of the file is gone: blocks are found one behind the other.
    let bytes = build(false, 1 << 20);
    let footer = bytes.len() - FOOTER_BYTES;
    let zeroed = |range: Range<usize>| {
        let mut damaged = bytes.clone();
        damaged[range].fill(0);
        damaged
    };
    assert_eq!(check(zeroed(footer..bytes.len()), "no footer"), 0);
    assert_eq!(
        check(zeroed(footer - 60..bytes.len()), "no footer, no properties"),
        0
    );
    let gone = check(bytes[..bytes.len() / 2].to_vec(), "half of it");
    assert!((60..90).contains(&gone), "{gone} are gone");
    let mut damaged = zeroed(footer - 60..bytes.len());
    damaged[700] ^= 1;
    let gone = check(damaged, "no index, and a damaged block");
    assert!((1..12).contains(&gone), "{gone} are gone");
}

#[test]
fn a_searchable_file_without_its_footer_is_found_from_its_end() {
    let bytes = build(true, 1 << 20);
    let footer = bytes.len() - FOOTER_BYTES;
    let mut damaged = bytes.clone();
    damaged[footer..].fill(0);
    assert_eq!(check(damaged, "no footer"), 0);
}
