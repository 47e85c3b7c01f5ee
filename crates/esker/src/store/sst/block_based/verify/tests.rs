//! Tests of `verify`.

use std::sync::Arc;

use crate::base::codec::compress::CompressionType;
use crate::base::codec::reader::ByteReader;
use crate::base::options::sst::SstOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::writer::{BlockWriter, CompressionSettings};
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::format::{FOOTER_BYTES, Footer};
use crate::store::sst::index::block::IndexBlock;
use crate::store::sst::index::builder::IndexBuilder;
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};
use crate::store::sst::props::Props;

const NUMBER: FileNumber = FileNumber(42);

// What a file has before its footer, and that.
fn split(bytes: &[u8]) -> (&[u8], Footer) {
    let (before, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
    let footer = footer.try_into().unwrap();
    let footer = Footer::decode(footer, NUMBER, before.len() as u64).unwrap();
    (before, footer)
}

// What `verify` says of a file with something else behind those bytes, under right checksums: what
// `write` adds, and its footer.
fn verified_behind(
    before: &[u8],
    write: impl FnOnce(&mut BlockWriter) -> Footer,
) -> Result<(), String> {
    let file = MemoryFile::default();
    let compress = CompressionSettings {
        number: NUMBER,
        compression: CompressionType::None,
        zstd_level: 1,
    };
    let mut out = BlockWriter::new(Box::new(file.clone()), compress);
    out.write_bare(before).unwrap();
    let footer = write(&mut out);
    out.write_bare(&footer.encode(out.offset())).unwrap();
    out.sync().unwrap();
    let read = Arc::new(MemoryBytes(file.bytes()));
    let cache = Arc::new(ShardedCache::new(1 << 20));
    let reader = AnyReader::open(read, NUMBER, Comparator::Bytewise, cache).unwrap();
    reader.verify().map_err(|error| error.message().to_owned())
}

#[test]
fn properties_that_count_bytes_wrong_are_damage() {
    // The same file with other properties behind it.
    let file = MemoryFile::default();
    let settings = BuildSettings {
        number: NUMBER,
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression: CompressionType::None,
        keyspace: KeyspaceId(1),
        created_unix_s: 0,
    };
    let mut builder = AnyBuilder::block_based(Box::new(file.clone()), settings);
    for number in 0..100u64 {
        let trailer = Trailer::new(SeqNo::new(number), Kind::Put);
        let internal_key = key::encode(&number.to_be_bytes(), trailer);
        builder.add(&internal_key, b"a value").unwrap();
    }
    let props = builder.finish().unwrap().props;
    let bytes = file.bytes();
    let (before, footer) = split(&bytes);
    let verified = |props: &Props| {
        verified_behind(before, |out| Footer {
            props: out.write_plain(&props.encode()).unwrap(),
            ..footer
        })
    };
    assert_eq!(verified(&props), Ok(()));
    let mut wrong = props.clone();
    wrong.raw_key_bytes += 1;
    assert!(verified(&wrong).unwrap_err().contains("bytes of keys"));
    let mut wrong = props.clone();
    wrong.raw_value_bytes -= 1;
    assert!(verified(&wrong).unwrap_err().contains("bytes of values"));
    // What no count tells is held against what was found as well.
    let wrongs: [fn(&mut Props); 3] = [
        |props| props.key_count += 1,
        |props| props.largest_seqno = SeqNo::new(100),
        |props| props.smallest = b"a".to_vec().into(),
    ];
    for make_wrong in wrongs {
        let mut wrong = props.clone();
        make_wrong(&mut wrong);
        let told = verified(&wrong).unwrap_err();
        assert!(told.contains("its properties say"), "{told}");
    }
}

type Separators = Vec<(Vec<u8>, u64)>;

// As the table in `index/block` says.
fn separators_of(plain: &[u8]) -> Separators {
    let mut reader = ByteReader::new(plain);
    let mut separators = Separators::new();
    reader.varint().unwrap();
    while !reader.is_empty() {
        let shared = reader.varint_usize().unwrap();
        let last = separators.last().map_or(&[][..], |last| &last.0[..]);
        let key = [&last[..shared], reader.prefixed().unwrap()].concat();
        separators.push((key, reader.varint().unwrap()));
        reader.varint().unwrap();
        reader.varint().unwrap();
    }
    separators
}

// What `verify` says of a file whose index has other separators, under right checksums.
fn verified_with(change: impl Fn(&mut Separators)) -> Result<(), String> {
    let file = MemoryFile::default();
    let settings = BuildSettings {
        number: NUMBER,
        comparator: Comparator::Bytewise,
        sst: SstOptions {
            block_size_bytes: 256,
            ..SstOptions::default()
        },
        compression: CompressionType::None,
        keyspace: KeyspaceId(1),
        created_unix_s: 0,
    };
    let mut builder = AnyBuilder::block_based(Box::new(file.clone()), settings);
    for number in 0..1_000u64 {
        // Twenty entries of each key fill more than a block, so separators have trailers.
        let key = (number - number % 20).to_be_bytes();
        let trailer = Trailer::new(SeqNo::new(5_000 - number), Kind::Put);
        builder
            .add(&key::encode(&key, trailer), b"a value")
            .unwrap();
    }
    builder.finish().unwrap();
    let bytes = file.bytes();
    let (before, footer) = split(&bytes);
    assert!(!footer.is_index_partitioned);
    let start = usize::try_from(footer.index.offset).unwrap();
    let plain = &before[start..start + footer.index.compressed_len as usize];
    let index = IndexBlock::read(plain).unwrap();
    let mut separators = separators_of(plain);
    assert!(separators.len() > 10 && separators.iter().any(|it| it.1 > 0));
    change(&mut separators);
    let mut changed = IndexBuilder::default();
    for (slot, (key, trailer)) in separators.iter().enumerate() {
        changed.add(key, *trailer, index.handle(slot));
    }
    verified_behind(before, |out| Footer {
        index: out.write_plain(&changed.encode(0..changed.len())).unwrap(),
        ..footer
    })
}

#[test]
fn an_index_that_leads_past_an_entry_is_damage() {
    assert_eq!(verified_with(|_| {}), Ok(()));
    let count = {
        let counted = std::cell::Cell::new(0);
        verified_with(|separators| counted.set(separators.len())).unwrap();
        counted.get()
    };
    for slot in 0..count - 1 {
        // The last entries of the block are behind its separator.
        let told = verified_with(|it| it[slot + 1] = it[slot].clone()).unwrap_err();
        assert_eq!(told, "the index leads past an entry", "{slot}");
        // The first entries of the next one are not.
        let told = verified_with(|it| it[slot] = it[slot + 1].clone()).unwrap_err();
        assert_eq!(told, "the index leads past an entry", "{slot}");
        let told = verified_with(|it| it.swap(slot, slot + 1)).unwrap_err();
        assert!(told.contains("out of order"), "{slot}: {told}");
    }
}
