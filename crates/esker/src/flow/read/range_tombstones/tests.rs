//! Tests of `range_tombstones`.

use super::*;
use crate::flow::read::model::{History, Shape, comparator_of, for_seeds, random_key};

fn delete(start: &str, end: &str, seqno: u64) -> RangeDelete {
    RangeDelete {
        start: Bytes::copy_of(start.as_bytes()),
        end: Bytes::copy_of(end.as_bytes()),
        seqno: SeqNo::new(seqno),
    }
}

#[test]
fn nothing_is_hidden_by_nothing() {
    // No deletions, and deletions of empty and inverted ranges.
    let odd = [delete("b", "b", 3), delete("c", "a", 4)];
    for deletes in [&odd[..0], &odd[..]] {
        let tombstones = RangeTombstones::new(&Comparator::Bytewise, deletes);
        assert!(tombstones.is_empty());
        assert_eq!(tombstones.newest_cover(b"b", SeqNo::MAX), None);
        assert_eq!(tombstones.skip_forward(b"b", SeqNo::MAX), None);
        assert_eq!(tombstones.skip_backward(b"b", SeqNo::MAX), None);
        assert_eq!(tombstones.span(b"b", SeqNo::MAX).cover, None);
        assert!(tombstones.pieces(&[]).is_empty());
        assert!(!tombstones.is_hidden_in_stripe(b"b", SeqNo::ZERO, &[]));
    }
}

#[test]
fn readers_of_different_age_see_different_covers() {
    // Two overlapping deletions; one reader before each, one between, one after.
    let deletes = [delete("a", "m", 10), delete("g", "z", 20)];
    let tombstones = RangeTombstones::new(&Comparator::Bytewise, &deletes);
    let cover = |key: &str, at| {
        tombstones
            .newest_cover(key.as_bytes(), SeqNo::new(at))
            .map(SeqNo::get)
    };
    assert_eq!(cover("h", 9), None);
    assert_eq!(cover("h", 19), Some(10));
    assert_eq!(cover("h", 20), Some(20));
    assert_eq!(cover("m", 19), None);
    assert_eq!(cover("z", 99), None);
    assert!(tombstones.hides(b"h", SeqNo::new(19), SeqNo::MAX));
    assert!(!tombstones.hides(b"h", SeqNo::new(20), SeqNo::MAX));
    let at = SeqNo::MAX;
    assert_eq!(tombstones.skip_forward(b"c", at).unwrap(), b"z");
    assert_eq!(tombstones.skip_forward(b"c", SeqNo::new(10)).unwrap(), b"m");
    assert_eq!(tombstones.skip_backward(b"y", at).unwrap(), b"a");
}

#[test]
fn every_question_matches_the_list_of_deletions() {
    // Random overlapping deletions in two orders; every key, every reader.
    for_seeds(400, |seed, random| {
        let shape = Shape {
            write_count: 1 + seed % 40,
            key_count: 40,
            range_delete_one_in: 1,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let tombstones = RangeTombstones::new(&history.comparator, &history.deletes);
        for _ in 0..40 {
            let key = random_key(random, 40);
            let at = SeqNo::new(random.below(history.newest().get() + 2));
            let cover = history.cover(&key, at);
            assert_eq!(tombstones.newest_cover(&key, at), cover);
            assert_eq!(
                tombstones.is_empty(),
                history.deletes.is_empty() || tombstones.bounds.is_empty()
            );
            let span = tombstones.span(&key, at);
            assert_eq!(span.cover, cover);
            let probe = random_key(random, 40);
            let is_inside = |lower: Option<&Bytes>, upper: Option<&Bytes>| {
                lower.is_none_or(|lower| history.comparator.compare(lower, &probe).is_le())
                    && upper.is_none_or(|upper| history.comparator.compare(&probe, upper).is_lt())
            };
            if is_inside(span.lower, span.upper) {
                assert_eq!(history.cover(&probe, at), cover);
            }
            let forward = tombstones.skip_forward(&key, at);
            let backward = tombstones.skip_backward(&key, at);
            assert_eq!(forward.is_some(), cover.is_some());
            assert_eq!(backward.is_some(), cover.is_some());
            let own = Bytes::copy_of(&key);
            if forward.is_some() && is_inside(Some(&own), forward)
                || backward.is_some() && is_inside(backward, Some(&own))
            {
                assert!(history.cover(&probe, at).is_some());
            }
        }
    });
}

#[test]
fn pieces_answer_every_snapshot_as_the_whole_does() {
    // What a compaction writes out hides the same entries from each snapshot and from later
    // readers; an entry hidden within its stripe is hidden from each of them.
    for_seeds(400, |seed, random| {
        let shape = Shape {
            write_count: 1 + seed % 30,
            key_count: 30,
            range_delete_one_in: 1,
        };
        let history = History::random(random, &comparator_of(seed), shape);
        let comparator = &history.comparator;
        let newest = history.newest().get();
        let mut snapshots: Vec<SeqNo> = (0..random.below(4))
            .map(|_| SeqNo::new(random.below(newest + 2)))
            .collect();
        snapshots.sort_unstable();
        let tombstones = RangeTombstones::new(comparator, &history.deletes);
        let pieces = tombstones.pieces(&snapshots);
        for pair in pieces.windows(2) {
            assert!(comparator.compare(&pair[0].end, &pair[1].start).is_le());
        }
        let written: Vec<RangeDelete> = pieces.iter().flat_map(Piece::deletes).collect();
        let after = RangeTombstones::new(comparator, &written);
        for _ in 0..30 {
            let key = random_key(random, 30);
            let seqno = SeqNo::new(random.below(newest + 2));
            let readers = snapshots.iter().copied().chain([SeqNo::MAX]);
            let mut is_hidden_from_all = true;
            for at in readers.clone() {
                assert_eq!(
                    after.newest_cover(&key, at),
                    tombstones.newest_cover(&key, at)
                );
                is_hidden_from_all &= seqno > at || tombstones.hides(&key, seqno, at);
            }
            assert_eq!(
                tombstones.is_hidden_in_stripe(&key, seqno, &snapshots),
                is_hidden_from_all
            );
        }
    });
}

#[test]
fn a_clipped_piece_hides_the_same_inside_the_bounds() {
    // One piece cut to a file's bounds: inside, outside, across either end.
    let comparator = Comparator::Bytewise;
    let tombstones = RangeTombstones::new(&comparator, &[delete("c", "m", 5), delete("c", "m", 3)]);
    let pieces = tombstones.pieces(&[SeqNo::new(4)]);
    let [piece] = &pieces[..] else {
        panic!("one piece, two numbers: {pieces:?}")
    };
    assert_eq!(piece.seqnos, [SeqNo::new(5), SeqNo::new(3)]);
    let clip = |lower: Option<&str>, upper: Option<&str>| {
        let lower = lower.map(str::as_bytes);
        let clipped = piece.clip(&comparator, lower, upper.map(str::as_bytes))?;
        Some((clipped.start.to_vec(), clipped.end.to_vec()))
    };
    let expect = |start: &str, end: &str| Some((start.into(), end.into()));
    assert_eq!(clip(None, None), expect("c", "m"));
    assert_eq!(clip(Some("d"), Some("e")), expect("d", "e"));
    assert_eq!(clip(Some("a"), Some("e")), expect("c", "e"));
    assert_eq!(clip(Some("d"), Some("z")), expect("d", "m"));
    assert_eq!(clip(Some("m"), None), None);
    assert_eq!(clip(None, Some("c")), None);
}

#[test]
fn nested_deletions_stay_small() {
    // A queue that is emptied by deleting ever longer prefixes: the numbers must not multiply.
    let key = |number: u64| format!("{number:06}");
    let deletes: Vec<RangeDelete> = (1..=2_000).map(|n| delete("", &key(n), n)).collect();
    let tombstones = RangeTombstones::new(&Comparator::Bytewise, &deletes);
    assert!(tombstones.seqnos.len() < 2_000 * 22);
    assert_eq!(
        tombstones.newest_cover(b"", SeqNo::MAX),
        Some(SeqNo::new(2_000))
    );
    assert_eq!(tombstones.pieces(&[]).len(), 1);
}
