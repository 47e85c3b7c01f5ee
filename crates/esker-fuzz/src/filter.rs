//! Any bytes as a filter, as properties, as range deletes and as an index block.

use esker::internals::base::types::comparator::Comparator;
use esker::internals::store::sst::filter::block::{FilterBuilder, read_filter};
use esker::internals::store::sst::index::block::IndexBlock;
use esker::internals::store::sst::props::Props;
use esker::internals::store::sst::range_deletes;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let comparator = Comparator::Bytewise;
    let (hashes, _) = bytes.as_chunks::<8>();
    if let Ok(filter) = read_filter(bytes) {
        hashes.iter().for_each(|hash| {
            filter.may_contain(u64::from_le_bytes(*hash));
        });
    }
    // What was added is never denied.
    let mut builder = FilterBuilder::new(10.0).expect("bits were asked for");
    hashes
        .iter()
        .for_each(|hash| builder.add(u64::from_le_bytes(*hash)));
    let filter = read_filter(&builder.finish()).expect("a filter that was built");
    for hash in hashes {
        assert!(filter.may_contain(u64::from_le_bytes(*hash)));
    }
    if let Ok(props) = Props::decode(bytes) {
        assert_eq!(
            Props::decode(&props.encode()).expect("what was encoded"),
            props
        );
    }
    if let Ok(mut list) = range_deletes::decode(&comparator, bytes) {
        let again = range_deletes::encode(&comparator, &mut list);
        assert_eq!(
            range_deletes::decode(&comparator, &again).expect("what was encoded"),
            list
        );
    }
    if let Ok(index) = IndexBlock::read(bytes) {
        let key = &bytes[..bytes.len().min(10)];
        let slot = index.first_not_before(&comparator, key, 0);
        assert!(slot <= index.len());
        (0..index.len()).for_each(|slot| assert!(index.handle(slot).end().is_some()));
    }
}
