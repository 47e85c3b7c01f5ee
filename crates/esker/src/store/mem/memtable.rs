//! The newest entries of one keyspace.
//!
//! Point entries lie in an ordered list with an index, range deletes in a list of their own. One
//! [`MemtableWriter`] inserts, in the order of sequence numbers; any number of readers hold the
//! [`Memtable`].
//!
//! **Merges fold as they arrive**, so that a counter that is bumped a million times is read at
//! the price of one entry. When the next older entry of the key is at hand anyway, at the place
//! of insertion, and the result is not much longer than what goes in, then
//!
//! - a merge onto a `Put` or `Delete` is stored as the `Put` that it results in;
//! - a merge onto the whole of the key's merges so far is stored as [`Kind::MergeFolded`].
//!
//! The older entries stay, for readers at older sequence numbers. What a reader must do:
//!
//! > On `MergeFolded` take the operand, then skip the entries of this key in this memtable while
//! > they are merges; the first that is none, if any, is the base.
//!
//! [`Memtable::history`] does so, without walking over the merges; over a [`MemCursor`] the
//! reader does it. `MergeFolded` never leaves the memtable. A flush writes it as `Merge` where it
//! drops the older merges of the key; where a snapshot makes it keep them, writing both would
//! count them twice, and it writes [`MemCursor::own_value`], the operand alone, instead.
//!
//! A merge onto what a range delete hides is stored as the `Put` that it results in on its own.
//! Nothing is folded onto a value that expires: whether that still counts depends on when the
//! reader looks; nor onto one that lies apart, in the value log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::base::hooks::merge::MergeRule;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry::Entry;
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::pages::{HeapPages, Pages};
use crate::store::mem::entry_list::{EntryList, EntryListWriter, Folded, ListCursor};
use crate::store::mem::named_values::NamedValues;
use crate::store::mem::node::NodeRef;
use crate::store::mem::range_deletes::RangeDeletes;
use crate::store::vlog::pointer::ValuePointer;

/// A folded value may always be this long: room for numbers and small records. A longer one is
/// kept only if it is no longer than the longer of its two parts, so that an operator that
/// appends does not store every intermediate result, which would grow with the square.
const FOLDED_BYTES_ALWAYS: usize = 32;

/// The shared side: point entries and range deletes. Any number of threads, none of
/// which ever waits.
pub struct Memtable {
    list: Arc<EntryList>,
    range_deletes: RangeDeletes,
    fold_count: AtomicUsize,
    delete_count: AtomicUsize,
    has_unlogged: AtomicBool,
    values: NamedValues,
}

/// The one writer of a memtable.
pub struct MemtableWriter {
    table: Arc<Memtable>,
    list: EntryListWriter,
    merge: Option<MergeRule>,
    /// Of the last insert: entries come in the order of their numbers.
    newest: Option<SeqNo>,
    pages: Arc<dyn Pages>,
}

impl Memtable {
    /// An empty memtable of a keyspace with that order and merge rule, by its writer. Its memory
    /// is of the heap.
    pub fn create(comparator: Comparator, merge: Option<MergeRule>) -> MemtableWriter {
        Memtable::create_in(Arc::new(HeapPages), comparator, merge)
    }

    /// As [`Memtable::create`], with its large pieces of memory from `pages`.
    pub fn create_in(
        pages: Arc<dyn Pages>,
        comparator: Comparator,
        merge: Option<MergeRule>,
    ) -> MemtableWriter {
        let list = EntryList::create(Arc::clone(&pages), comparator);
        let table = Memtable {
            list: Arc::clone(list.list()),
            range_deletes: RangeDeletes::default(),
            fold_count: AtomicUsize::new(0),
            delete_count: AtomicUsize::new(0),
            has_unlogged: AtomicBool::new(false),
            values: NamedValues::default(),
        };
        MemtableWriter {
            table: Arc::new(table),
            list,
            merge,
            newest: None,
            pages,
        }
    }

    /// The newest point entry of the key that is visible at `at`. Range deletes are not applied.
    #[inline]
    pub fn get(&self, user_key: &[u8], at: SeqNo) -> Option<Entry<'_>> {
        self.find(user_key, at).map(NodeRef::entry)
    }

    /// The point entries of the key that a reader at `at` needs, newest first: behind a
    /// [`Kind::MergeFolded`] the merges that it holds are left out. Range deletes are not applied.
    pub fn history(&self, user_key: &[u8], at: SeqNo) -> impl Iterator<Item = Entry<'_>> {
        std::iter::successors(self.find(user_key, at), |node| node.older_unfolded())
            .map(NodeRef::entry)
    }

    /// A cursor over all point entries, which keeps the memtable alive. Entries inserted while it
    /// is in use may or may not be met.
    pub fn cursor(self: &Arc<Self>) -> MemCursor {
        MemCursor {
            at: ListCursor::new(Arc::clone(&self.list)),
            _table: Arc::clone(self),
        }
    }

    /// The range deletes so far, by rising sequence number.
    pub fn range_deletes(&self) -> &RangeDeletes {
        &self.range_deletes
    }

    /// Whether there are range deletes.
    #[inline]
    pub fn has_range_deletes(&self) -> bool {
        !self.range_deletes.is_empty()
    }

    /// Bytes of memory taken from the system for this memtable, used or not.
    pub fn used_bytes(&self) -> usize {
        let fixed = size_of::<Memtable>() + size_of::<MemtableWriter>();
        fixed + self.list.used_bytes() + self.range_deletes.used_bytes()
    }

    /// The order of its user keys.
    pub fn comparator(&self) -> &Comparator {
        self.list.comparator()
    }

    /// About how many point entries lie between two places; `None` is an end of the memtable. Few
    /// are counted, many are reckoned by a sample, and what lies outside is not looked at.
    pub fn about_between(
        &self,
        lower: Option<(&[u8], Trailer)>,
        upper: Option<(&[u8], Trailer)>,
    ) -> usize {
        self.list.about_between(lower, upper)
    }

    /// Whether it has entries that are in no log.
    pub fn has_unlogged(&self) -> bool {
        // Relaxed: who asks has the lock under which writes happen, or had it since.
        self.has_unlogged.load(Ordering::Relaxed)
    }

    /// Takes note that it gets entries that are in no log.
    pub fn note_unlogged(&self) {
        // Relaxed: see `has_unlogged`.
        self.has_unlogged.store(true, Ordering::Relaxed);
    }

    /// What its entries point to in the value log.
    pub fn values(&self) -> &NamedValues {
        &self.values
    }

    /// Point entries and range deletes.
    pub fn entry_count(&self) -> usize {
        self.list.count() + self.range_deletes.len()
    }

    /// Whether nothing was ever inserted.
    pub fn is_empty(&self) -> bool {
        self.entry_count() == 0
    }

    /// Point entries that are deletes.
    pub fn delete_count(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.delete_count.load(Ordering::Relaxed)
    }

    /// Merges that were stored folded.
    pub fn fold_count(&self) -> usize {
        // Relaxed: a number for the statistics, nothing is reached through it.
        self.fold_count.load(Ordering::Relaxed)
    }

    #[inline]
    fn find(&self, user_key: &[u8], at: SeqNo) -> Option<NodeRef<'_>> {
        let node = self.list.seek(user_key, Trailer::seek(at))?;
        (key::user_key(node.internal_key()) == user_key).then_some(node)
    }
}

impl MemtableWriter {
    /// An empty memtable of the same keyspace, to come after this one.
    pub fn successor(&self) -> MemtableWriter {
        let comparator = self.table.list.comparator().clone();
        Memtable::create_in(Arc::clone(&self.pages), comparator, self.merge.clone())
    }

    /// Folds operands by `rule` from the next insert on, which had no rule before.
    pub fn take_rule(&mut self, rule: MergeRule) {
        assert!(self.merge.is_none());
        self.merge = Some(rule);
    }

    /// The memtable.
    pub fn table(&self) -> &Arc<Memtable> {
        &self.table
    }

    /// Inserts one entry. For [`Kind::RangeDelete`] the value is the end of the range.
    ///
    /// Readers that began before may meet it at once; that they do not use it is up to the
    /// sequence number at which they read.
    ///
    /// # Panics
    /// When the sequence number is not larger than that of the insert before, when the kind is
    /// [`Kind::MergeFolded`], when key or value are beyond their limits, or when a pointer into
    /// the value log is none: whoever reads batches has checked that.
    #[inline]
    pub fn insert(&mut self, trailer: Trailer, user_key: &[u8], value: &[u8]) {
        let seqno = trailer.seqno();
        assert!(self.newest < Some(seqno));
        self.newest = Some(seqno);
        let entry = Entry {
            key: user_key,
            trailer,
            value,
        };
        match trailer.kind() {
            Kind::MergeFolded => panic!("only the memtable folds"),
            Kind::RangeDelete => self.table.range_deletes.add(RangeDelete {
                start: Bytes::copy_of(user_key),
                end: Bytes::copy_of(value),
                seqno,
            }),
            Kind::Merge => self.insert_merge(entry),
            Kind::Delete => {
                self.list.insert(entry, |_| None);
                // Relaxed: a number for accounting, nothing is reached through it.
                self.table.delete_count.fetch_add(1, Ordering::Relaxed);
            }
            Kind::Put | Kind::PutExpiring | Kind::PutExpiringMillis => {
                self.list.insert(entry, |_| None)
            }
            Kind::PutSeparated | Kind::PutSeparatedExpiring | Kind::PutSeparatedExpiringMillis => {
                let pointer = ValuePointer::of(&entry);
                let pointer = pointer.ok().flatten().expect("the pointer was checked");
                let bytes = pointer.record_bytes(user_key.len());
                self.table.values.add(&pointer, bytes);
                self.list.insert(entry, |_| None);
            }
        }
    }

    fn insert_merge(&mut self, entry: Entry<'_>) {
        let (table, merge) = (&self.table, &self.merge);
        let mut is_folded = false;
        self.list.insert(entry, |older| {
            let rule = merge.as_ref()?;
            let comparator = table.list.comparator();
            let range_deletes = &table.range_deletes;
            let is_hidden = range_deletes.cover(comparator, entry.key, older.entry().seqno())?;
            let folded = fold(rule, entry, (!is_hidden).then_some(older));
            is_folded = folded.is_some();
            folded
        });
        // Relaxed: a number for the statistics, nothing is reached through it.
        table
            .fold_count
            .fetch_add(usize::from(is_folded), Ordering::Relaxed);
    }
}

/// What to store instead of a merge operand that comes upon `older` (`None`: upon nothing, by a
/// range delete), if folding is right and cheap; see the head of this file.
fn fold<'a>(rule: &MergeRule, entry: Entry<'_>, older: Option<NodeRef<'a>>) -> Option<Folded<'a>> {
    let Entry { key, value, .. } = entry;
    let kind_and_value = older.map(|older| (older.entry().kind(), older.value()));
    // A fold that fails, or panics, is left to the reader, who reports it.
    let onto_base = |base: Option<&[u8]>| rule.fold(key, base, &[value]).ok();
    let (kind, folded, base) = match kind_and_value {
        None | Some((Kind::Delete, _)) => (Kind::Put, onto_base(None)?, None),
        Some((Kind::Put, base)) => (Kind::Put, onto_base(Some(base))?, None),
        Some((Kind::Merge | Kind::MergeFolded, operand)) => {
            let base = older.and_then(NodeRef::older_unfolded);
            if base.is_some_and(|base| base.entry().kind().is_merge()) {
                // An older operand that `older` does not hold: neither would the result.
                return None;
            }
            let folded = rule.combine(key, operand, value).ok()??;
            (Kind::MergeFolded, folded, base)
        }
        // What lies apart is not read here: a merge costs no more than a put.
        Some((
            Kind::PutSeparated | Kind::PutSeparatedExpiring | Kind::PutSeparatedExpiringMillis,
            _,
        )) => return None,
        Some((Kind::PutExpiring | Kind::PutExpiringMillis | Kind::RangeDelete, _)) => return None,
    };
    let onto_bytes = kind_and_value.map_or(0, |(_, value)| value.len());
    let bytes_max = FOLDED_BYTES_ALWAYS.max(value.len()).max(onto_bytes);
    let is_short = folded.len() <= bytes_max;
    is_short.then_some(Folded {
        kind,
        value: folded,
        base,
    })
}

/// A cursor over the point entries of a memtable, which it keeps alive.
pub struct MemCursor {
    at: ListCursor,
    _table: Arc<Memtable>,
}

impl MemCursor {
    /// The value before folding: for [`Kind::MergeFolded`] the operand that was inserted, for any
    /// other entry its value. Only while the cursor stands on an entry.
    pub fn own_value(&self) -> &[u8] {
        self.node().own_value()
    }

    fn node(&self) -> NodeRef<'_> {
        self.at.node().expect("the cursor stands on an entry")
    }
}

impl Cursor for MemCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        Ok(self.at.go(|list, _| list.first()))
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        Ok(self.at.go(|list, _| list.last()))
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let (key, trailer) = key::split(target);
        Ok(self.at.go(|list, _| list.seek(key, trailer)))
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        let (key, trailer) = key::split(target);
        Ok(self.at.go(|list, _| list.seek_for_prev(key, trailer)))
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        Ok(self.at.step())
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        Ok(self
            .at
            .go(|list, at| list.prev(at.expect("the cursor stands on an entry"))))
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.at.node().is_some()
    }

    /// Known as of now: what is inserted later is too new for who asks.
    #[inline]
    fn is_surely_newest(&self) -> bool {
        let own = key::user_key(self.node().internal_key());
        let before = self.at.before();
        before.is_none_or(|before| key::user_key(before.internal_key()) != own)
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.node().internal_key()
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        Ok(self.node().value())
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

#[cfg(all(test, not(loom)))]
mod tests;
