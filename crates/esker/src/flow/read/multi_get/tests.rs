//! Tests of `multi_get`.

use super::*;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};
use crate::flow::read::model_view::{Layout, read_at};

#[test]
fn many_keys_read_as_one_by_one() {
    // Random keys in any sequence, some twice, some absent.
    for_seeds(300, |seed, random| {
        let shape = Shape {
            write_count: random.below(100),
            key_count: 1 + random.below(40),
            range_delete_one_in: random.below(3) * 8,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let view = Layout::random_view(random, &history);
        let keys: Vec<Vec<u8>> = (0..random.below(30))
            .map(|_| random_key(random, 40))
            .collect();
        let lent: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let seqno = SeqNo::new(random.below(history.newest().get() + 2));
        let found = multi_get(&view, &lent, &read_at(seqno));
        assert_eq!(found.len(), keys.len());
        for (key, found) in keys.iter().zip(found) {
            assert_eq!(
                found.unwrap().as_deref(),
                history.get(key, seqno).as_deref()
            );
        }
    });
}
