//! Tests of `compaction_iterator`.

use crate::base::types::expiry::Expiry;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;
use crate::base::hooks::retain::{self, Retain};
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::Level;
use crate::env::random::Random;
use crate::env::sim::SimFs;
use crate::flow::model::{
    Entries, NOW_UNIX_MS, READ_TIMES_UNIX_MS, VectorCursor, for_seeds, key_of, rule_of,
};
use crate::store::vlog::pointer::ValuePointer;

const KEY_COUNT: u64 = 6;

/// One rewrite: which entries, with which rules.
struct Rewrite<'a> {
    inputs: &'a Entries,
    snapshots: Vec<SeqNo>,
    rule: Option<MergeRule>,
    /// Keys below which nothing lies.
    bottoms: Vec<Vec<u8>>,
    /// Numbers that keys may be given; none where a key is not named.
    ceilings: BTreeMap<Vec<u8>, SeqNo>,
    lower: Option<Vec<u8>>,
    retaining: Option<Retaining>,
}

impl Rewrite<'_> {
    /// The survivors, and what the rules counted. Checks order, invention and the tally.
    fn run(&self) -> Result<(Entries, Tally)> {
        let tombstones = RangeTombstones::new(&Comparator::Bytewise, &self.inputs.range_deletes);
        let stripes = Stripes::new(self.snapshots.clone());
        let mut asked: Vec<u8> = Vec::new();
        let mut is_bottom = |key: &[u8]| {
            assert!(asked[..] <= *key, "asked in the order of keys");
            asked = key.to_vec();
            self.bottoms.iter().any(|bottom| bottom == key)
        };
        let rules = Rules {
            stripes: &stripes,
            tombstones: &tombstones,
            merge: self.rule.as_ref(),
            values: &OpenValues::new(Arc::new(SimFs::new(0)), "/db", 1),
            now_unix_ms: NOW_UNIX_MS,
            is_bottom: &mut is_bottom,
            ceiling: &mut |key| self.ceiling(key),
            verbatim: Verbatim::default(),
            retaining: self.retaining.as_ref(),
        };
        let input: VectorCursor = self.inputs.cursor();
        let input = MergingCursor::new(Comparator::Bytewise, vec![input]);
        let mut kept = CompactionIterator::new(input, self.lower.as_deref(), rules)?;
        let mut out = Entries::default();
        let mut last: Option<Vec<u8>> = None;
        while let Some((internal_key, value)) = kept.advance()? {
            if let Some(last) = &last {
                assert!(key::compare(&Comparator::Bytewise, last, internal_key).is_lt());
            }
            last = Some(internal_key.to_vec());
            let Carried::Raw(value) = value else {
                panic!("nothing is compressed here");
            };
            let (user_key, trailer) = key::split(internal_key);
            let point = (user_key.to_vec(), trailer, value.to_vec());
            out.points.push(point);
        }
        let tally = kept.tally();
        let is_all_bottom = (0..KEY_COUNT).all(|key| self.bottoms.contains(&key_of(key)));
        out.range_deletes = surviving_range_deletes(&tombstones, &stripes, is_all_bottom);
        self.check(&out, tally);
        Ok((out, tally))
    }

    fn ceiling(&self, key: &[u8]) -> SeqNo {
        self.ceilings.get(key).copied().unwrap_or(SeqNo::ZERO)
    }

    fn check(&self, out: &Entries, tally: Tally) {
        let from = self.lower.as_deref().unwrap_or(&[]);
        let read = self
            .inputs
            .points
            .iter()
            .filter(|(key, ..)| &key[..] >= from);
        assert_eq!(tally.read_count, read.count() as u64);
        assert_eq!(tally.kept_count, out.points.len() as u64);
        for (key, trailer, _) in &out.points {
            let is_rewritten = trailer.seqno() == self.ceiling(key);
            let is_same = |(of, old, _): &&(Vec<u8>, Trailer, Vec<u8>)| {
                let is_older = is_rewritten && old.seqno() < trailer.seqno();
                of == key && (is_older || old.seqno() == trailer.seqno())
            };
            assert!(self.inputs.points.iter().any(|point| is_same(&point)));
        }
        let starts = out.range_deletes.iter().map(|delete| &delete.start);
        assert!(starts.is_sorted());
    }
}

/// Entries by age as a compaction meets them: newer ones above, its inputs, older ones below.
struct Split {
    above: Entries,
    inputs: Entries,
    below: Entries,
}

impl Split {
    /// Cuts `all` by age, at other numbers for each key, range deletes key by key.
    fn random(random: &mut Random, all: &Entries) -> Split {
        let newest = all.newest().get();
        let cuts = |random: &mut Random| match random.below(4) {
            0 => (0, newest),
            1 => (0, random.below(newest + 1)),
            2 => (random.below(newest + 1), newest),
            _ => {
                let (left, right) = (random.below(newest + 1), random.below(newest + 1));
                (left.min(right), left.max(right))
            }
        };
        let same = random.one_in(2).then(|| cuts(random));
        let mut split = Split {
            above: Entries::default(),
            inputs: Entries::default(),
            below: Entries::default(),
        };
        for number in 0..KEY_COUNT {
            let (lower, upper) = same.unwrap_or_else(|| cuts(random));
            let key = key_of(number);
            for point in all.points.iter().filter(|(of, ..)| *of == key) {
                split
                    .part(point.1.seqno(), lower, upper)
                    .points
                    .push(point.clone());
            }
            for delete in &all.range_deletes {
                if delete.start[..] <= key[..] && key[..] < delete.end[..] {
                    let piece = RangeDelete {
                        start: key.clone().into(),
                        end: key_of(number + 1).into(),
                        seqno: delete.seqno,
                    };
                    split
                        .part(delete.seqno, lower, upper)
                        .range_deletes
                        .push(piece);
                }
            }
        }
        split
    }

    fn part(&mut self, seqno: SeqNo, lower: u64, upper: u64) -> &mut Entries {
        if seqno.get() <= lower {
            &mut self.below
        } else if seqno.get() <= upper {
            &mut self.inputs
        } else {
            &mut self.above
        }
    }

    /// What keys may be given; less for some, and nothing for others.
    fn ceilings(&self, random: &mut Random, snapshots: &[SeqNo]) -> BTreeMap<Vec<u8>, SeqNo> {
        let newest = self.inputs.newest();
        let most = snapshots
            .first()
            .map_or(newest, |oldest| newest.min(*oldest));
        let mut ceilings = BTreeMap::new();
        for key in (0..KEY_COUNT).map(key_of) {
            let points = self.above.points.iter().filter(|(of, ..)| *of == key);
            let points = points.map(|(_, trailer, _)| trailer.seqno());
            let deletes = self.above.range_deletes.iter();
            let deletes = deletes.filter(|delete| delete.start[..] == key[..]);
            let newer = points.chain(deletes.map(|delete| delete.seqno)).min();
            let most = newer.map_or(most, |newer| newer.before().unwrap().min(most));
            match random.below(4) {
                0 => continue,
                1 => ceilings.insert(key, SeqNo::new(random.below(most.get() + 1))),
                _ => ceilings.insert(key, most),
            };
        }
        ceilings
    }

    /// Some or all keys below which nothing lies.
    fn bottoms(&self, random: &mut Random) -> Vec<Vec<u8>> {
        let is_careless = random.one_in(4);
        let keys = (0..KEY_COUNT).map(key_of).filter(|key| {
            let is_point = self.below.points.iter().any(|(of, ..)| of == key);
            let is_deleted =
                (self.below.range_deletes.iter()).any(|delete| delete.start[..] == key[..]);
            let is_left_out = is_careless && random.one_in(2);
            !(is_point || is_deleted || is_left_out)
        });
        keys.collect()
    }
}

fn random_snapshots(random: &mut Random, newest: u64) -> Vec<SeqNo> {
    let count = [0, 0, 1, 2, 4][usize::try_from(random.below(5)).unwrap()];
    let mut snapshots: Vec<SeqNo> = (0..count)
        .map(|_| SeqNo::new(random.below(newest + 3)))
        .collect();
    snapshots.sort_unstable();
    snapshots
}

#[test]
fn no_reader_notices_a_rewrite() {
    // Random histories cut by age, rewritten under random snapshots: each reader that may still
    // be there gets the same for every key, now and whenever later it looks.
    for_seeds(3000, |seed, random| {
        let rule = rule_of(seed);
        let write_count = random.below(40);
        let all = Entries::random(random, write_count, KEY_COUNT);
        let split = Split::random(random, &all);
        let newest_input = split.inputs.newest();
        let snapshots = random_snapshots(random, newest_input.get());
        let rewrite = Rewrite {
            inputs: &split.inputs,
            snapshots: snapshots.clone(),
            rule: (!random.one_in(8)).then(|| rule.clone()),
            bottoms: split.bottoms(random),
            ceilings: split.ceilings(random, &snapshots),
            lower: None,
            retaining: None,
        };
        let (survivors, _) = rewrite.run().unwrap();
        let rest = split.above.and(&split.below);
        let (before, after) = (rest.and(&split.inputs), rest.and(&survivors));
        let readers = snapshots.into_iter().chain([newest_input, SeqNo::MAX]);
        for at in readers {
            for number in 0..KEY_COUNT {
                let key = key_of(number);
                for time in READ_TIMES_UNIX_MS {
                    let expected = before.get(&rule, &key, at, time);
                    let actual = after.get(&rule, &key, at, time);
                    assert_eq!(
                        actual, expected,
                        "key {number} at {at}, time {time}\nbefore {before:?}\nafter {after:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn a_quiet_bottom_holds_live_values_only() {
    // Without snapshots and with nothing below, each key that is read has one entry, a value;
    // operands stay only above a value that has yet to expire, or when their operator refuses.
    for_seeds(1000, |seed, random| {
        let rule = rule_of(seed);
        let write_count = random.below(40);
        let inputs = Entries::random(random, write_count, KEY_COUNT);
        let rewrite = Rewrite {
            inputs: &inputs,
            snapshots: Vec::new(),
            rule: Some(rule.clone()),
            bottoms: (0..KEY_COUNT).map(key_of).collect(),
            ceilings: BTreeMap::new(),
            lower: None,
            retaining: None,
        };
        let (out, _) = rewrite.run().unwrap();
        assert!(out.range_deletes.is_empty());
        for number in 0..KEY_COUNT {
            let key = key_of(number);
            let kinds: Vec<Kind> = (out.points.iter())
                .filter(|(of, ..)| *of == key)
                .map(|(_, trailer, _)| trailer.kind())
                .collect();
            let answers = READ_TIMES_UNIX_MS.map(|time| inputs.get(&rule, &key, SeqNo::MAX, time));
            match (kinds.split_last(), &answers[0]) {
                (None, answer) => assert_eq!(*answer, Ok(None)),
                (Some((Kind::Put | Kind::PutExpiring | Kind::PutExpiringMillis, [])), answer) => {
                    assert!(matches!(answer, Ok(Some(_))));
                }
                (Some((Kind::PutExpiring | Kind::PutExpiringMillis, newer)), _) => {
                    assert!(newer.iter().all(|kind| *kind == Kind::Merge));
                }
                (Some(_), answer) => {
                    assert_eq!(*answer, Err(()));
                    assert!(!kinds.contains(&Kind::Delete));
                }
            }
        }
    });
}

#[test]
fn a_rewrite_may_begin_at_any_key() {
    // What survives from a key on is the same, whether the rewrite began there or before.
    for_seeds(500, |seed, random| {
        let write_count = random.below(40);
        let inputs = Entries::random(random, write_count, KEY_COUNT);
        let mut rewrite = Rewrite {
            inputs: &inputs,
            snapshots: random_snapshots(random, inputs.newest().get()),
            rule: Some(rule_of(seed)),
            bottoms: Vec::new(),
            ceilings: BTreeMap::new(),
            lower: None,
            retaining: None,
        };
        let lower = key_of(random.below(KEY_COUNT + 1));
        let (mut whole, _) = rewrite.run().unwrap();
        whole.points.retain(|(key, ..)| *key >= lower);
        rewrite.lower = Some(lower);
        assert_eq!(rewrite.run().unwrap().0.points, whole.points);
    });
}

/// Entries of one key, given as number, kind and value.
fn entries_of(writes: &[(u64, Kind, &[u8])]) -> Entries {
    let mut entries = Entries::default();
    for &(seqno, kind, value) in writes {
        let value = match kind {
            Kind::RangeDelete => key_of(1),
            _ => value.to_vec(),
        };
        entries.write(SeqNo::new(seqno), (kind, key_of(0), value));
    }
    entries
}

/// What lives on of one key, as text.
fn survivors_of(
    writes: &[(u64, Kind, &[u8])],
    snapshots: &[u64],
    rule: &str,
    is_bottom: bool,
) -> Vec<String> {
    rewritten_survivors_of(writes, snapshots, rule, is_bottom, 0)
}

/// The same, where the key may be given the number `ceiling`.
fn rewritten_survivors_of(
    writes: &[(u64, Kind, &[u8])],
    snapshots: &[u64],
    rule: &str,
    is_bottom: bool,
    ceiling: u64,
) -> Vec<String> {
    let inputs = entries_of(writes);
    let rewrite = Rewrite {
        inputs: &inputs,
        snapshots: snapshots.iter().map(|seqno| SeqNo::new(*seqno)).collect(),
        rule: crate::base::hooks::merge_builtin::builtin(rule),
        bottoms: (0..if is_bottom { KEY_COUNT } else { 0 })
            .map(key_of)
            .collect(),
        ceilings: BTreeMap::from([(key_of(0), SeqNo::new(ceiling))]),
        lower: None,
        retaining: None,
    };
    let (out, _) = rewrite.run().unwrap();
    let points = (out.points.iter())
        .map(|(_, trailer, value)| format!("{trailer:?} {}", value.escape_ascii()));
    let range_deletes = (out.range_deletes.iter()).map(|delete| format!("range {}", delete.seqno));
    points.chain(range_deletes).collect()
}

#[test]
fn operands_do_not_inherit_an_expiry() {
    // A value that has yet to expire and an operand on top: once it has expired, readers see the
    // operand alone, so the two must not become one expiring value.
    let expiring = [&[0xe9, 0x03, 0, 0][..], b"old"].concat();
    let writes = [
        (1, Kind::PutExpiring, &expiring[..]),
        (2, Kind::Merge, b"a"),
        (3, Kind::Merge, b"b"),
    ];
    let expected = ["3#Merge a,b", "1#PutExpiring \\xe9\\x03\\x00\\x00old"];
    assert_eq!(survivors_of(&writes, &[], "append", true), expected);
}

#[test]
fn an_expired_base_is_no_base() {
    // The base expired a second ago; the operands become a value of their own.
    let expired = [&[0xe7, 0x03, 0, 0][..], b"old"].concat();
    let writes = [(1, Kind::PutExpiring, &expired[..]), (2, Kind::Merge, b"a")];
    assert_eq!(survivors_of(&writes, &[], "append", false), ["2#Put a"]);
}

#[test]
fn an_expired_value_still_hides_older_files() {
    // Below may lie an older value of the key: the expired one becomes a delete; at the bottom
    // it goes.
    let expired = [&[0xe7, 0x03, 0, 0][..], b"old"].concat();
    let writes = [
        (1, Kind::Put, &b"older"[..]),
        (2, Kind::PutExpiring, &expired),
    ];
    assert_eq!(survivors_of(&writes, &[], "append", false), ["2#Delete "]);
    assert!(survivors_of(&writes, &[], "append", true).is_empty());
}

#[test]
fn a_snapshot_keeps_what_it_sees_apart() {
    // A snapshot at 2 sees the first two operands, which fold; the newer two fold on their own.
    let writes = [
        (1, Kind::Put, &b"a"[..]),
        (2, Kind::Merge, b"b"),
        (3, Kind::Merge, b"c"),
        (4, Kind::Merge, b"d"),
    ];
    let expected = ["4#Merge c,d", "2#Put a,b"];
    assert_eq!(survivors_of(&writes, &[2], "append", true), expected);
}

#[test]
fn a_range_delete_between_operands_is_their_base() {
    // Operand, range delete, operand: what is older than the range delete is gone, so the newer
    // operand becomes a value even where more may lie below.
    let writes = [
        (1, Kind::Merge, &b"a"[..]),
        (2, Kind::RangeDelete, b""),
        (3, Kind::Merge, b"b"),
    ];
    let expected = ["3#Put b", "range 2"];
    assert_eq!(survivors_of(&writes, &[], "append", false), expected);
    assert_eq!(survivors_of(&writes, &[], "append", true), ["3#Put b"]);
    // A snapshot that sees the older operand only keeps both, and the range delete between.
    let expected = ["3#Merge b", "1#Put a", "range 2"];
    assert_eq!(survivors_of(&writes, &[1], "append", true), expected);
}

#[test]
fn operands_without_operator_stay_as_they_are() {
    // No operator is known: nothing can be folded, nothing is lost.
    let writes = [(1, Kind::Merge, &b"a"[..]), (2, Kind::Merge, b"b")];
    let expected = ["2#Merge b", "1#Merge a"];
    assert_eq!(survivors_of(&writes, &[], "", true), expected);
}

#[test]
fn a_kind_that_lies_only_in_memtables_is_corruption() {
    // A sorted file never holds folded operands, on their own or below an operand.
    for newer in [&[][..], &[(2, Kind::Merge, &b"a"[..])]] {
        let inputs = entries_of(&[&[(1, Kind::MergeFolded, &b"x"[..])], newer].concat());
        let rewrite = Rewrite {
            inputs: &inputs,
            snapshots: Vec::new(),
            rule: Some(rule_of(1)),
            bottoms: Vec::new(),
            ceilings: BTreeMap::new(),
            lower: None,
            retaining: None,
        };
        assert!(rewrite.run().is_err());
    }
}

#[test]
fn a_long_chain_of_operands_is_combined_in_little_time() {
    // 20 000 operands of 50 bytes: one by one onto an ever longer operand would copy 10 GB.
    let value = [b'x'; 50];
    let writes: Vec<_> = (1..=20_000)
        .map(|seqno| (seqno, Kind::Merge, &value[..]))
        .collect();
    let out = survivors_of(&writes, &[], "append", false);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].len(), "20000#Merge ".len() + 20_000 * 51 - 1);
}

#[test]
fn what_every_snapshot_sees_may_share_a_number() {
    // Of each key the first that lives on is rewritten, whatever it is.
    let expired = [&[0xe7, 0x03, 0, 0][..], b"old"].concat();
    let rewritten = |writes: &[_]| rewritten_survivors_of(writes, &[9], "append", false, 9);
    let older = (2, Kind::Put, &b"older"[..]);
    assert_eq!(rewritten(&[older, (4, Kind::Put, b"a")]), ["9#Put a"]);
    assert_eq!(rewritten(&[older, (4, Kind::Delete, b"")]), ["9#Delete "]);
    assert_eq!(
        rewritten(&[older, (4, Kind::Merge, b"a")]),
        ["9#Put older,a"]
    );
    let expired = (4, Kind::PutExpiring, &expired[..]);
    assert_eq!(rewritten(&[older, expired]), ["9#Delete "]);
}

#[test]
fn a_number_is_never_rewritten_past_another_of_its_key() {
    // What no snapshot separates from it: operands above a base that is not theirs to fold.
    let expiring = [&[0xe9, 0x03, 0, 0][..], b"old"].concat();
    let writes = [
        (1, Kind::PutExpiring, &expiring[..]),
        (3, Kind::Merge, b"a"),
    ];
    let expected = ["3#Merge a", "1#PutExpiring \\xe9\\x03\\x00\\x00old"];
    let rewritten = rewritten_survivors_of(&writes, &[], "append", true, 9);
    assert_eq!(rewritten, expected);
    // What a snapshot separates from it.
    let writes = [(1, Kind::Put, &b"a"[..]), (8, Kind::Put, b"b")];
    let rewritten = rewritten_survivors_of(&writes, &[5], "append", true, 5);
    assert_eq!(rewritten, ["8#Put b", "1#Put a"]);
    // And what lies above its ceiling by itself stays as it is.
    let writes = [(7, Kind::Put, &b"a"[..])];
    let rewritten = rewritten_survivors_of(&writes, &[], "append", true, 5);
    assert_eq!(rewritten, ["7#Put a"]);
}

/// A rule that drops values whose bytes add up to an odd sum, and asks every other key for nothing.
fn odd_ones() -> Retaining {
    let rule = retain::by("odd ones", |entry| {
        if entry.key.last().is_none_or(|byte| byte.is_multiple_of(3)) {
            return Ok(Retain::Keep);
        }
        Ok(match is_odd(entry.value()?) {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    });
    retaining(rule)
}

fn retaining(rule: Arc<dyn retain::RetainRule>) -> Retaining {
    Retaining {
        rule,
        keyspace: "k".into(),
        now_unix_ms: 0,
        level: Level::new(3).unwrap(),
        has_failed: Arc::default(),
    }
}

fn is_odd(value: &[u8]) -> bool {
    value.iter().fold(0, |sum: u8, byte| sum ^ byte) % 2 == 1
}

fn is_dropped(key: &[u8], value: &[u8]) -> bool {
    !key.last().unwrap().is_multiple_of(3) && is_odd(value)
}

#[test]
fn a_rule_drops_only_what_no_snapshot_sees() {
    // Random histories cut by age, rewritten under a rule: snapshots get what they got; who reads
    // now, or later, gets that too, or nothing of what the rule may drop, and never an older value.
    let dropped = AtomicU64::new(0);
    for_seeds(3000, |seed, random| {
        let rule = rule_of(seed);
        let write_count = random.below(40);
        let all = Entries::random(random, write_count, KEY_COUNT);
        let split = Split::random(random, &all);
        let newest_input = split.inputs.newest();
        let snapshots = random_snapshots(random, newest_input.get());
        let rewrite = Rewrite {
            inputs: &split.inputs,
            snapshots: snapshots.clone(),
            rule: (!random.one_in(8)).then(|| rule.clone()),
            bottoms: split.bottoms(random),
            ceilings: split.ceilings(random, &snapshots),
            lower: None,
            retaining: Some(odd_ones()),
        };
        let (survivors, tally) = rewrite.run().unwrap();
        dropped.fetch_add(tally.unretained_count, Ordering::Relaxed);
        let rest = split.above.and(&split.below);
        let (before, after) = (rest.and(&split.inputs), rest.and(&survivors));
        let older = split.below.and(&split.inputs);
        for number in 0..KEY_COUNT {
            let key = key_of(number);
            let value = older.get(&rule, &key, SeqNo::MAX, NOW_UNIX_MS);
            let may_go = matches!(&value, Ok(Some(value)) if is_dropped(&key, value));
            for time in READ_TIMES_UNIX_MS {
                let get = |entries: &Entries, at| entries.get(&rule, &key, at, time);
                for at in &snapshots {
                    assert_eq!(get(&after, *at), get(&before, *at), "key {number} at {at}");
                }
                let actual = get(&after, SeqNo::MAX);
                let is_same = actual == get(&before, SeqNo::MAX);
                let is_without = may_go && actual == get(&split.above, SeqNo::MAX);
                assert!(
                    is_same || is_without,
                    "key {number}, time {time}: {actual:?}\nbefore {before:?}\nafter {after:?}"
                );
            }
        }
    });
    assert!(dropped.into_inner() > 1_000);
}

#[test]
fn a_quiet_bottom_holds_what_the_rule_keeps() {
    // Without snapshots and with nothing below, a value that stands alone is one that the rule was
    // asked about: also one that operands made.
    let folded = AtomicU64::new(0);
    for_seeds(1000, |seed, random| {
        let write_count = random.below(40);
        let inputs = Entries::random(random, write_count, KEY_COUNT);
        let rewrite = Rewrite {
            inputs: &inputs,
            snapshots: Vec::new(),
            rule: Some(rule_of(seed)),
            bottoms: (0..KEY_COUNT).map(key_of).collect(),
            ceilings: BTreeMap::new(),
            lower: None,
            retaining: Some(odd_ones()),
        };
        let (out, tally) = rewrite.run().unwrap();
        let is_both = tally.folded_count > 0 && tally.unretained_count > 0;
        folded.fetch_add(u64::from(is_both), Ordering::Relaxed);
        for number in 0..KEY_COUNT {
            let key = key_of(number);
            let entries: Vec<_> = out.points.iter().filter(|(of, ..)| *of == key).collect();
            if let [(_, trailer, value)] = entries[..] {
                let start = trailer.kind().expiry_bytes();
                let is_value = !trailer.kind().is_merge();
                assert!(
                    !is_value || !is_dropped(&key, &value[start..]),
                    "{entries:?}"
                );
            }
        }
    });
    assert!(folded.into_inner() > 50);
}

// What lives on of one key under a rule, as text.
fn retained_of(
    writes: &[(u64, Kind, &[u8])],
    snapshots: &[u64],
    is_bottom: bool,
    rule: Arc<dyn retain::RetainRule>,
) -> Result<Vec<String>> {
    let inputs = entries_of(writes);
    let rewrite = Rewrite {
        inputs: &inputs,
        snapshots: snapshots.iter().map(|seqno| SeqNo::new(*seqno)).collect(),
        rule: crate::base::hooks::merge_builtin::builtin("append"),
        bottoms: (0..if is_bottom { KEY_COUNT } else { 0 })
            .map(key_of)
            .collect(),
        ceilings: BTreeMap::new(),
        lower: None,
        retaining: Some(retaining(rule)),
    };
    let (out, _) = rewrite.run()?;
    let points = out.points.iter();
    let told = points.map(|(_, trailer, value)| format!("{trailer:?} {}", value.escape_ascii()));
    Ok(told.collect())
}

fn all() -> Arc<dyn retain::RetainRule> {
    retain::by("all", |_| Ok(Retain::Drop))
}

#[test]
fn what_is_dropped_hides_what_is_older() {
    // Below may lie an older value: a delete takes the place of the newest one, and no older one
    // comes up. At the bottom nothing is left, but for what a snapshot sees, and the delete above.
    let writes = [(1, Kind::Put, &b"older"[..]), (3, Kind::Put, b"newer")];
    assert_eq!(
        retained_of(&writes, &[], false, all()).unwrap(),
        ["3#Delete "]
    );
    assert!(retained_of(&writes, &[], true, all()).unwrap().is_empty());
    let seen = ["3#Delete ", "1#Put older"];
    assert_eq!(retained_of(&writes, &[2], true, all()).unwrap(), seen);
    // What the newest snapshot sees stays, and all below it.
    let both = ["3#Put newer", "1#Put older"];
    assert_eq!(retained_of(&writes, &[2, 3], true, all()).unwrap(), both);
}

#[test]
fn operands_are_shown_to_no_rule() {
    // With a base that has yet to expire the operand stands: neither is the key's value. What both
    // make is, and so is what operands make of nothing.
    let expiring = [&[0xe9, 0x03, 0, 0][..], b"old"].concat();
    let writes = [
        (1, Kind::PutExpiring, &expiring[..]),
        (2, Kind::Merge, b"a"),
    ];
    let kept = ["2#Merge a", "1#PutExpiring \\xe9\\x03\\x00\\x00old"];
    assert_eq!(retained_of(&writes, &[], true, all()).unwrap(), kept);
    let writes = [(1, Kind::Put, &b"old"[..]), (2, Kind::Merge, b"a")];
    assert!(retained_of(&writes, &[], true, all()).unwrap().is_empty());
    assert_eq!(
        retained_of(&writes, &[], false, all()).unwrap(),
        ["2#Delete "]
    );
    let writes = [(2, Kind::Merge, &b"a"[..])];
    assert_eq!(
        retained_of(&writes, &[], false, all()).unwrap(),
        ["2#Merge a"]
    );
}

#[test]
fn a_rule_sees_key_expiry_level_and_value() {
    // An expiring value is shown without its expiry, which is told beside it.
    let rule = retain::by("exact", |entry| {
        assert_eq!(entry.key, key_of(0));
        assert_eq!(entry.level, 3);
        assert_eq!(entry.expiry, Some(Expiry::from_unix_s(0x3e9)));
        assert_eq!(entry.value()?, b"old");
        Ok(Retain::Drop)
    });
    let expiring = [&[0xe9, 0x03, 0, 0][..], b"old"].concat();
    let writes = [(1, Kind::PutExpiring, &expiring[..])];
    assert!(retained_of(&writes, &[], true, rule).unwrap().is_empty());
}

#[test]
fn a_rule_that_panics_or_refuses_ends_the_rewrite() {
    // The error says whose fault it is, and over which key.
    let writes = [(1, Kind::Put, &b"a"[..])];
    let panics = retain::by("panics", |_| panic!("no such tenant"));
    let refuses = retain::by("refuses", |_| Err(Error::invalid("no such tenant")));
    for rule in [panics, refuses] {
        let error = retained_of(&writes, &[], true, Arc::clone(&rule)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        for part in [rule.name(), "`k`", "k000", "no such tenant"] {
            assert!(text.contains(part), "{text}");
        }
    }
    let failing = retaining(all());
    assert!(!failing.has_failed.load(Ordering::Relaxed));
}

#[test]
fn a_damaged_value_is_kept_whatever_the_rule_says() {
    // Its pointer leads nowhere: who reads it is told, and the rule, which drops what it cannot
    // read, has no say.
    let pointer = ValuePointer::to_no_place(1, 3, 0).encode();
    let has_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&has_asked);
    let rule = retain::by("drops what it cannot read", move |entry| {
        asked.store(true, Ordering::Relaxed);
        Ok(match entry.value() {
            Ok(_) => Retain::Keep,
            Err(_) => Retain::Drop,
        })
    });
    let writes = [(1, Kind::PutSeparated, &pointer[..])];
    assert_eq!(retained_of(&writes, &[], true, rule).unwrap().len(), 1);
    assert!(has_asked.load(Ordering::Relaxed));
    // Who does not ask needs no value.
    assert!(retained_of(&writes, &[], true, all()).unwrap().is_empty());
}
