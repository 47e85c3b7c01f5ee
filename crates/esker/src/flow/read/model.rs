//! What the read path is tested against: a history of writes in a vector and a naive reader.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::{Comparator, CustomComparator};
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::random::Random;
use crate::store::mem::memtable::Memtable;

/// The wall time of every test, in unix seconds; half of the expiries lie before it.
pub const NOW_UNIX_S: u64 = 1_000;

/// The same in unix milliseconds.
pub const NOW_UNIX_MS: u64 = NOW_UNIX_S * 1000;

/// Bytes backwards: an order in which prefixes and separators of the bytewise one are wrong.
struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }
    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

/// The bytewise order, or one of our own, by turns.
pub fn comparator_of(seed: u64) -> Comparator {
    if seed.is_multiple_of(3) {
        Comparator::Custom(Arc::new(Backwards))
    } else {
        Comparator::Bytewise
    }
}

/// An operator whose result shows the sequence of its operands.
pub fn rule() -> MergeRule {
    builtin("append").unwrap()
}

/// One write.
#[derive(Clone, Debug)]
pub struct Write {
    pub key: Vec<u8>,
    pub trailer: Trailer,
    pub value: Vec<u8>,
}

/// Everything that was written to one place, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub comparator: Comparator,
    pub writes: Vec<Write>,
    pub deletes: Vec<RangeDelete>,
}

/// What tests ask a random history for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub write_count: u64,
    pub key_count: u64,
    /// One write in so many deletes a range; 0 for none.
    pub range_delete_one_in: u64,
}

impl History {
    /// Random writes of every kind with numbers from 1 on, gaps between some.
    pub fn random(random: &mut Random, comparator: &Comparator, shape: Shape) -> History {
        let mut history = History {
            comparator: comparator.clone(),
            ..History::default()
        };
        let mut seqno = 0;
        for turn in 0..shape.write_count {
            seqno += 1 + random.below(2);
            let at = SeqNo::new(seqno);
            if shape.range_delete_one_in > 0 && random.one_in(shape.range_delete_one_in) {
                let start = random_key(random, shape.key_count).into();
                let end = random_key(random, shape.key_count).into();
                history.deletes.push(RangeDelete {
                    start,
                    end,
                    seqno: at,
                });
                continue;
            }
            let key = random_key(random, shape.key_count);
            let text = format!("{turn}").into_bytes();
            let (kind, value) = match random.below(8) {
                0 | 1 => (Kind::Delete, Vec::new()),
                2 => {
                    let expiry = u32::try_from(NOW_UNIX_S - 1 + random.below(3)).unwrap();
                    let part_ms = [0, 1, 999][usize::try_from(random.below(3)).unwrap()];
                    let end = Expiry::from_unix_ms(u64::from(expiry) * 1000 + part_ms);
                    (end.put_kind(), end.join(&text))
                }
                3 | 4 => (Kind::Merge, text),
                _ => (Kind::Put, text),
            };
            let trailer = Trailer::new(at, kind);
            history.writes.push(Write {
                key,
                trailer,
                value,
            });
        }
        history
    }

    /// Makes most writes merges, so that long chains of operands come about.
    pub fn turn_into_merges(&mut self, random: &mut Random) {
        for write in &mut self.writes {
            if random.below(8) > 0 {
                write.trailer = Trailer::new(write.trailer.seqno(), Kind::Merge);
                write.value = random.below(100).to_string().into_bytes();
            }
        }
    }

    /// The largest number given out so far.
    pub fn newest(&self) -> SeqNo {
        let points = self.writes.iter().map(|write| write.trailer.seqno());
        let ranges = self.deletes.iter().map(|delete| delete.seqno);
        points.chain(ranges).max().unwrap_or(SeqNo::ZERO)
    }

    /// The smallest number given out so far.
    pub fn oldest(&self) -> SeqNo {
        let points = self.writes.iter().map(|write| write.trailer.seqno());
        let ranges = self.deletes.iter().map(|delete| delete.seqno);
        points.chain(ranges).min().unwrap_or(SeqNo::ZERO)
    }

    /// The history cut into sources by age, newest source first, each a history of its own.
    pub fn cut(&self, random: &mut Random, source_count: u64) -> Vec<History> {
        let newest = self.newest().get();
        let mut cuts: Vec<u64> = (1..source_count)
            .map(|_| random.below(newest + 1))
            .collect();
        cuts.extend([0, newest]);
        cuts.sort_unstable();
        let is_in = |seqno: SeqNo, cut: &[u64]| seqno.get() > cut[0] && seqno.get() <= cut[1];
        let sources = cuts.windows(2).map(|cut| History {
            comparator: self.comparator.clone(),
            writes: (self.writes.iter())
                .filter(|write| is_in(write.trailer.seqno(), cut))
                .cloned()
                .collect(),
            deletes: (self.deletes.iter())
                .filter(|delete| is_in(delete.seqno, cut))
                .cloned()
                .collect(),
        });
        let mut sources: Vec<History> = sources.collect();
        sources.reverse();
        sources
    }

    /// The writes as entries: internal keys and values in order.
    pub fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let encoded = |write: &Write| (key::encode(&write.key, write.trailer), write.value.clone());
        let mut entries: Vec<_> = self.writes.iter().map(encoded).collect();
        entries.sort_by(|left, right| key::compare(&self.comparator, &left.0, &right.0));
        entries
    }

    pub fn cursor(&self) -> VectorCursor {
        VectorCursor::new(&self.comparator, self.entries())
    }

    /// The number of the newest deletion of a range that a reader at `at` sees over `key`.
    pub fn cover(&self, key: &[u8], at: SeqNo) -> Option<SeqNo> {
        let covers = |delete: &&RangeDelete| {
            delete.seqno <= at
                && self.comparator.compare(&delete.start, key) != Ordering::Greater
                && self.comparator.compare(key, &delete.end) == Ordering::Less
        };
        self.deletes
            .iter()
            .filter(covers)
            .map(|delete| delete.seqno)
            .max()
    }

    /// What a reader at `at` must get for `key`.
    pub fn get(&self, key: &[u8], at: SeqNo) -> Option<Vec<u8>> {
        let cover = self.cover(key, at);
        let mut seen: Vec<&Write> = (self.writes.iter())
            .filter(|write| write.key == key && write.trailer.seqno() <= at)
            .filter(|write| Some(write.trailer.seqno()) > cover)
            .collect();
        seen.sort_by_key(|write| write.trailer);
        let mut value = None;
        for write in seen {
            value = match write.trailer.kind() {
                Kind::Put => Some(write.value.clone()),
                kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                    let (expiry, rest) = Expiry::split(kind, &write.value).unwrap();
                    (!expiry.is_past(NOW_UNIX_MS)).then(|| rest.to_vec())
                }
                Kind::Merge => {
                    let rule = rule();
                    Some(rule.0.fold(key, value.as_deref(), &[&write.value]).unwrap())
                }
                _ => None,
            };
        }
        value
    }

    /// All keys and values that a reader at `at` must see, in order.
    pub fn scan(&self, at: SeqNo) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut keys: Vec<&Vec<u8>> = self.writes.iter().map(|write| &write.key).collect();
        keys.sort_by(|left, right| self.comparator.compare(left, right));
        keys.dedup();
        let row = |key: &Vec<u8>| Some((key.clone(), self.get(key, at)?));
        keys.into_iter().filter_map(row).collect()
    }
}

/// A memtable with everything of `history` in it, merges folded as it likes.
pub fn memtable_of(history: &History) -> Arc<Memtable> {
    let mut writer = Memtable::create(history.comparator.clone(), Some(rule()));
    let mut writes = history.writes.clone();
    writes.extend(history.deletes.iter().map(|delete| Write {
        key: delete.start.to_vec(),
        trailer: Trailer::new(delete.seqno, Kind::RangeDelete),
        value: delete.end.to_vec(),
    }));
    writes.sort_by_key(|write| write.trailer);
    for write in &writes {
        writer.insert(write.trailer, &write.key, &write.value);
    }
    Arc::clone(writer.table())
}

/// Short keys, keys that begin others, and keys that share their first eight bytes.
pub fn random_key(random: &mut Random, key_count: u64) -> Vec<u8> {
    let number = random.below(key_count);
    match number % 3 {
        0 => format!("{number:02}").into_bytes(),
        1 => format!("{:02}\0", number - 1).into_bytes(),
        _ => format!("longer-prefix-{number:02}").into_bytes(),
    }
}

/// A cursor over entries in a vector, which can be told to fail.
pub struct VectorCursor {
    comparator: Comparator,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    place: Option<usize>,
    /// Movements left before every movement fails; `None` for no failure.
    pub moves_before_failure: Option<u64>,
    /// Movements so far.
    pub move_count: u64,
}

impl VectorCursor {
    /// `entries` with their internal keys in order.
    pub fn new(comparator: &Comparator, entries: Vec<(Vec<u8>, Vec<u8>)>) -> VectorCursor {
        VectorCursor {
            comparator: comparator.clone(),
            entries,
            place: None,
            moves_before_failure: None,
            move_count: 0,
        }
    }

    fn stand(&mut self, place: Option<usize>) -> Result<bool> {
        self.move_count += 1;
        self.place = place.filter(|&place| place < self.entries.len());
        if let Some(left) = &mut self.moves_before_failure {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                None => {
                    self.place = None;
                    return Err(Error::corruption("a planted failure"));
                }
            }
        }
        Ok(self.place.is_some())
    }

    fn count_where(&self, is_before: impl Fn(Ordering) -> bool, target: &[u8]) -> usize {
        self.entries
            .partition_point(|(entry, _)| is_before(key::compare(&self.comparator, entry, target)))
    }
}

impl Cursor for VectorCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.stand(Some(0))
    }
    fn seek_to_last(&mut self) -> Result<bool> {
        self.stand(self.entries.len().checked_sub(1))
    }
    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let place = self.count_where(Ordering::is_lt, target);
        self.stand(Some(place))
    }
    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        let place = self.count_where(Ordering::is_le, target);
        self.stand(place.checked_sub(1))
    }
    fn next(&mut self) -> Result<bool> {
        let place = self.place.expect("stands on an entry");
        self.stand(Some(place + 1))
    }
    fn prev(&mut self) -> Result<bool> {
        let place = self.place.expect("stands on an entry");
        self.stand(place.checked_sub(1))
    }
    fn is_valid(&self) -> bool {
        self.place.is_some()
    }
    fn key(&self) -> &[u8] {
        &self.entries[self.place.expect("stands on an entry")].0
    }
    fn value(&self) -> Result<&[u8]> {
        Ok(&self.entries[self.place.expect("stands on an entry")].1)
    }
    fn is_surely_newest(&self) -> bool {
        false
    }
    fn value_bytes(&self) -> Result<Bytes> {
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
