//! The model: an ordered map per keyspace; a snapshot is a copy.

use esker::Expiry;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::operation::{
    At, End, Move, Operation, Place, Write, as_files, bounds, key, shown_entry, shown_or_none,
    updated, value,
};
use super::program::KeyspaceShape;

/// Where the simulated clock begins.
const START_UNIX_MS: u64 = 1_767_225_600_000;

/// What was written to one key since its last whole value.
#[derive(Clone, Default)]
struct Cell {
    /// The value and the second from which it is gone.
    base: Option<(Vec<u8>, Option<u64>)>,
    /// Merged since, oldest first.
    operands: Vec<Vec<u8>>,
}

#[derive(Clone, Default)]
struct Map {
    /// Another one each time the keyspace is created anew.
    incarnation: u64,
    cells: BTreeMap<Vec<u8>, Cell>,
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// An iterator or a cursor over what was there when it was made.
#[derive(Clone)]
struct Held {
    entries: Entries,
    /// What an iterator has left; where a cursor stands.
    left: std::ops::Range<usize>,
    stands: Option<usize>,
}

/// Which keys an iterator is over.
#[derive(Clone, Copy)]
enum Span {
    Range(End, End),
    Prefix(u16),
}

/// The model of a database.
pub struct Plain {
    shapes: Vec<KeyspaceShape>,
    maps: Vec<Map>,
    /// What handles and cursors of dropped keyspaces still read, by incarnation.
    ghosts: BTreeMap<(Place, u64), Map>,
    snapshots: BTreeMap<u8, Vec<Map>>,
    /// Each with the keyspace that it is over, and its incarnation.
    iterators: BTreeMap<u8, (Place, u64, Span, Held)>,
    /// The same.
    cursors: BTreeMap<u8, (Place, u64, Held)>,
    now_unix_ms: u64,
}

impl Plain {
    pub fn new(shapes: &[KeyspaceShape]) -> Plain {
        Plain {
            shapes: shapes.to_vec(),
            maps: vec![Map::default(); shapes.len()],
            ghosts: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            iterators: BTreeMap::new(),
            cursors: BTreeMap::new(),
            now_unix_ms: START_UNIX_MS,
        }
    }

    pub fn now_unix_ms(&self) -> u64 {
        self.now_unix_ms
    }

    /// The answer of one operation.
    pub fn run(&mut self, operation: &Operation) -> String {
        match operation {
            Operation::Write(place, write, _) => self.write(*place, write),
            Operation::DeleteBounds(place, lower, upper) => {
                for (key, _) in self.range(At(*place, None), *lower, *upper) {
                    self.maps[*place].cells.remove(&key);
                }
            }
            Operation::Batch(writes, _) => {
                for (place, write) in writes {
                    self.write(*place, write);
                }
            }
            Operation::Swap(place, number, is_expected, new) => {
                if *is_expected {
                    self.set(*place, *number, new.map(value));
                }
                return is_expected.to_string();
            }
            Operation::Update(place, number, tag) => {
                let present = self.get(At(*place, None), &key(*number));
                if let Some(after) = updated(present.as_deref(), *tag) {
                    self.set(*place, *number, after);
                }
                let after = updated(present.as_deref(), *tag).unwrap_or(present);
                return shown_or_none(after.as_deref());
            }
            Operation::Expire(place, number, ttl_ms) => {
                let Some(expiry) = self.expire(*place, *number, *ttl_ms) else {
                    return "false None".into();
                };
                return format!("true {:?}", Some(expiry.map(Expiry::from_unix_ms)));
            }
            Operation::Get(at, number) => {
                return shown_or_none(self.get(*at, &key(*number)).as_deref());
            }
            Operation::MultiGet(at, numbers) => {
                let get = |number: &u16| shown_or_none(self.get(*at, &key(*number)).as_deref());
                return numbers.iter().map(get).collect::<Vec<_>>().join(" ");
            }
            Operation::Contains(at, number) => {
                return self.get(*at, &key(*number)).is_some().to_string();
            }
            Operation::Range(at, lower, upper, ends) => {
                return Held::over(self.range(*at, *lower, *upper)).take(*ends, usize::MAX);
            }
            Operation::Prefix(at, number, ends) => {
                return Held::over(self.prefixed(*at, *number)).take(*ends, usize::MAX);
            }
            Operation::Edge(at, lower, upper, is_last) => {
                let entries = self.range(*at, *lower, *upper);
                let entry = match is_last {
                    true => entries.last(),
                    false => entries.first(),
                };
                return entry.map_or("none".into(), |(key, value)| shown_entry(key, value));
            }
            Operation::Walk(at, moves) => {
                let is_reversed = self.shapes[at.0].is_reversed;
                return Held::over(self.entries(*at)).walk(moves, is_reversed);
            }
            Operation::Snapshot(slot) => drop(self.snapshots.insert(*slot, self.maps.clone())),
            Operation::Release(slot) => drop(self.snapshots.remove(slot)),
            Operation::Hold(slot, at, lower, upper) => {
                self.hold(*slot, *at, Span::Range(*lower, *upper));
            }
            Operation::Step(slot, ends, count) => {
                let held = self.iterators.get_mut(slot);
                return held
                    .map_or_else(String::new, |(.., held)| held.take(*ends, (*count).into()));
            }
            Operation::HoldPrefix(slot, at, number) => {
                // In another order than the bytewise one there are no prefixes: of all.
                let span = match self.shapes[at.0].is_reversed {
                    true => Span::Range(End::Open, End::Open),
                    false => Span::Prefix(*number),
                };
                self.hold(*slot, *at, span);
            }
            Operation::Restart(slot) => {
                let Some((place, incarnation, span, _)) = self.iterators.get(slot).cloned() else {
                    return "nobody".into();
                };
                let map = self.of_incarnation(place, incarnation);
                let entries = self.entries_of(place, map);
                let held = Held::over(self.within(place, entries, span));
                self.iterators
                    .insert(*slot, (place, incarnation, span, held));
            }
            Operation::Point(slot, at) => {
                let incarnation = self.maps[at.0].incarnation;
                let held = Held::over(self.entries(*at));
                self.cursors.insert(*slot, (at.0, incarnation, held));
            }
            Operation::Wander(slot, moves) => {
                let cursor = self.cursors.get_mut(slot);
                return cursor.map_or_else(String::new, |(place, _, held)| {
                    held.walk(moves, self.shapes[*place].is_reversed)
                });
            }
            Operation::Drift(slot, moves) => {
                if let Some((place, _, held)) = self.cursors.get_mut(slot) {
                    held.walk(moves, self.shapes[*place].is_reversed);
                    return held.stands.is_some().to_string();
                }
            }
            Operation::Look(slot) => {
                let cursor = self.cursors.get(slot);
                return cursor.map_or_else(String::new, |(_, _, held)| held.shown());
            }
            Operation::Refresh(slot) => {
                let Some((place, incarnation, _)) = self.cursors.get(slot).cloned() else {
                    return "nobody".into();
                };
                let map = self.of_incarnation(place, incarnation);
                let held = Held::over(self.entries_of(place, map));
                self.cursors.insert(*slot, (place, incarnation, held));
                return "false".into();
            }
            Operation::LetGo(slot) => {
                self.iterators.remove(slot);
                self.cursors.remove(slot);
            }
            Operation::Fill(place, first, count, tag) => {
                for number in *first..first + count {
                    self.set(*place, number, Some(value(tag + u32::from(number))));
                }
            }
            Operation::Drop(0) => return "Invalid".into(),
            Operation::Drop(place) => {
                let incarnation = self.maps[*place].incarnation + 1;
                let next = Map {
                    incarnation,
                    ..Map::default()
                };
                let dropped = std::mem::replace(&mut self.maps[*place], next);
                self.ghosts.insert((*place, dropped.incarnation), dropped);
            }
            Operation::Ghost(place, number) => return self.haunt(*place, &key(*number)),
            Operation::Advance(millis) => self.now_unix_ms += u64::from(*millis),
            Operation::Reopen(_) => {
                self.ghosts.clear();
                self.snapshots.clear();
                self.iterators.clear();
                self.cursors.clear();
            }
            Operation::Checkpoint => {
                let all = |place| Held::over(self.entries(At(place, None))).take(0, usize::MAX);
                return (0..self.maps.len()).map(all).collect::<Vec<_>>().join("; ");
            }
            Operation::Ingest(writes, is_below) => {
                for (place, writes) in as_files(writes) {
                    for write in writes {
                        self.take_in(place, &write, *is_below);
                    }
                }
            }
            Operation::Export(place) => {
                return Held::over(self.entries(At(*place, None))).take(0, usize::MAX);
            }
            Operation::Return(place) => self.set_values(*place),
            Operation::Flush(_)
            | Operation::Compact(..)
            | Operation::Work(_)
            | Operation::Set(..)
            | Operation::Sync => {}
        }
        "ok".into()
    }

    // What is to live for whole seconds ends at one, and not too early.
    fn end_after(&self, ttl_ms: u64) -> u64 {
        let end = self.now_unix_ms + ttl_ms;
        match ttl_ms % 1000 {
            0 => end.next_multiple_of(1000),
            _ => end,
        }
    }

    fn set(&mut self, place: Place, number: u16, new: Option<Vec<u8>>) {
        let ttl_ms = u64::from(self.shapes[place].ttl_ms);
        let expiry = (ttl_ms > 0).then_some(self.end_after(ttl_ms));
        let cells = &mut self.maps[place].cells;
        match new {
            None => drop(cells.remove(&key(number))),
            Some(value) => drop(cells.insert(key(number), Cell::of(value, expiry))),
        }
    }

    // When the value ends from now on, if there is one.
    fn expire(&mut self, place: Place, number: u16, ttl_ms: Option<u32>) -> Option<Option<u64>> {
        let value = self.get(At(place, None), &key(number))?;
        let expiry = ttl_ms.map(|ttl_ms| self.now_unix_ms + u64::from(ttl_ms));
        let cells = &mut self.maps[place].cells;
        cells.insert(key(number), Cell::of(value, expiry));
        Some(expiry)
    }

    fn write(&mut self, place: Place, write: &Write) {
        match write {
            Write::Expire(number, ttl_ms) => drop(self.expire(place, *number, *ttl_ms)),
            Write::Put(number, tag) => self.set(place, *number, Some(value(*tag))),
            Write::PutTtl(number, tag, ttl_ms) => {
                let end = self.end_after(u64::from(*ttl_ms));
                let cell = Cell::of(value(*tag), Some(end));
                self.maps[place].cells.insert(key(*number), cell);
            }
            Write::Delete(number) => self.set(place, *number, None),
            Write::DeleteRange(start, end) => {
                let (start, end) = (End::With(*start), End::Without(*end));
                let comparator = self.shapes[place].comparator();
                let (lower, upper) = bounds(start, end);
                let is_inside = |key: &[u8]| is_inside(&comparator, key, &lower, &upper);
                self.maps[place].cells.retain(|key, _| !is_inside(key));
            }
            Write::Merge(number, tag) => {
                let cell = self.maps[place].cells.entry(key(*number)).or_default();
                cell.operands.push(value(*tag));
            }
        }
    }

    fn take_in(&mut self, place: Place, write: &Write, is_below: bool) {
        let number = match write {
            Write::Put(number, _) | Write::PutTtl(number, _, _) => *number,
            Write::Delete(_) | Write::DeleteRange(..) | Write::Merge(..) if is_below => return,
            _ => return self.write(place, write),
        };
        if !is_below || self.get(At(place, None), &key(number)).is_none() {
            self.write(place, write);
        }
    }

    // What operands were folded into is a value from now on.
    fn set_values(&mut self, place: Place) {
        let (shape, now_unix_ms) = (&self.shapes[place], self.now_unix_ms);
        for (key, cell) in &mut self.maps[place].cells {
            if let Some(value) = cell.value(shape, key, now_unix_ms) {
                let base = cell.base.as_ref().filter(|_| cell.operands.is_empty());
                *cell = Cell::of(value, base.and_then(|(_, expiry)| *expiry));
            }
        }
    }

    fn map(&self, At(place, slot): At) -> Option<&Map> {
        let now = &self.maps[place];
        match slot.and_then(|slot| self.snapshots.get(&slot)) {
            None => Some(now),
            // A keyspace that was created later is empty in the snapshot.
            Some(maps) => Some(&maps[place]).filter(|map| map.incarnation == now.incarnation),
        }
    }

    fn of_incarnation(&self, place: Place, incarnation: u64) -> &Map {
        let now = &self.maps[place];
        match now.incarnation == incarnation {
            true => now,
            false => &self.ghosts[&(place, incarnation)],
        }
    }

    fn hold(&mut self, slot: u8, at: At, span: Span) {
        let held = Held::over(self.within(at.0, self.entries(at), span));
        let incarnation = self.maps[at.0].incarnation;
        self.iterators.insert(slot, (at.0, incarnation, span, held));
    }

    fn get(&self, at: At, key: &[u8]) -> Option<Vec<u8>> {
        let cell = self.map(at)?.cells.get(key)?;
        cell.value(&self.shapes[at.0], key, self.now_unix_ms)
    }

    fn haunt(&self, place: Place, key: &[u8]) -> String {
        let mut ghosts = self.ghosts.range((place, 0)..=(place, u64::MAX));
        let Some((_, map)) = ghosts.next_back() else {
            return "no ghost".into();
        };
        let value =
            |key: &[u8], cell: &Cell| cell.value(&self.shapes[place], key, self.now_unix_ms);
        let cells = map.cells.iter();
        let count = cells
            .filter(|(key, cell)| value(key, cell).is_some())
            .count();
        let one = map.cells.get(key).and_then(|cell| value(key, cell));
        format!(
            "Invalid Invalid {} of {count}",
            shown_or_none(one.as_deref())
        )
    }

    /// Everything there is to see, in the order of the keyspace.
    fn entries(&self, at: At) -> Entries {
        let map = self.map(at);
        map.map_or_else(Vec::new, |map| self.entries_of(at.0, map))
    }

    fn entries_of(&self, place: Place, map: &Map) -> Entries {
        let shape = &self.shapes[place];
        let seen = map.cells.iter().filter_map(|(key, cell)| {
            let value = cell.value(shape, key, self.now_unix_ms)?;
            Some((key.clone(), value))
        });
        let mut entries: Entries = seen.collect();
        if shape.is_reversed {
            entries.reverse();
        }
        entries
    }

    fn prefixed(&self, at: At, number: u16) -> Entries {
        self.within(at.0, self.entries(at), Span::Prefix(number))
    }

    fn range(&self, at: At, lower: End, upper: End) -> Entries {
        self.within(at.0, self.entries(at), Span::Range(lower, upper))
    }

    fn within(&self, place: Place, mut entries: Entries, span: Span) -> Entries {
        match span {
            Span::Range(lower, upper) => {
                let comparator = self.shapes[place].comparator();
                let (lower, upper) = bounds(lower, upper);
                entries.retain(|(key, _)| is_inside(&comparator, key, &lower, &upper));
            }
            Span::Prefix(number) => entries.retain(|(here, _)| here.starts_with(&key(number))),
        }
        entries
    }
}

fn is_inside(
    comparator: &esker::Comparator,
    key: &[u8],
    lower: &Bound<Vec<u8>>,
    upper: &Bound<Vec<u8>>,
) -> bool {
    let is_after_lower = match lower {
        Bound::Unbounded => true,
        Bound::Included(lower) => comparator.compare(lower, key).is_le(),
        Bound::Excluded(lower) => comparator.compare(lower, key).is_lt(),
    };
    let is_before_upper = match upper {
        Bound::Unbounded => true,
        Bound::Included(upper) => comparator.compare(key, upper).is_le(),
        Bound::Excluded(upper) => comparator.compare(key, upper).is_lt(),
    };
    is_after_lower && is_before_upper
}

impl Cell {
    fn of(value: Vec<u8>, expiry: Option<u64>) -> Cell {
        Cell {
            base: Some((value, expiry)),
            operands: Vec::new(),
        }
    }

    fn value(&self, shape: &KeyspaceShape, key: &[u8], now_unix_ms: u64) -> Option<Vec<u8>> {
        let is_alive = |expiry: Option<u64>| expiry.is_none_or(|expiry| now_unix_ms < expiry);
        let base = self.base.as_ref().filter(|(_, expiry)| is_alive(*expiry));
        let base = base.map(|(value, _)| &value[..]);
        if self.operands.is_empty() {
            return base.map(<[u8]>::to_vec);
        }
        let operands: Vec<&[u8]> = self.operands.iter().map(|operand| &operand[..]).collect();
        Some(shape.merge_rule().0.fold(key, base, &operands).unwrap())
    }
}

impl Held {
    fn over(entries: Entries) -> Held {
        Held {
            left: 0..entries.len(),
            entries,
            stands: None,
        }
    }

    fn take(&mut self, ends: u64, count: usize) -> String {
        let mut answer = Vec::new();
        for step in 0..count {
            let is_back = ends >> (step % 64) & 1 == 1;
            let index = if is_back {
                self.left.next_back()
            } else {
                self.left.next()
            };
            let Some(index) = index else {
                answer.push("end".into());
                break;
            };
            let (key, value) = &self.entries[index];
            answer.push(shown_entry(key, value));
        }
        answer.join(" ")
    }

    fn walk(&mut self, moves: &[Move], is_reversed: bool) -> String {
        let comparator = super::program::comparator(is_reversed);
        let mut answer = Vec::new();
        for step in moves {
            let at_least = |target: &[u8]| {
                self.entries
                    .partition_point(|(key, _)| comparator.compare(key, target).is_lt())
            };
            let at_most = |target: &[u8]| {
                self.entries
                    .partition_point(|(key, _)| comparator.compare(key, target).is_le())
            };
            let index = match step {
                Move::First => Some(0),
                Move::Last => self.entries.len().checked_sub(1),
                Move::Seek(number) => Some(at_least(&key(*number))),
                Move::SeekForPrev(number) => at_most(&key(*number)).checked_sub(1),
                Move::Next => self.stands.map(|index| index + 1),
                Move::Prev => self.stands.and_then(|index| index.checked_sub(1)),
            };
            self.stands = index.filter(|index| *index < self.entries.len());
            answer.push(self.shown());
        }
        answer.join(" ")
    }

    /// What a cursor stands on.
    fn shown(&self) -> String {
        let entry = self.stands.map(|index| &self.entries[index]);
        entry.map_or("nowhere".into(), |(key, value)| shown_entry(key, value))
    }
}
