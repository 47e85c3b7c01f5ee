//! Counts what goes into a sorted file, for its properties.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::origin::Origin;
use crate::store::sst::passing::Passing;
use crate::store::sst::props::Props;
use crate::store::vlog::live_bytes::ValueLiveBytes;
use crate::store::vlog::pointer::ValuePointer;

/// What was added to a file so far, as its properties will tell it.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The counts; what only the writer of the file knows is left as it was.
    pub props: Props,
    every_entry_expires: bool,
    passing: Passing,
    /// The live snapshots, ascending.
    snapshots: Arc<[SeqNo]>,
    /// The entry counted last.
    last: Option<Trailer>,
}

impl Tally {
    /// Nothing yet, for a file with those settings.
    pub fn new(settings: &BuildSettings) -> Tally {
        Tally {
            props: empty_props(settings),
            every_entry_expires: true,
            passing: Passing::default(),
            snapshots: Arc::default(),
            last: None,
        }
    }

    /// Says which snapshots are live, ascending; before anything is counted.
    pub fn set_snapshots(&mut self, snapshots: Arc<[SeqNo]>) {
        assert!(self.is_empty());
        assert!(snapshots.is_sorted());
        self.snapshots = snapshots;
    }

    /// Counts a point entry; `is_new_key` when its key is another than that of the entry before.
    ///
    /// Errors: `Invalid` for an entry that expires and has no expiry, `Corruption` for a pointer
    /// that is none.
    pub fn count(&mut self, entry: &Entry<'_>, is_new_key: bool) -> Result<()> {
        self.count_key(entry.key, is_new_key);
        let mut bytes = point_bytes(entry.key, entry.value.len());
        let props = &mut self.props;
        props.raw_value_bytes += entry.value.len() as u64;
        if let Some(pointer) = ValuePointer::of(entry)? {
            let record_bytes = pointer.record_bytes(entry.key.len());
            props.values.add(pointer.segment, record_bytes);
            bytes += record_bytes;
        }
        match entry.kind() {
            Kind::Delete => props.delete_count += 1,
            Kind::Merge => props.merge_count += 1,
            _ => {}
        }
        self.count_seqno(entry.seqno());
        let trailer = Trailer::new(entry.seqno(), entry.kind());
        self.count_held(trailer, bytes, is_new_key);
        self.count_expiry(entry, bytes)
    }

    /// Counts a put of a value that stays compressed, and has so many bytes uncompressed.
    pub fn count_compressed(&mut self, internal_key: &[u8], value_len: usize, is_new_key: bool) {
        let (user_key, trailer) = key::split(internal_key);
        self.count_key(user_key, is_new_key);
        self.props.raw_value_bytes += value_len as u64;
        self.count_seqno(trailer.seqno());
        self.count_held(trailer, point_bytes(user_key, value_len), is_new_key);
        self.every_entry_expires = false;
    }

    fn count_key(&mut self, user_key: &[u8], is_new_key: bool) {
        let props = &mut self.props;
        if props.entry_count == 0 {
            props.smallest = Bytes::copy_of(user_key);
        }
        props.entry_count += 1;
        props.key_count += u64::from(is_new_key);
        props.raw_key_bytes += (user_key.len() + key::TRAILER_BYTES) as u64;
    }

    /// Counts a range delete.
    pub fn count_range(&mut self, range: &RangeDelete) {
        self.count_seqno(range.seqno);
        self.props.range_delete_count += 1;
        if let Some(holder) = self.newest_before(range.seqno) {
            let bytes = range.start.len() + range.end.len() + key::TRAILER_BYTES;
            self.passing.hold(holder, bytes as u64, true);
        }
    }

    /// Whether there is neither an entry nor a range delete.
    pub fn is_empty(&self) -> bool {
        self.props.entry_count + self.props.range_delete_count == 0
    }

    /// Settles what only the whole file tells: call it when everything was counted. `last` is the
    /// internal key of the last entry; empty when there is none.
    pub fn settle(&mut self, last: &[u8]) {
        assert_eq!(last.is_empty(), self.props.entry_count == 0);
        if !last.is_empty() {
            self.props.largest = Bytes::copy_of(key::user_key(last));
        }
        if !self.every_entry_expires || self.props.range_delete_count > 0 {
            self.props.newest_expiry_s = None;
        }
        self.props.passing = Some(std::mem::take(&mut self.passing));
    }

    #[inline]
    fn count_held(&mut self, trailer: Trailer, bytes: u64, is_new_key: bool) {
        let newer = self.last.replace(trailer).filter(|_| !is_new_key);
        let is_delete = trailer.kind() == Kind::Delete;
        if (newer.is_some() || is_delete)
            && let Some(holder) = self.holder(newer, trailer)
        {
            self.passing.hold(holder, bytes, is_delete);
        }
    }

    // The snapshot for whose sake an entry is there, below `newer` of its key.
    #[cold]
    fn holder(&self, newer: Option<Trailer>, trailer: Trailer) -> Option<SeqNo> {
        let seen_by = newer.and_then(|newer| self.newest_before(newer.seqno()));
        if let Some(holder) = seen_by.filter(|holder| *holder >= trailer.seqno()) {
            return Some(holder);
        }
        if newer.is_some_and(|newer| newer.kind() != Kind::Merge) {
            return Some(SeqNo::ZERO);
        }
        let is_delete = trailer.kind() == Kind::Delete;
        is_delete.then(|| self.newest_before(trailer.seqno()))?
    }

    // The newest snapshot that is too old to see what was written at `seqno`.
    fn newest_before(&self, seqno: SeqNo) -> Option<SeqNo> {
        let count = self.snapshots.partition_point(|snapshot| *snapshot < seqno);
        self.snapshots[..count].last().copied()
    }

    fn count_expiry(&mut self, entry: &Entry<'_>, bytes: u64) -> Result<()> {
        if !entry.kind().is_expiring() {
            self.every_entry_expires = false;
            return Ok(());
        }
        let Some((expiry, _)) = Expiry::split(entry.kind(), entry.value) else {
            let key = entry.key.escape_ascii();
            return Err(Error::invalid(format!(
                "the entry of key \"{key}\" expires, and does not say when"
            )));
        };
        let newest = self.props.newest_expiry_s.unwrap_or(0);
        // Rounded up, so that no file is said to have expired before its last entry has.
        let expiry_s = expiry.unix_s_up();
        self.props.newest_expiry_s = Some(newest.max(expiry_s));
        self.props.has_millis |= entry.kind().has_millis();
        self.passing.expire(expiry_s, bytes);
        Ok(())
    }

    fn count_seqno(&mut self, seqno: SeqNo) {
        self.props.smallest_seqno = self.props.smallest_seqno.min(seqno);
        self.props.largest_seqno = self.props.largest_seqno.max(seqno);
    }
}

// Bytes of an entry, but for what it points to.
fn point_bytes(user_key: &[u8], value_len: usize) -> u64 {
    (user_key.len() + key::TRAILER_BYTES + value_len) as u64
}

/// Whether the user key of `next` is another than that of `last`, the entry before it.
///
/// # Panics
/// When the entries are out of order: a file that cannot be searched must not come to be.
pub fn is_new_key(comparator: &Comparator, last: &[u8], next: &[u8]) -> bool {
    let (last_key, last_trailer) = key::split(last);
    let (user_key, trailer) = key::split(next);
    match comparator.compare(last_key, user_key) {
        Ordering::Less => true,
        Ordering::Equal => {
            assert!(trailer < last_trailer, "entries of a key come newest first");
            false
        }
        Ordering::Greater => panic!("entries come in the order of keys"),
    }
}

fn empty_props(settings: &BuildSettings) -> Props {
    Props {
        keyspace: settings.keyspace,
        entry_count: 0,
        delete_count: 0,
        merge_count: 0,
        range_delete_count: 0,
        key_count: 0,
        raw_key_bytes: 0,
        raw_value_bytes: 0,
        smallest: Bytes::EMPTY,
        largest: Bytes::EMPTY,
        smallest_seqno: SeqNo::MAX,
        largest_seqno: SeqNo::ZERO,
        newest_expiry_s: None,
        data_block_count: 0,
        index_bytes: 0,
        filter_bytes: 0,
        comparator_name: Bytes::copy_of(settings.comparator.name().as_bytes()),
        compression: settings.compression,
        created_unix_s: settings.created_unix_s,
        values: ValueLiveBytes::default(),
        origin: Origin::default(),
        passing: None,
        has_millis: false,
    }
}

#[cfg(test)]
mod tests;
