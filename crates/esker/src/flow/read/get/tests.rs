//! Tests of `get`.

use super::*;
use crate::env::random::Random;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};
use crate::flow::read::model_view::{Layout, read_at};

fn random_history(seed: u64, random: &mut Random) -> History {
    let shape = Shape {
        write_count: random.below(100),
        key_count: 1 + random.below(40),
        range_delete_one_in: random.below(3) * 8,
    };
    let mut history = History::random(random, &comparator_of(seed), shape);
    if seed.is_multiple_of(4) {
        history.turn_into_merges(random);
    }
    history
}

#[test]
fn every_key_reads_as_in_the_naive_reader() {
    // Random histories over memtables and files; every key there is and some there are not.
    for_seeds(300, |seed, random| {
        let history = random_history(seed, random);
        let view = Layout::random_view(random, &history);
        for _ in 0..30 {
            let key = random_key(random, 40);
            let seqno = SeqNo::new(random.below(history.newest().get() + 2));
            let at = read_at(seqno);
            let expected = history.get(&key, seqno);
            let found = get(&view, &key, &at).unwrap();
            assert_eq!(found.as_deref(), expected.as_deref());
            assert_eq!(contains(&view, &key, &at).unwrap(), expected.is_some());
            let valued = get_valued(&view, &key, &at).unwrap();
            assert_eq!(valued.is_some(), expected.is_some());
            let is_gone =
                |valued: Valued| valued.expiry.is_some_and(|end| end.is_past(at.now_unix_ms));
            assert!(!valued.is_some_and(is_gone));
        }
    });
}
