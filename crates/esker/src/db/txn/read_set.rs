//! What a transaction read, as far as its commit depends on it.
//!
//! Keys one by one, and the ranges that cursors came through: not what they were opened for. When
//! all that takes more than 4 MiB, what was read of each keyspace becomes one range around it,
//! which more of others' writes touch, and memory is bounded.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::comparator::Comparator;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::read::newest::Target;
use crate::flow::write::validation::Unchanged;

/// Bytes of keys from which on they become ranges.
const BYTES_MAX: usize = 4 << 20;

/// What one key or range costs beyond its bytes.
const ENTRY_BYTES: usize = 64;

/// What was read, shared with the cursors that read on.
#[derive(Clone, Default)]
pub struct ReadSet(Arc<Mutex<Reads>>);

#[derive(Default)]
struct Reads {
    keyspaces: IdMap<KeyspaceId, KeyspaceReads>,
    bytes: usize,
    /// Whether each keyspace has one range by now.
    is_covering: bool,
}

struct KeyspaceReads {
    parts: Arc<KeyspaceParts>,
    keys: HashSet<Vec<u8>>,
    ranges: Vec<KeyRange>,
}

/// Where a cursor is on its way through a keyspace, for who must know which keys it came past.
#[derive(Clone)]
pub struct ScanRecorder {
    reads: ReadSet,
    parts: Arc<KeyspaceParts>,
    /// Of the cursor.
    range: KeyRange,
    /// The place of its present way among the ranges, once it has begun.
    place: Option<usize>,
}

impl ReadSet {
    /// A key was read.
    pub fn add_key(&self, parts: &Arc<KeyspaceParts>, key: &[u8]) {
        let mut reads = self.reads();
        if reads.is_covering {
            reads.add_range(parts, one_key(key));
            return;
        }
        let keyspace = reads.keyspace(parts);
        if keyspace.keys.insert(key.to_vec()) {
            reads.grow(key.len() + ENTRY_BYTES);
        }
    }

    /// Follows a cursor over `range`.
    pub fn recorder(&self, parts: &Arc<KeyspaceParts>, range: KeyRange) -> ScanRecorder {
        ScanRecorder {
            reads: self.clone(),
            parts: Arc::clone(parts),
            range,
            place: None,
        }
    }

    /// Has `then` see the conditions that nothing of it was written to since `seen`, behind others.
    pub fn with_conditions<T>(
        &self,
        seen: SeqNo,
        others: Vec<Unchanged<'_>>,
        then: impl FnOnce(&[Unchanged<'_>]) -> T,
    ) -> T {
        let reads = self.reads();
        let mut conditions = others;
        for (&keyspace, read) in &reads.keyspaces {
            let keys = read.keys.iter().map(|key| Target::Key(key));
            let targets = keys.chain(read.ranges.iter().map(Target::Range));
            conditions.extend(targets.map(|target| Unchanged {
                keyspace,
                current: &read.parts.current,
                target,
                seen,
            }));
        }
        then(&conditions)
    }

    // Every change is made of steps that each leave more read than was, never less.
    fn reads(&self) -> MutexGuard<'_, Reads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reads {
    fn keyspace(&mut self, parts: &Arc<KeyspaceParts>) -> &mut KeyspaceReads {
        self.keyspaces
            .entry(parts.id)
            .or_insert_with(|| KeyspaceReads {
                parts: Arc::clone(parts),
                keys: HashSet::new(),
                ranges: Vec::new(),
            })
    }

    /// Adds a range and says in which place it is.
    fn add_range(&mut self, parts: &Arc<KeyspaceParts>, range: KeyRange) -> usize {
        let is_covering = self.is_covering;
        let keyspace = self.keyspace(parts);
        if is_covering && let Some(whole) = keyspace.ranges.first_mut() {
            widen_lower(&parts.options().comparator, whole, range.lower);
            widen_upper(&parts.options().comparator, whole, range.upper);
            return 0;
        }
        let bytes = bound_bytes(&range.lower) + bound_bytes(&range.upper) + ENTRY_BYTES;
        keyspace.ranges.push(range);
        let place = keyspace.ranges.len() - 1;
        self.grow(bytes);
        place
    }

    /// The range of a cursor's present way, which was in that place when it began.
    fn way(&mut self, parts: &Arc<KeyspaceParts>, place: usize) -> &mut KeyRange {
        let place = if self.is_covering { 0 } else { place };
        &mut self.keyspace(parts).ranges[place]
    }

    fn grow(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes > BYTES_MAX && !self.is_covering {
            self.is_covering = true;
            for keyspace in self.keyspaces.values_mut() {
                keyspace.cover();
            }
        }
    }
}

impl KeyspaceReads {
    fn cover(&mut self) {
        let comparator = self.parts.options().comparator.clone();
        let keys = std::mem::take(&mut self.keys);
        let ranges = std::mem::take(&mut self.ranges);
        let all = ranges
            .into_iter()
            .chain(keys.iter().map(|key| one_key(key)));
        self.ranges = all
            .reduce(|mut whole, range| {
                widen_lower(&comparator, &mut whole, range.lower);
                widen_upper(&comparator, &mut whole, range.upper);
                whole
            })
            .into_iter()
            .collect();
    }
}

impl ScanRecorder {
    /// The cursor was placed at the first entry of its range, or from `target` on, and stands on
    /// `found` now.
    pub fn sought(&mut self, target: Option<&[u8]>, found: Option<&[u8]>) {
        self.place = None;
        let comparator = self.parts.options().comparator.clone();
        if target.is_some_and(|target| self.range.is_above(&comparator, target)) {
            // Nothing was looked for.
            return;
        }
        let inside = target.filter(|target| !self.range.is_below(&comparator, target));
        let lower = inside.map_or_else(|| self.range.lower.clone(), included);
        let upper = found.map_or_else(|| self.range.upper.clone(), included);
        self.add(KeyRange { lower, upper });
    }

    /// The same from the last entry of its range, or from `target`, backwards.
    pub fn sought_back(&mut self, target: Option<&[u8]>, found: Option<&[u8]>) {
        self.place = None;
        let comparator = self.parts.options().comparator.clone();
        if target.is_some_and(|target| self.range.is_below(&comparator, target)) {
            // Nothing was looked for.
            return;
        }
        let inside = target.filter(|target| !self.range.is_above(&comparator, target));
        let lower = found.map_or_else(|| self.range.lower.clone(), included);
        let upper = inside.map_or_else(|| self.range.upper.clone(), included);
        self.add(KeyRange { lower, upper });
    }

    /// It moved on from where it was, and stands on `found` now.
    pub fn moved(&mut self, found: Option<&[u8]>) {
        // One that was never placed stays nowhere.
        let Some(place) = self.place else { return };
        let upper = found.map_or_else(|| self.range.upper.clone(), included);
        let mut reads = self.reads.reads();
        let way = reads.way(&self.parts, place);
        widen_upper(&self.parts.options().comparator, way, upper);
    }

    /// It moved back from where it was, and stands on `found` now.
    pub fn moved_back(&mut self, found: Option<&[u8]>) {
        let Some(place) = self.place else { return };
        let lower = found.map_or_else(|| self.range.lower.clone(), included);
        let mut reads = self.reads.reads();
        let way = reads.way(&self.parts, place);
        widen_lower(&self.parts.options().comparator, way, lower);
    }

    fn add(&mut self, range: KeyRange) {
        self.place = Some(self.reads.reads().add_range(&self.parts, range));
    }
}

fn widen_lower(comparator: &Comparator, range: &mut KeyRange, lower: Bound<Vec<u8>>) {
    if is_earlier(comparator, &lower, &range.lower) {
        range.lower = lower;
    }
}

fn widen_upper(comparator: &Comparator, range: &mut KeyRange, upper: Bound<Vec<u8>>) {
    if is_later(comparator, &upper, &range.upper) {
        range.upper = upper;
    }
}

fn is_earlier(comparator: &Comparator, lower: &Bound<Vec<u8>>, than: &Bound<Vec<u8>>) -> bool {
    match (lower, than) {
        (_, Bound::Unbounded) => false,
        (Bound::Unbounded, _) => true,
        (
            Bound::Included(key) | Bound::Excluded(key),
            Bound::Included(other) | Bound::Excluded(other),
        ) => match comparator.compare(key, other) {
            Ordering::Less => true,
            Ordering::Equal => matches!((lower, than), (Bound::Included(_), Bound::Excluded(_))),
            Ordering::Greater => false,
        },
    }
}

fn is_later(comparator: &Comparator, upper: &Bound<Vec<u8>>, than: &Bound<Vec<u8>>) -> bool {
    match (upper, than) {
        (_, Bound::Unbounded) => false,
        (Bound::Unbounded, _) => true,
        (
            Bound::Included(key) | Bound::Excluded(key),
            Bound::Included(other) | Bound::Excluded(other),
        ) => match comparator.compare(key, other) {
            Ordering::Greater => true,
            Ordering::Equal => matches!((upper, than), (Bound::Included(_), Bound::Excluded(_))),
            Ordering::Less => false,
        },
    }
}

fn one_key(key: &[u8]) -> KeyRange {
    KeyRange {
        lower: included(key),
        upper: included(key),
    }
}

fn included(key: &[u8]) -> Bound<Vec<u8>> {
    Bound::Included(key.to_vec())
}

fn bound_bytes(bound: &Bound<Vec<u8>>) -> usize {
    match bound {
        Bound::Unbounded => 0,
        Bound::Included(key) | Bound::Excluded(key) => key.len(),
    }
}

#[cfg(test)]
mod tests;
