//! Tests of `builder`.

use super::*;
use crate::base::options::sst::SstOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::sst::memory_file::MemoryFile;

fn settings() -> BuildSettings {
    BuildSettings {
        number: FileNumber(3),
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression: CompressionType::None,
        keyspace: KeyspaceId(1),
        created_unix_s: 0,
    }
}

#[test]
fn keys_take_few_bytes_in_their_pages() {
    // Twenty thousand keys as reviews have them, 25 bytes each, under one sequence number: what
    // is needed to find a record is about six bytes a key, of which one is the fingerprint.
    let mut random = Random::new(1);
    let mut letters = |count: usize| -> String {
        let letter = |random: &mut Random| char::from(b'A' + random.below(26) as u8);
        (0..count).map(|_| letter(&mut random)).collect()
    };
    let mut keys: Vec<String> = Vec::new();
    for _ in 0..2000 {
        let product = format!("B0{}", letters(8));
        keys.extend((0..10).map(|_| format!("{product}/{}", letters(14))));
    }
    keys.sort();
    let mut builder =
        SearchableBuilder::new(Box::new(MemoryFile::default()), settings(), None).unwrap();
    let trailer = Trailer::new(SeqNo::ZERO, Kind::Put);
    for key in &keys {
        let internal = key::encode(key.as_bytes(), trailer);
        builder.add(&internal, &[7; 50]).unwrap();
    }
    let estimate = builder.size_estimate();
    let finished = builder.finish().unwrap();
    let bytes_a_key = finished.props.index_bytes as f64 / keys.len() as f64;
    assert!(bytes_a_key < 6.5, "{bytes_a_key}");
    assert!(estimate.abs_diff(finished.size_bytes) < finished.size_bytes / 50);
}

#[test]
fn many_versions_of_a_key_wait_for_nothing() {
    // A thousand entries of one key: each is written when the next one comes, so what the
    // builder holds does not grow with them.
    let file = MemoryFile::default();
    let mut builder = SearchableBuilder::new(Box::new(file.clone()), settings(), None).unwrap();
    for number in (0..1000).rev() {
        let trailer = Trailer::new(SeqNo::new(number), Kind::Merge);
        builder
            .add(&key::encode(b"counter", trailer), &[7; 500])
            .unwrap();
    }
    assert!(file.bytes().len() > 999 * 500);
    assert_eq!(builder.finish().unwrap().props.key_count, 1);
}
