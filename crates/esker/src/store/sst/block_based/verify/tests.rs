//! Tests of `verify`.

use std::sync::Arc;

use crate::base::codec::compress::CompressionType;
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
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};
use crate::store::sst::props::Props;

const NUMBER: FileNumber = FileNumber(42);

#[test]
fn properties_that_count_bytes_wrong_are_damage() {
    // The same file with other properties behind it, under right checksums.
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
    let (before, footer) = bytes.split_at(bytes.len() - FOOTER_BYTES);
    let footer = footer.try_into().unwrap();
    let footer = Footer::decode(footer, NUMBER, before.len() as u64).unwrap();
    let verified = |props: &Props| {
        let file = MemoryFile::default();
        let compress = CompressionSettings {
            number: NUMBER,
            compression: CompressionType::None,
            zstd_level: 1,
        };
        let mut out = BlockWriter::new(Box::new(file.clone()), compress);
        out.write_bare(before).unwrap();
        let footer = Footer {
            props: out.write_plain(&props.encode()).unwrap(),
            ..footer
        };
        out.write_bare(&footer.encode(out.offset())).unwrap();
        out.sync().unwrap();
        let read = Arc::new(MemoryBytes(file.bytes()));
        let cache = Arc::new(ShardedCache::new(1 << 20));
        let reader = AnyReader::open(read, NUMBER, Comparator::Bytewise, cache).unwrap();
        reader.verify().map_err(|error| error.message().to_owned())
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
