//! What flows are tested against: entries in a vector, and a naive reader of them.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::hooks::merge::{MergeOperator, MergeRule};
use crate::base::hooks::merge_builtin::builtin;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error;
use crate::base::types::expiry::Expiry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;

/// The wall time at which tests write, in unix seconds; a third of the expiries lie before it.
pub const NOW_UNIX_S: u64 = 1_000;

/// Now, in unix milliseconds.
pub const NOW_UNIX_MS: u64 = NOW_UNIX_S * 1000;

/// Wall times at which a reader may look: now, amid the expiries, after all of them.
pub const READ_TIMES_UNIX_MS: [u64; 6] = [
    NOW_UNIX_MS,
    NOW_UNIX_MS + 1,
    NOW_UNIX_MS + 998,
    NOW_UNIX_MS + 999,
    NOW_UNIX_MS + 1_000,
    NOW_UNIX_MS + 10_000,
];

/// Appends, and refuses what holds a `!`, alone or in company; some refuse more than that.
struct Picky {
    name: &'static str,
    /// Whether a missing base is refused.
    needs_base: bool,
    /// The longest operand that two may become.
    combined_bytes_max: usize,
}

impl MergeOperator for Picky {
    fn name(&self) -> &str {
        self.name
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        if self.needs_base && base.is_none() {
            return Err("there is nothing to append to".to_owned());
        }
        let parts: Vec<&[u8]> = base.into_iter().chain(operands.iter().copied()).collect();
        let whole = parts.concat();
        if whole.contains(&b'!') {
            return Err("there is a `!` in it".to_owned());
        }
        Ok(whole)
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        let whole = [older, newer].concat();
        (whole.len() <= self.combined_bytes_max).then_some(whole)
    }
}

fn picky(name: &'static str, needs_base: bool, combined_bytes_max: usize) -> MergeRule {
    MergeRule(Arc::new(Picky {
        name,
        needs_base,
        combined_bytes_max,
    }))
}

/// Each kind of operator by turns: built-in ones, some that refuse, some that do not combine.
pub fn rule_of(seed: u64) -> MergeRule {
    match seed % 6 {
        0 => builtin("uint64add").unwrap(),
        1 => builtin("append").unwrap(),
        2 => picky("refuses", false, usize::MAX),
        3 => picky("needs a base", true, usize::MAX),
        4 => picky("never combines", false, 0),
        _ => picky("combines a little", true, 4),
    }
}

/// Entries and range deletes of one keyspace, in any order.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    pub points: Vec<(Vec<u8>, Trailer, Vec<u8>)>,
    pub range_deletes: Vec<RangeDelete>,
}

/// What a reader gets: a value, none, or an error of the merge operator.
pub type Answer = Result<Option<Vec<u8>>, ()>;

/// The key of that number; they lie in the order of their numbers.
pub fn key_of(number: u64) -> Vec<u8> {
    format!("k{number:03}").into_bytes()
}

impl Entries {
    /// Random writes to `key_count` keys with numbers from 1 on, gaps between some.
    pub fn random(random: &mut Random, write_count: u64, key_count: u64) -> Entries {
        let mut entries = Entries::default();
        let mut seqno = 0;
        let merge_heavy = random.one_in(2);
        for _ in 0..write_count {
            seqno += 1 + random.below(2);
            let write = random_write(random, key_count, merge_heavy);
            entries.write(SeqNo::new(seqno), write);
        }
        entries
    }

    /// Adds one write; the value of a [`Kind::RangeDelete`] is its end.
    pub fn write(&mut self, seqno: SeqNo, write: (Kind, Vec<u8>, Vec<u8>)) {
        let (kind, key, value) = write;
        if kind != Kind::RangeDelete {
            self.points.push((key, Trailer::new(seqno, kind), value));
        } else if key < value {
            self.range_deletes.push(RangeDelete {
                start: key.into(),
                end: value.into(),
                seqno,
            });
        }
    }

    /// Both together.
    pub fn and(&self, other: &Entries) -> Entries {
        Entries {
            points: [&self.points[..], &other.points[..]].concat(),
            range_deletes: [&self.range_deletes[..], &other.range_deletes[..]].concat(),
        }
    }

    /// The largest number there is.
    pub fn newest(&self) -> SeqNo {
        let points = self.points.iter().map(|(_, trailer, _)| trailer.seqno());
        let ranges = self.range_deletes.iter().map(|delete| delete.seqno);
        points.chain(ranges).max().unwrap_or(SeqNo::ZERO)
    }

    /// What a reader at `at` who looks at that time must get for `key`: every visible write to
    /// the key done again, one after the other.
    pub fn get(&self, rule: &MergeRule, key: &[u8], at: SeqNo, now_unix_ms: u64) -> Answer {
        let points = (self.points.iter())
            .filter(|(of, ..)| of == key)
            .map(|(_, trailer, value)| (trailer.seqno(), trailer.kind(), &value[..]));
        let range_deletes = (self.range_deletes.iter())
            .filter(|delete| &delete.start[..] <= key && key < &delete.end[..])
            .map(|delete| (delete.seqno, Kind::RangeDelete, &[][..]));
        let mut writes: Vec<_> = points.chain(range_deletes).collect();
        writes.retain(|(seqno, ..)| *seqno <= at);
        writes.sort_unstable_by_key(|(seqno, ..)| *seqno);
        let mut answer = Ok(None);
        for (_, kind, value) in writes {
            answer = match kind {
                Kind::Put => Ok(Some(value.to_vec())),
                kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                    let (expiry, value) = Expiry::split(kind, value).unwrap();
                    Ok((!expiry.is_past(now_unix_ms)).then(|| value.to_vec()))
                }
                Kind::Merge => answer.and_then(|base| {
                    let folded = rule.0.fold(key, base.as_deref(), &[value]);
                    folded.map(Some).map_err(|_| ())
                }),
                Kind::Delete | Kind::RangeDelete => Ok(None),
                Kind::MergeFolded => panic!("only memtables hold this"),
                Kind::PutSeparated
                | Kind::PutSeparatedExpiring
                | Kind::PutSeparatedExpiringMillis => {
                    panic!("the model has no value log")
                }
            };
        }
        answer
    }

    /// A cursor over the points, newest first within a key.
    pub fn cursor(&self) -> VectorCursor {
        let mut sorted = self.points.clone();
        sorted.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
        VectorCursor {
            entries: (sorted.into_iter())
                .map(|(key, trailer, value)| (key::encode(&key, trailer), value))
                .collect(),
            place: None,
        }
    }
}

/// One random write: kind, key, value.
pub fn random_write(
    random: &mut Random,
    key_count: u64,
    is_merge_heavy: bool,
) -> (Kind, Vec<u8>, Vec<u8>) {
    let key = key_of(random.below(key_count));
    // Eight bytes once in a while, for operators that count; a `!` for those that refuse.
    let value = match random.below(8) {
        0 => random.below(300).to_le_bytes().to_vec(),
        1 => b"!".to_vec(),
        2 => Vec::new(),
        _ => format!("{}", random.below(1000)).into_bytes(),
    };
    match random.below(if is_merge_heavy { 20 } else { 12 }) {
        0 | 1 => (Kind::Delete, key, Vec::new()),
        2 | 3 => {
            let expiry = u32::try_from(NOW_UNIX_S + random.below(3)).unwrap();
            // Half of them between two seconds.
            let part_ms = [0, 0, 1, 999][usize::try_from(random.below(4)).unwrap()];
            let end = Expiry::from_unix_ms(u64::from(expiry) * 1000 + part_ms);
            (end.put_kind(), key, end.join(&value))
        }
        4 => (Kind::RangeDelete, key, key_of(random.below(key_count + 1))),
        5..9 => (Kind::Put, key, value),
        _ => (Kind::Merge, key, value),
    }
}

/// A cursor over entries in a vector that only moves forward.
pub struct VectorCursor {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    place: Option<usize>,
}

impl VectorCursor {
    fn stand(&mut self, place: usize) -> error::Result<bool> {
        self.place = (place < self.entries.len()).then_some(place);
        Ok(self.place.is_some())
    }

    fn entry(&self) -> &(Vec<u8>, Vec<u8>) {
        &self.entries[self.place.expect("stands on an entry")]
    }
}

impl Cursor for VectorCursor {
    fn seek_to_first(&mut self) -> error::Result<bool> {
        self.stand(0)
    }
    fn seek_to_last(&mut self) -> error::Result<bool> {
        unreachable!("a rewrite moves forward")
    }
    fn seek(&mut self, target: &[u8]) -> error::Result<bool> {
        let comparator = Default::default();
        let is_before = |entry: &(Vec<u8>, Vec<u8>)| {
            key::compare(&comparator, &entry.0, target) == Ordering::Less
        };
        self.stand(self.entries.partition_point(is_before))
    }
    fn seek_for_prev(&mut self, _: &[u8]) -> error::Result<bool> {
        unreachable!("a rewrite moves forward")
    }
    fn next(&mut self) -> error::Result<bool> {
        self.stand(self.place.expect("stands on an entry") + 1)
    }
    fn prev(&mut self) -> error::Result<bool> {
        unreachable!("a rewrite moves forward")
    }
    fn is_valid(&self) -> bool {
        self.place.is_some()
    }
    fn key(&self) -> &[u8] {
        &self.entry().0
    }
    fn value(&self) -> error::Result<&[u8]> {
        Ok(&self.entry().1)
    }
    fn is_surely_newest(&self) -> bool {
        false
    }
    fn value_bytes(&self) -> error::Result<Bytes> {
        self.value().map(Bytes::copy_of)
    }
    fn fill(&mut self, _: Way, _: Fill<'_>, _: &mut EntryChunk) -> bool {
        false
    }
    fn encoded(&self) -> Option<Encoded<'_>> {
        None
    }
}

/// Runs `story` for `count` seeds and names the seed that fails.
pub fn for_seeds(count: u64, story: impl Fn(u64, &mut Random)) {
    for seed in 0..count {
        let run = std::panic::AssertUnwindSafe(|| story(seed, &mut Random::new(seed)));
        if let Err(failure) = std::panic::catch_unwind(run) {
            eprintln!("the failing seed is {seed}");
            std::panic::resume_unwind(failure);
        }
    }
}
