//! Tests of `view`.

use super::*;
use crate::base::types::bytes::Bytes;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::flow::read::model::{History, comparator_of, for_seeds, random_key};
use crate::flow::read::model_view::Layout;
use crate::store::mem::memtable::MemtableWriter;

fn view_of(table: &Arc<Memtable>, previous: Option<&View>) -> View {
    let empty = Layout::new(&Comparator::Bytewise).view(&[]);
    let parts = ViewParts {
        memtables: vec![Arc::clone(table)],
        ..empty.parts().clone()
    };
    View::new(parts, previous)
}

fn delete(writer: &mut MemtableWriter, history: &mut History, delete: RangeDelete) {
    let trailer = Trailer::new(delete.seqno, Kind::RangeDelete);
    writer.insert(trailer, &delete.start, &delete.end);
    history.deletes.push(delete);
}

#[test]
fn a_live_memtable_shows_every_range_tombstone_at_once() {
    // Three hundred range deletes come one by one; every read between them sees all so far, and
    // the view is made anew now and then.
    for_seeds(10, |seed, random| {
        let mut writer = Memtable::create(comparator_of(1), None);
        let mut history = History::default();
        let mut view = view_of(writer.table(), None);
        for number in 1..=300 {
            let next = RangeDelete {
                start: random_key(random, 40).into(),
                end: random_key(random, 40).into(),
                seqno: SeqNo::new(number),
            };
            delete(&mut writer, &mut history, next);
            if random.below(3) == seed % 3 {
                continue;
            }
            if random.one_in(20) {
                view = view_of(writer.table(), Some(&view));
            }
            let key = random_key(random, 40);
            for at in [SeqNo::MAX, SeqNo::new(random.below(number + 1))] {
                assert_eq!(view.memtable_cover(0, &key, at), history.cover(&key, at));
            }
        }
    });
}

#[test]
fn a_new_view_takes_over_what_the_last_one_learned() {
    // The same memtable in two views: its tombstones are built once.
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    let only = RangeDelete {
        start: Bytes::copy_of(b"a"),
        end: Bytes::copy_of(b"b"),
        seqno: SeqNo::new(1),
    };
    delete(&mut writer, &mut History::default(), only);
    let first = view_of(writer.table(), None);
    let built = first.memtable_tombstones(0, SeqNo::MAX);
    let second = view_of(writer.table(), Some(&first));
    assert!(Arc::ptr_eq(
        &built[0],
        &second.memtable_tombstones(0, SeqNo::MAX)[0]
    ));
}
