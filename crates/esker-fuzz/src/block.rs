//! Any bytes as a block, read in every way: an error or entries, never a panic or a circle.
//! Any keys built into a block: all of them back, both ways and one by one.

use std::collections::BTreeSet;

use esker::internals::base::codec::checksum::hash64;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::cursor::Way;
use esker::internals::base::types::entry_chunk::{EntryChunk, Terms};
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::store::sst::block::builder::BlockBuilder;
use esker::internals::store::sst::block::checked::Checked;
use esker::internals::store::sst::block::cursor::BlockCursor;
use esker::internals::store::sst::block::point::{Wanted, find};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    damaged(bytes);
    built(bytes);
}

// What is no block of ours may read differently forward and backward, as where a restart points
// into an entry: checksums stand in front of this. It must come to an end, though.
fn damaged(bytes: &[u8]) {
    let Ok(block) = Checked::new(bytes.to_vec()) else {
        return;
    };
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    let mut keys = Vec::new();
    let mut moved = cursor.seek_to_first();
    while matches!(moved, Ok(true)) {
        keys.push(cursor.key().to_vec());
        moved = cursor.next();
    }
    // An entry takes eleven bytes at least, but from each restart on they may be read again.
    let mut steps_left = bytes.len() * bytes.len();
    let mut moved = cursor.seek_to_last();
    while matches!(moved, Ok(true)) {
        steps_left = steps_left.checked_sub(1).expect("the way back has an end");
        moved = cursor.prev();
    }
    for way in [Way::Forward, Way::Back] {
        // Any answer will do, as long as there is one.
        let _ = gathered(&block, way);
    }
    let comparator = Comparator::Bytewise;
    for internal in keys.iter().take(20) {
        // Any answer will do, as long as there is one.
        let _ = cursor.seek(&comparator, internal);
        let (key, newest) = key::split(internal);
        let hash = hash64(key);
        // Any answer will do, as long as there is one.
        let _ = find(&block, &comparator, Wanted { key, hash, newest });
    }
    let newest = Trailer::seek(SeqNo::MAX);
    let (key, hash) = (b"key".as_slice(), hash64(b"key"));
    // Any answer will do, as long as there is one.
    let _ = find(&block, &comparator, Wanted { key, hash, newest });
}

// The user keys of a block, up to what is damaged, by the chunk where that goes.
fn gathered(block: &Checked, way: Way) -> Vec<Vec<u8>> {
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    let mut chunk = EntryChunk::default();
    let mut keys = Vec::new();
    let mut moved = match way {
        Way::Forward => cursor.seek_to_first(),
        Way::Back => cursor.seek_to_last(),
    };
    while matches!(moved, Ok(true)) {
        assert!(keys.len() <= block.entries().len() * block.entries().len());
        let terms = Terms {
            comparator: &Comparator::Bytewise,
            at: SeqNo::MAX,
            limit: None,
            count_max: 2 + keys.len() % 40,
        };
        keys.push(key::user_key(cursor.key()).to_vec());
        if cursor.gather(way, &terms, &mut chunk) {
            keys.pop();
            keys.push(chunk.user_key().to_vec());
            while match way {
                Way::Forward => chunk.step(),
                Way::Back => chunk.step_back(),
            } {
                keys.push(chunk.user_key().to_vec());
            }
        }
        moved = match way {
            Way::Forward => cursor.next(),
            Way::Back => cursor.prev(),
        };
    }
    keys
}

fn built(bytes: &[u8]) {
    let Some((&shape, rest)) = bytes.split_first() else {
        return;
    };
    // Zero bytes part the keys, so that short and alike ones come up by themselves.
    let keys: BTreeSet<&[u8]> = rest.split(|byte| *byte == 0).collect();
    let put = Trailer::new(SeqNo::new(1), Kind::Put);
    let internal: Vec<Vec<u8>> = keys.iter().map(|key| key::encode(key, put)).collect();
    let mut builder = BlockBuilder::new(usize::from(shape % 20), shape >= 128);
    for (key, internal) in keys.iter().zip(&internal) {
        builder.add(internal, hash64(key), key);
    }
    let block = Checked::new(builder.finish().to_vec()).expect("a block just built");
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    let mut forward = Vec::new();
    let mut is_there = cursor.seek_to_first().expect("a sound block");
    while is_there {
        forward.push(cursor.key().to_vec());
        is_there = cursor.next().expect("a sound block");
    }
    assert_eq!(forward, internal);
    let mut backward = Vec::new();
    let mut is_there = cursor.seek_to_last().expect("a sound block");
    while is_there {
        backward.push(cursor.key().to_vec());
        is_there = cursor.prev().expect("a sound block");
    }
    backward.reverse();
    assert_eq!(backward, internal);
    let mut by_chunk = gathered(&block, Way::Forward);
    assert!(by_chunk.iter().eq(keys.iter()));
    by_chunk = gathered(&block, Way::Back);
    by_chunk.reverse();
    assert!(by_chunk.iter().eq(keys.iter()));
    let (comparator, newest) = (Comparator::Bytewise, Trailer::seek(SeqNo::MAX));
    for (key, internal) in keys.iter().zip(&internal) {
        assert!(cursor.seek(&comparator, internal).expect("a sound block"));
        assert_eq!((cursor.key(), cursor.value()), (internal.as_slice(), *key));
        let hash = hash64(key);
        let found = find(&block, &comparator, Wanted { key, hash, newest }).expect("a sound block");
        assert!(found.is_some());
    }
}
