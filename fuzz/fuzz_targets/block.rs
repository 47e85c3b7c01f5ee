//! Any bytes as a block, read in every way: an error or entries, never a panic or a circle.

#![no_main]

use esker::base::codec::checksum::hash64;
use esker::base::types::key::{self, Trailer};
use esker::base::types::order::KeyOrder;
use esker::base::types::seqno::SeqNo;
use esker::store::sst::block::checked::Checked;
use esker::store::sst::block::cursor::BlockCursor;
use esker::store::sst::block::point::{Wanted, find};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(block) = Checked::new(bytes.to_vec()) else {
        return;
    };
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    // What goes forward goes back, as long as nothing is damaged on the way.
    let mut keys = Vec::new();
    let mut moved = cursor.seek_to_first();
    while matches!(moved, Ok(true)) {
        keys.push(cursor.key().to_vec());
        moved = cursor.next();
    }
    let is_whole = moved.is_ok();
    let mut count = 0;
    let mut moved = cursor.seek_to_last();
    while matches!(moved, Ok(true)) {
        if is_whole {
            assert_eq!(cursor.key(), keys[keys.len() - 1 - count]);
        }
        count += 1;
        moved = cursor.prev();
    }
    assert!(!is_whole || moved.is_ok() && count == keys.len());
    let order = KeyOrder::Bytewise;
    for internal in keys.iter().take(20) {
        // Any answer will do, as long as there is one.
        let _ = cursor.seek(&order, internal);
        let (key, newest) = key::split(internal);
        let hash = hash64(key);
        // Any answer will do, as long as there is one.
        let _ = find(&block, &order, Wanted { key, hash, newest });
    }
    let newest = Trailer::seek(SeqNo::MAX);
    let (key, hash) = (b"key".as_slice(), hash64(b"key"));
    // Any answer will do, as long as there is one.
    let _ = find(&block, &order, Wanted { key, hash, newest });
});
