//! The transactions that are prepared: what each claims, and which segments of the log they need.
//!
//! A segment is needed for a prepare until the record that ends or copies it is durable: else a
//! power cut could take the only one that is left.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Weak};

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::base::types::shown_key::shown_key;
use crate::flow::values::value_log::Pending;
use crate::flow::write::sync::{LogPosition, SyncGroup};
use crate::store::batch::prepared_log::{LoggedPrepare, Place};
use crate::store::batch::reader::BatchReader;
use crate::store::batch::two_phases::{Claim, Prepare};
use crate::store::wal::format::framed_len;

/// The prepared transactions of one database. One thread at a time, under the lock of `commit`.
#[derive(Default)]
pub struct PreparedSet {
    live: BTreeMap<Vec<u8>, PreparedBatch>,
    releasing: Vec<Releasing>,
    /// Room for the commit of what is being prepared.
    coming_bytes: u64,
    /// Keyspaces that are being dropped: nobody may prepare writes to them.
    dropping: BTreeSet<KeyspaceId>,
}

/// Held by who may commit in order: while it is, the log keeps room for that commit, so that no
/// lack of space refuses it. Another thread may drop it at any time.
#[derive(Debug, Default)]
pub struct CommitRoom(Arc<()>);

/// A prepared transaction.
pub struct PreparedBatch {
    logged: LoggedPrepare,
    claims: Claims,
    /// The keyspaces that it writes to.
    keyspaces: BTreeSet<KeyspaceId>,
    /// Keeps the segments of its large values.
    values: Arc<Pending>,
    /// Whether the log keeps room for its commit.
    room: Weak<()>,
    here_bytes: u64,
}

/// What nobody else may write to in one keyspace.
#[derive(Default)]
struct KeyspaceClaims {
    /// What is written by it, which nobody else may have relied on to prepare either.
    written: Claimed,
    /// What it relies on besides.
    read: Claimed,
}

/// Some keys of a keyspace.
#[derive(Default)]
struct Claimed {
    keys: BTreeSet<Vec<u8>>,
    ranges: Vec<KeyRange>,
}

/// What is needed until the log is durable so far.
struct Releasing {
    segment: FileNumber,
    until: LogPosition,
    /// Of one that is rolled back: it may be prepared again after a power cut.
    _values: Option<Arc<Pending>>,
}

/// A transaction that is prepared, for a copy of the database: with what keeps its large values.
#[derive(Clone)]
pub struct HeldPrepare {
    /// Its record.
    pub logged: LoggedPrepare,
    /// The segments of the value log that it names.
    pub value_segments: BTreeSet<FileNumber>,
    /// Keeps them.
    pub values: Arc<Pending>,
}

impl PreparedBatch {
    /// One whose record lies in the log. Errors: `Corruption` for a record that is not whole.
    pub fn new(logged: LoggedPrepare, values: Pending) -> Result<PreparedBatch> {
        let prepare = logged.read()?;
        let (claims, keyspaces) = claims_of(&prepare)?;
        Ok(PreparedBatch {
            here_bytes: here_bytes(&prepare),
            claims,
            keyspaces,
            values: Arc::new(values),
            room: Weak::new(),
            logged,
        })
    }

    /// The same; the log keeps room for its commit as long as that is held.
    pub fn with_room(self, room: &CommitRoom) -> PreparedBatch {
        PreparedBatch {
            room: Arc::downgrade(&room.0),
            ..self
        }
    }

    // A drop that is not seen yet keeps room for nobody, until it is counted anew.
    fn room_bytes(&self, live: Option<FileNumber>) -> u64 {
        match self.room.strong_count() {
            0 => 0,
            _ if live == Some(self.place().0) => self.here_bytes,
            _ => framed_len(self.logged.record.len()),
        }
    }

    /// Where its last record lies.
    pub fn place(&self) -> Place {
        self.logged.place
    }

    /// That record.
    pub fn logged(&self) -> &LoggedPrepare {
        &self.logged
    }

    /// The record, read.
    pub fn read(&self) -> Prepare<'_> {
        read_whole(&self.logged.record)
    }

    /// What keeps the segments of its large values.
    pub fn values(&self) -> Arc<Pending> {
        Arc::clone(&self.values)
    }

    /// The keyspaces that it writes to.
    pub fn keyspaces(&self) -> Vec<KeyspaceId> {
        self.keyspaces.iter().copied().collect()
    }

    /// The keys that nobody else may write to, by keyspaces, and whether it writes to them itself;
    /// ranges of keys are not among them.
    pub fn claimed_keys(&self) -> impl Iterator<Item = (KeyspaceId, &[u8], bool)> {
        let mut keyspaces: Vec<_> = self.claims.iter().collect();
        keyspaces.sort_unstable_by_key(|(id, _)| **id);
        keyspaces.into_iter().flat_map(|(&keyspace, claims)| {
            let written = claims.written.keys.iter().map(|key| (key, true));
            let read = claims.read.keys.iter();
            let read = read.filter(|key| !claims.written.keys.contains(*key));
            let all = written.chain(read.map(|key| (key, false)));
            all.map(move |(key, is_written)| (keyspace, &key[..], is_written))
        })
    }

    /// How many keys, and ranges of them, nobody else may write to.
    pub fn claim_count(&self) -> usize {
        let claims = self.claims.values();
        claims
            .map(|claims| claims.written.count() + claims.read.count_beside(&claims.written))
            .sum()
    }
}

impl PreparedSet {
    /// Whether nothing is prepared.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The transaction with that id. Errors: `Invalid` when none is prepared.
    pub fn get(&self, id: &[u8]) -> Result<&PreparedBatch> {
        self.live.get(id).ok_or_else(|| {
            let id = id.escape_ascii();
            Error::invalid(format!(
                "no transaction with the id \"{id}\" is prepared (`Db::prepared`, or `esker \
                 prepared` in a shell, lists those that are)"
            ))
        })
    }

    /// All of them, by their ids.
    pub fn live(&self) -> impl Iterator<Item = &PreparedBatch> {
        self.live.values()
    }

    /// Bytes of the log that its record of a commit takes at most, of each for which room is kept,
    /// while that is the live segment: a reference where the prepare lies in it, else all entries.
    pub fn room_bytes(&self, live: Option<FileNumber>) -> u64 {
        let kept = self.live.values().map(|one| one.room_bytes(live));
        kept.sum::<u64>() + self.coming_bytes
    }

    /// Room is kept for the commit of one that is about to be logged; 0 once it is inserted.
    pub fn keep_coming(&mut self, commit_bytes: u64) {
        self.coming_bytes = commit_bytes;
    }

    /// None of them needs room any more.
    pub fn give_up_all_room(&mut self) {
        for prepared in self.live.values_mut() {
            prepared.room = Weak::new();
        }
    }

    /// It takes its room, or needs none.
    pub fn give_up_room(&mut self, id: &[u8]) {
        if let Some(prepared) = self.live.get_mut(id) {
            prepared.room = Weak::new();
        }
    }

    /// `Invalid` when a transaction with that id is prepared, or may not write to a keyspace
    /// because that is being dropped.
    pub fn check_new(&self, id: &[u8], keyspaces: &[KeyspaceId]) -> Result<()> {
        if self.live.contains_key(id) {
            let id = id.escape_ascii();
            return Err(Error::invalid(format!(
                "a transaction with the id \"{id}\" is prepared already; end it first, or choose \
                 another id"
            )));
        }
        if keyspaces.iter().any(|id| self.dropping.contains(id)) {
            return Err(Error::invalid("the keyspace is being dropped"));
        }
        Ok(())
    }

    /// Adds one.
    pub fn insert(&mut self, id: &[u8], prepared: PreparedBatch) {
        let before = self.live.insert(id.to_vec(), prepared);
        assert!(before.is_none(), "an id is of one transaction at a time");
    }

    /// A copy of one was written to `place`, and the log ends at `until` behind it.
    pub fn moved(&mut self, id: &[u8], place: Place, until: LogPosition) {
        if let Some(prepared) = self.live.get_mut(id) {
            let before = std::mem::replace(&mut prepared.logged.place, place);
            self.releasing.push(Releasing {
                segment: before.0,
                until,
                _values: None,
            });
        }
    }

    /// The record that ends one was written, and the log ends at `until` behind it. Of one that was
    /// committed memtables name the values.
    pub fn end(&mut self, id: &[u8], until: LogPosition, is_committed: bool) {
        if let Some(prepared) = self.live.remove(id) {
            self.releasing.push(Releasing {
                segment: prepared.place().0,
                until,
                _values: (!is_committed).then_some(prepared.values),
            });
        }
    }

    /// Lets go of what was needed until the log is as durable as it is now.
    pub fn release(&mut self, sync: &SyncGroup) {
        self.releasing.retain(|one| !sync.is_durable(one.until));
    }

    /// The oldest segment that is needed for any of them.
    pub fn oldest_needed(&self) -> Option<FileNumber> {
        let live = self.live.values().map(|prepared| prepared.place().0);
        let releasing = self.releasing.iter().map(|one| one.segment);
        live.chain(releasing).min()
    }

    /// Nobody may prepare writes to that keyspace from now on, until [`PreparedSet::end_drop`].
    /// Errors: `Invalid` while somebody has.
    pub fn begin_drop(&mut self, keyspace: KeyspaceId) -> Result<()> {
        let mut live = self.live.iter();
        if let Some((id, _)) = live.find(|(_, one)| one.claims.contains_key(&keyspace)) {
            let id = id.escape_ascii();
            return Err(Error::invalid(format!(
                "the prepared transaction \"{id}\" needs the keyspace; commit it or roll it back \
                 first"
            )));
        }
        self.dropping.insert(keyspace);
        Ok(())
    }

    /// `Conflict` when a prepared transaction claims anything of a keyspace.
    pub fn check_keyspace(&self, keyspace: KeyspaceId) -> Result<()> {
        let mut live = self.live.iter();
        match live.find(|(_, one)| one.claims.contains_key(&keyspace)) {
            Some((id, _)) => Err(claimed_within(id)),
            None => Ok(()),
        }
    }

    /// It is dropped, or stays.
    pub fn end_drop(&mut self, keyspace: KeyspaceId) {
        self.dropping.remove(&keyspace);
    }

    /// `Conflict` when `batch` writes to anything that a prepared transaction claims. `comparator`
    /// gives the order of a keyspace. Looks through all that are prepared: there are few.
    pub fn check_unclaimed<'c>(
        &self,
        batch: &BatchReader<'_>,
        comparator: impl Fn(KeyspaceId) -> Result<&'c Comparator>,
    ) -> Result<()> {
        for entry in batch.entries() {
            let entry = entry?;
            let comparator = comparator(entry.keyspace)?;
            let end = (entry.trailer.kind() == Kind::RangeDelete).then_some(entry.value);
            self.check_one(entry.keyspace, comparator, entry.key, end)?;
        }
        Ok(())
    }

    /// `Conflict` when a transaction that is prepared writes to what another one relies on that is
    /// to be prepared as well: the first would change it while the second claims it.
    pub fn check_unwritten<'c>(
        &self,
        claims: &[Claim],
        comparator: impl Fn(KeyspaceId) -> Result<&'c Comparator>,
    ) -> Result<()> {
        for claim in claims {
            let comparator = comparator(claim.keyspace)?;
            let meets = |prepared: &PreparedBatch| {
                let claims = prepared.claims.get(&claim.keyspace);
                claims.is_some_and(|claims| claims.written.meet_claim(comparator, claim))
            };
            if let Some((id, _)) = self.live.iter().find(|(_, one)| meets(one)) {
                return Err(claimed(claim.as_key().unwrap_or_default(), id));
            }
        }
        Ok(())
    }

    /// The same of a key, or of all from there up to `end`.
    pub fn check_one(
        &self,
        keyspace: KeyspaceId,
        comparator: &Comparator,
        key: &[u8],
        end: Option<&[u8]>,
    ) -> Result<()> {
        let claims = |prepared: &PreparedBatch| {
            let claims = prepared.claims.get(&keyspace);
            claims.is_some_and(|claims| claims.meet(comparator, key, end))
        };
        match self.live.iter().find(|(_, one)| claims(one)) {
            Some((id, _)) => Err(claimed(key, id)),
            None => Ok(()),
        }
    }
}

impl KeyspaceClaims {
    fn meet(&self, comparator: &Comparator, key: &[u8], end: Option<&[u8]>) -> bool {
        self.written.meet(comparator, key, end) || self.read.meet(comparator, key, end)
    }
}

impl Claimed {
    fn count(&self) -> usize {
        self.keys.len() + self.ranges.len()
    }

    // Without the keys that `other` has as well.
    fn count_beside(&self, other: &Claimed) -> usize {
        let keys = self.keys.iter();
        keys.filter(|key| !other.keys.contains(*key)).count() + self.ranges.len()
    }

    // Any of what another relies on.
    fn meet_claim(&self, comparator: &Comparator, claim: &Claim) -> bool {
        if let Some(key) = claim.as_key() {
            return self.meet(comparator, key, None);
        }
        let mut keys = self.keys.iter();
        keys.any(|key| claim.keys.contains(comparator, key))
            || self
                .ranges
                .iter()
                .any(|range| match (&range.lower, &range.upper) {
                    (Bound::Included(start), Bound::Excluded(end)) => {
                        claim.keys.meets(comparator, start, end)
                    }
                    // Range deletes have both ends; whatever else may meet anything.
                    _ => true,
                })
    }

    // A key, or all keys from there up to `end`.
    fn meet(&self, comparator: &Comparator, key: &[u8], end: Option<&[u8]>) -> bool {
        let mut ranges = self.ranges.iter();
        match end {
            None if comparator.is_bytewise() && self.keys.contains(key) => true,
            None if comparator.is_bytewise() => ranges.any(|range| range.contains(comparator, key)),
            None => {
                let is_same = |claimed: &Vec<u8>| comparator.compare(claimed, key).is_eq();
                self.keys.iter().any(is_same) || ranges.any(|it| it.contains(comparator, key))
            }
            Some(end) => {
                let is_inside = |claimed: &Vec<u8>| {
                    comparator.compare(key, claimed).is_le()
                        && comparator.compare(claimed, end).is_lt()
                };
                self.keys.iter().any(is_inside)
                    || ranges.any(|range| range.meets(comparator, key, end))
            }
        }
    }
}

type Claims = IdMap<KeyspaceId, KeyspaceClaims>;

// What is claimed, and the keyspaces that are written to.
fn claims_of(prepare: &Prepare<'_>) -> Result<(Claims, BTreeSet<KeyspaceId>)> {
    let mut claims = Claims::default();
    let mut keyspaces = BTreeSet::new();
    for entry in prepare.entries.entries() {
        let entry = entry?;
        keyspaces.insert(entry.keyspace);
        let claimed = claims.entry(entry.keyspace).or_default();
        match entry.trailer.kind() {
            Kind::RangeDelete => {
                let range = KeyRange::new(entry.key..entry.value);
                claimed.written.ranges.push(range);
            }
            _ => drop(claimed.written.keys.insert(entry.key.to_vec())),
        }
    }
    for claim in &prepare.claims {
        let claimed = claims.entry(claim.keyspace).or_default();
        match claim.as_key() {
            Some(key) => drop(claimed.read.keys.insert(key.to_vec())),
            None => claimed.read.ranges.push(claim.keys.clone()),
        }
    }
    Ok((claims, keyspaces))
}

/// Bytes of the log that a commit takes at most which refers to its prepare; and a rollback, which
/// is shorter.
pub fn here_bytes(prepare: &Prepare<'_>) -> u64 {
    framed_len(prepare.encode_commit_here(SeqNo::ZERO, 0).len())
}

/// The record of a prepare, read. It was whole when it was logged or replayed.
pub fn read_whole(record: &[u8]) -> Prepare<'_> {
    Prepare::read(record).expect("checked when it was prepared")
}

#[cold]
fn claimed(key: &[u8], id: &[u8]) -> Error {
    let (key, id) = (shown_key(key), id.escape_ascii());
    let message = format!(
        "key {key} is claimed by the prepared transaction \"{id}\"; write it once that is \
         committed or rolled back"
    );
    Error::new(ErrorKind::Conflict, message)
}

#[cold]
fn claimed_within(id: &[u8]) -> Error {
    let id = id.escape_ascii();
    let message = format!(
        "the prepared transaction \"{id}\" claims keys of the keyspace; lock the whole once that \
         is committed or rolled back"
    );
    Error::new(ErrorKind::Conflict, message)
}

#[cfg(test)]
mod tests;
