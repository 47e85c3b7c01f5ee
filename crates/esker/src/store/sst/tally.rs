//! Counts what goes into a sorted file, for its properties.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::entry::{Entry, split_expiring};
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::base::types::order::KeyOrder;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::origin::Origin;
use crate::store::sst::props::Props;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::shares::ValueShares;

/// What was added to a file so far, as its properties will tell it.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The counts; what only the writer of the file knows is left as it was.
    pub props: Props,
    every_entry_expires: bool,
}

impl Tally {
    /// Nothing yet, for a file with those settings.
    pub fn new(settings: &BuildSettings) -> Tally {
        Tally {
            props: empty_props(settings),
            every_entry_expires: true,
        }
    }

    /// Counts a point entry; `is_new_key` when its key is another than that of the entry before.
    ///
    /// Errors: `Invalid` for an entry that expires and has no expiry, `Corruption` for a pointer
    /// that is none.
    pub fn count(&mut self, entry: &Entry<'_>, is_new_key: bool) -> Result<()> {
        self.count_key(entry.key, is_new_key);
        let props = &mut self.props;
        props.raw_value_bytes += entry.value.len() as u64;
        if let Some(pointer) = ValuePointer::of(entry)? {
            let bytes = pointer.record_bytes(entry.key.len());
            props.values.add(pointer.segment, bytes);
        }
        match entry.kind() {
            Kind::Delete => props.delete_count += 1,
            Kind::Merge => props.merge_count += 1,
            _ => {}
        }
        self.count_seqno(entry.seqno());
        self.count_expiry(entry)
    }

    /// Counts a put of a value that stays packed, and has so many bytes unpacked.
    pub fn count_packed(&mut self, internal_key: &[u8], value_len: usize, is_new_key: bool) {
        let (user_key, trailer) = key::split(internal_key);
        self.count_key(user_key, is_new_key);
        self.props.raw_value_bytes += value_len as u64;
        self.count_seqno(trailer.seqno());
        self.every_entry_expires = false;
    }

    fn count_key(&mut self, user_key: &[u8], is_new_key: bool) {
        let props = &mut self.props;
        props.entry_count += 1;
        props.key_count += u64::from(is_new_key);
        props.raw_key_bytes += (user_key.len() + key::TRAILER_BYTES) as u64;
    }

    /// Counts a range delete.
    pub fn count_range(&mut self, range: &RangeDelete) {
        self.count_seqno(range.seqno);
        self.props.range_delete_count += 1;
    }

    /// Whether there is neither an entry nor a range delete.
    pub fn is_empty(&self) -> bool {
        self.props.entry_count + self.props.range_delete_count == 0
    }

    /// Settles what only the whole file tells: call it when everything was counted.
    pub fn settle(&mut self) {
        if !self.every_entry_expires || self.props.range_delete_count > 0 {
            self.props.newest_expiry_s = None;
        }
    }

    fn count_expiry(&mut self, entry: &Entry<'_>) -> Result<()> {
        if !entry.kind().is_expiring() {
            self.every_entry_expires = false;
            return Ok(());
        }
        let Some((expiry, _)) = split_expiring(entry.value) else {
            let key = entry.key.escape_ascii();
            return Err(Error::invalid(format!(
                "the entry of key \"{key}\" expires, and does not say when"
            )));
        };
        let newest = self.props.newest_expiry_s.unwrap_or(0);
        self.props.newest_expiry_s = Some(newest.max(expiry));
        Ok(())
    }

    fn count_seqno(&mut self, seqno: SeqNo) {
        self.props.smallest_seqno = self.props.smallest_seqno.min(seqno);
        self.props.largest_seqno = self.props.largest_seqno.max(seqno);
    }
}

/// Whether the user key of `next` is another than that of `last`, the entry before it.
///
/// # Panics
/// When the entries are out of order: a file that cannot be searched must not come to be.
pub fn is_new_key(order: &KeyOrder, last: &[u8], next: &[u8]) -> bool {
    let (last_key, last_trailer) = key::split(last);
    let (user_key, trailer) = key::split(next);
    match order.compare(last_key, user_key) {
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
        order_name: Bytes::copy_of(settings.order.name().as_bytes()),
        compression: settings.compression,
        created_unix_s: settings.created_unix_s,
        values: ValueShares::default(),
        origin: Origin::default(),
    }
}
