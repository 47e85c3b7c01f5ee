//! Tests of `newest`.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::base::types::comparator::{Comparator, CustomComparator};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::flow::read::model_view::Layout;
use crate::flow::read::view::ViewParts;
use crate::store::mem::memtable::Memtable;

/// Bytewise, and counts how often it is asked.
#[derive(Default)]
struct Counting(AtomicU64);

impl CustomComparator for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        self.0.fetch_add(1, Relaxed);
        left.cmp(right)
    }
}

#[test]
fn range_deletes_since_are_seen_at_the_price_of_those_since() {
    // Three thousand range deletes, and after each a question about a key that was read just
    // before, one read seven deletes ago, and one read a hundred deletes ago.
    let counting = Arc::new(Counting::default());
    let comparator = Comparator::Custom(Arc::clone(&counting) as Arc<dyn CustomComparator>);
    let mut writer = Memtable::create(comparator.clone(), None);
    let empty = Layout::new(&comparator).view(&[]);
    let parts = ViewParts {
        memtables: vec![Arc::clone(writer.table())],
        ..empty.parts().clone()
    };
    let view = View::new(parts, None);
    let key = |number: u64| format!("{number:08}").into_bytes();
    for number in 200..3_200 {
        let seqno = SeqNo::new(number);
        let trailer = Trailer::new(seqno, Kind::RangeDelete);
        writer.insert(trailer, &key(number), &key(number + 1));
        for back in [0, 7, 100] {
            let seen = SeqNo::new(number - back);
            let before = counting.0.load(Relaxed);
            let ask = |number| is_written_since(&view, Target::Key(&key(number)), seen).unwrap();
            assert!(!ask(number - back));
            assert_eq!(ask(number), back > 0);
            // Two questions of two comparisons for each.
            let steps = counting.0.load(Relaxed) - before;
            assert!(back > 7 || steps <= 4 * 7, "{steps} comparisons");
        }
    }
}
