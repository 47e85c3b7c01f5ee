//! What a program can do, as small numbers, so that a printed operation can be pasted as code.

use std::collections::BTreeMap;
use std::ops::Bound;

use esker::Durability;
use esker::internals::env::random::Random;

/// A keyspace by its place in the program's list.
pub type Place = usize;

/// Where and when something is read: a keyspace, now or as a snapshot's slot has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub Place, pub Option<u8>);

/// One end of a range, by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Open,
    With(u16),
    Without(u16),
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Put(u16, u32),
    PutTtl(u16, u32, u32),
    Delete(u16),
    DeleteRange(u16, u16),
    Merge(u16, u32),
    /// Sets when a value ends: so many milliseconds from now, or never.
    Expire(u16, Option<u32>),
}

/// One movement of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    First,
    Last,
    Seek(u16),
    SeekForPrev(u16),
    Next,
    Prev,
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Write(Place, Write, u8),
    DeleteBounds(Place, End, End),
    Batch(Vec<(Place, Write)>, u8),
    /// Swaps in a value; the flag says whether the present one is expected.
    Swap(Place, u16, bool, Option<u32>),
    Update(Place, u16, u32),
    /// Sets when a value ends: so many milliseconds from now, or never.
    Expire(Place, u16, Option<u32>),
    Get(At, u16),
    MultiGet(At, Vec<u16>),
    Contains(At, u16),
    /// Reads a range to its end; each bit says which end the next entry is taken from.
    Range(At, End, End, u64),
    Prefix(At, u16, u64),
    /// The entry at an end of a range; the flag says whether the last one is meant.
    Edge(At, End, End, bool),
    Walk(At, Vec<Move>),
    Snapshot(u8),
    Release(u8),
    /// Makes an iterator that later steps read on.
    Hold(u8, At, End, End),
    Step(u8, u64, u8),
    /// The same over the keys with a prefix.
    HoldPrefix(u8, At, u16),
    /// Has an iterator begin again, with what is there now.
    Restart(u8),
    /// Makes a cursor that later steps move on.
    Point(u8, At),
    Wander(u8, Vec<Move>),
    /// Moves a cursor without a look at where it stands.
    Drift(u8, Vec<Move>),
    /// What a cursor stands on.
    Look(u8),
    /// Has a cursor see what is there now.
    Refresh(u8),
    LetGo(u8),
    Flush(Place),
    Compact(Place, End, End),
    /// Puts many keys in order: from, count, tag.
    Fill(Place, u16, u16, u32),
    Drop(Place),
    /// Uses a handle of a keyspace that was dropped, if there is one.
    Ghost(Place, u16),
    /// By so many milliseconds.
    Advance(u32),
    /// Runs so many background jobs.
    Work(u8),
    Sync,
    /// Changes a setting of a keyspace, or of the database, by a number.
    Set(Place, u32),
    /// Copies the database, and reads all of the copy.
    Checkpoint,
    /// Takes in files with these writes, at one moment: in each keyspace the deletes of ranges act
    /// first, and of a key the last write counts. With the flag only puts of keys that have no
    /// value.
    Ingest(Vec<(Place, Write)>, bool),
    /// Exports a keyspace, takes it in by another database, and reads all of it there.
    Export(Place),
    /// Exports a keyspace, and takes it in by itself.
    Return(Place),
    /// Closes, by the call or by letting go, and opens with other settings.
    Reopen(bool),
}

/// The bytes of a key: short ones with much in common, and a few odd ones.
pub fn key(number: u16) -> Vec<u8> {
    match number {
        0 => Vec::new(),
        1 => vec![0],
        2 => vec![0xff, 0xff],
        3 => vec![b'k'; 3000],
        4 => b"k".to_vec(),
        n if n % 7 == 0 && n < 200 => [key(n - 1), vec![0]].concat(),
        n if n < 200 => format!("k{n:03}").into_bytes(),
        n => format!("shared prefix of many keys {n:05}").into_bytes(),
    }
}

/// The bytes of a value: mostly short and around the thresholds of `settings`, rarely larger than a
/// block, a segment of values, and all the memory there is.
pub fn value(tag: u32) -> Vec<u8> {
    let rest = tag / 16;
    let len = match tag % 16 {
        0 => 0,
        1..=8 => 8,
        9..=10 => 31 + rest as usize % 3,
        11..=13 => 59 + rest as usize % 3,
        14 => 699 + rest as usize % 3,
        _ if rest.is_multiple_of(512) => 8 << 20,
        _ if rest % 256 == 1 => 1 << 20,
        _ if rest % 32 == 2 => 70_000,
        _ => 4000,
    };
    let mut random = Random::new(u64::from(tag));
    if tag.is_multiple_of(2) {
        // Half of them compress well.
        vec![random.bytes(1)[0]; len]
    } else {
        random.bytes(len)
    }
}

/// What files with these writes hold, by keyspace: deletes of ranges, and then the last write to
/// each key, in no order.
pub fn as_files(writes: &[(Place, Write)]) -> BTreeMap<Place, Vec<Write>> {
    let mut ranges: BTreeMap<Place, Vec<Write>> = BTreeMap::new();
    let mut points: BTreeMap<(Place, u16), Write> = BTreeMap::new();
    for (place, write) in writes {
        let of_place = ranges.entry(*place).or_default();
        match write {
            Write::DeleteRange(..) => of_place.push(write.clone()),
            // Files have no such thing.
            Write::Expire(..) => {}
            Write::Put(number, _)
            | Write::PutTtl(number, ..)
            | Write::Delete(number)
            | Write::Merge(number, _) => {
                points.insert((*place, *number), write.clone());
            }
        }
    }
    for ((place, _), write) in points {
        ranges.entry(place).or_default().push(write);
    }
    ranges
}

/// A range of keys by their bytes.
pub fn bounds(lower: End, upper: End) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let bound = |end| match end {
        End::Open => Bound::Unbounded,
        End::With(number) => Bound::Included(key(number)),
        End::Without(number) => Bound::Excluded(key(number)),
    };
    (bound(lower), bound(upper))
}

/// The durability that a number stands for; `None` is the database's own.
pub fn durability(number: u8) -> Option<Durability> {
    match number % 4 {
        0 => None,
        1 => Some(Durability::Memory),
        2 => Some(Durability::Buffered),
        _ => Some(Durability::Sync),
    }
}

/// The value after an update, by the one before; `None` keeps, `Some(None)` removes.
pub fn updated(present: Option<&[u8]>, tag: u32) -> Option<Option<Vec<u8>>> {
    match present {
        None => Some(Some(value(tag))),
        Some(present) if present.len() % 5 == 1 => None,
        Some(present) if present.len() > 200 => Some(None),
        Some(present) => Some(Some([present, &tag.to_le_bytes()].concat())),
    }
}

/// A value as an answer shows it: whole when short, else its beginning, length and sum.
pub fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= 16 {
        return format!("\"{}\"", bytes.escape_ascii());
    }
    let sum = bytes.iter().fold(0u64, |sum, byte| {
        sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte)
    });
    format!(
        "\"{}…\" {} {sum:x}",
        bytes[..12].escape_ascii(),
        bytes.len()
    )
}

/// What may be there, as an answer shows it.
pub fn shown_or_none(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| "none".into(), shown)
}

/// An entry as an answer shows it.
pub fn shown_entry(key: &[u8], value: &[u8]) -> String {
    format!("{}={}", shown(key), shown(value))
}
