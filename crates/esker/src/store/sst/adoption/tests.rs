//! Shifted numbers keep their order, and bounds fall where they fell.

use crate::base::types::limits::SEQNO_MAX;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Renumbering;

fn all() -> Vec<Renumbering> {
    let pairs = [(1, 1), (1, 900), (900, 1), (7, 8), (1, SEQNO_MAX - 300)];
    pairs
        .map(|(stored, shown)| Renumbering {
            stored: SeqNo::new(stored),
            shown: SeqNo::new(shown),
        })
        .into()
}

#[test]
fn what_a_reader_sees_of_shifted_numbers_is_what_it_sees_of_shown_ones() {
    for renumbering in all() {
        let (first, shown) = (renumbering.stored.get(), renumbering.shown.get());
        for stored in (first..first + 300).map(SeqNo::new) {
            assert_eq!(
                renumbering.shown(stored).get(),
                stored.get() - first + shown
            );
            let ats = [0, 1, shown.saturating_sub(1), shown, shown + 10, SEQNO_MAX];
            for at in ats.map(SeqNo::new) {
                let is_seen = renumbering.shown(stored).is_visible_at(at);
                let within = renumbering.stored(at);
                assert_eq!(is_seen, within.is_some_and(|at| stored.is_visible_at(at)));
            }
        }
    }
}

#[test]
fn trailers_lie_among_the_stored_ones_as_they_lie_among_the_shown() {
    for renumbering in all() {
        let first = renumbering.stored.get();
        let stored: Vec<u64> = (first..first + 5)
            .flat_map(|seqno| [0, 1, 2].map(|kind| seqno << 8 | kind))
            .collect();
        let shown = stored.iter().map(|raw| renumbering.shown_trailer(*raw));
        let shown: Vec<u64> = shown.collect();
        assert!(shown.is_sorted());
        let edges = [0, 255, SEQNO_MAX << 8 | 255];
        for target in shown.iter().copied().chain(edges) {
            let before = shown.iter().filter(|raw| **raw > target).count();
            let inside = renumbering.stored_trailer(target);
            let stored_before = stored.iter().filter(|raw| **raw > inside).count();
            assert_eq!(before, stored_before, "{renumbering:?} {target}");
        }
    }
}

#[test]
fn numbers_of_a_damaged_file_are_numbers_all_the_same() {
    for renumbering in all() {
        for stored in [0, SEQNO_MAX] {
            assert!(renumbering.shown(SeqNo::new(stored)).get() <= SEQNO_MAX);
        }
    }
}
