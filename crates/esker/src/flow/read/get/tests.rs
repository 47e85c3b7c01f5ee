//! Tests of `get`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::base::types::comparator::Comparator;
use crate::base::types::kind::Kind;
use crate::env::random::Random;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};
use crate::flow::read::model_view::{Layout, read_at};
use crate::flow::read::view::ViewParts;
use crate::store::mem::memtable::Memtable;

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
            let is_gone = |valued: Valued| {
                valued
                    .expiry
                    .is_some_and(|end| end.is_past(at.now.unix_ms()))
            };
            assert!(!valued.is_some_and(is_gone));
        }
    });
}

/// A clock of ten seconds after the beginning of 1970 that counts who asks it.
#[derive(Debug, Default)]
struct AskedClock(AtomicU64);

impl Clock for AskedClock {
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn unix_time(&self) -> Duration {
        self.0.fetch_add(1, Ordering::Relaxed);
        Duration::from_secs(10)
    }
}

#[test]
fn a_look_at_one_key_asks_the_clock_only_where_it_meets_an_expiry() {
    // A value that stays, an operand, a deleted key and a missing one ask nobody; one that ends
    // asks, and one that has ended is not there.
    let mut writer = Memtable::create(Comparator::Bytewise, None);
    let ending = |unix_s: u32, value: &[u8]| Expiry::from_unix_s(unix_s).join(value);
    let entries: [(&[u8], Kind, &[u8]); 5] = [
        (b"deleted", Kind::Delete, b""),
        (b"ended", Kind::PutExpiring, &ending(10, b"1")),
        (b"ends", Kind::PutExpiring, &ending(11, b"2")),
        (b"operand", Kind::Merge, b"3"),
        (b"stays", Kind::Put, b"4"),
    ];
    for (seqno, (key, kind, value)) in entries.into_iter().enumerate() {
        let seqno = SeqNo::new(seqno as u64 + 1);
        writer.insert(Trailer::new(seqno, kind), key, value);
    }
    let empty = Layout::new(&Comparator::Bytewise).view(&[]);
    let parts = ViewParts {
        memtables: vec![Arc::clone(writer.table())],
        ..empty.parts().clone()
    };
    let view = View::new(parts, None);
    let clock = Arc::new(AskedClock::default());
    let machine: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let told = ToldClock::at(11_000);
    let at = |own| ReadAt {
        now: Now::By {
            own,
            machine: &machine,
        },
        ..read_at(SeqNo::new(9))
    };
    let has = |key: &[u8], own| contains(&view, key, &at(own)).unwrap();
    assert!(has(b"stays", None) && has(b"operand", None));
    assert!(!has(b"deleted", None) && !has(b"missing", None));
    assert_eq!(get(&view, b"stays", &at(None)).unwrap().unwrap(), "4");
    assert_eq!(clock.0.load(Ordering::Relaxed), 0);
    assert!(has(b"ends", None) && !has(b"ended", None));
    assert_eq!(get(&view, b"ends", &at(None)).unwrap().unwrap(), "2");
    assert_eq!(clock.0.load(Ordering::Relaxed), 3);
    // A keyspace's own clock is asked in the machine's place.
    assert!(!has(b"ends", Some(&told)));
    assert_eq!(clock.0.load(Ordering::Relaxed), 3);
}
