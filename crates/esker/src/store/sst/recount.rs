//! Counts the entries of a file anew, and holds the counts against what the file says.

use std::cmp::Ordering;

use crate::base::options::sst::SstOptions;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::names::FileName;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::opening::OpenSst;
use crate::store::sst::tally::Tally;

/// What was counted of a file whose entries are walked over in order.
pub struct Recount<'a> {
    sst: &'a OpenSst,
    tally: Tally,
    /// Internal key of the entry counted last; empty before the first.
    last: Vec<u8>,
}

impl<'a> Recount<'a> {
    /// Nothing counted yet.
    pub fn new(sst: &'a OpenSst) -> Recount<'a> {
        let props = sst.props();
        let settings = BuildSettings {
            number: sst.number(),
            comparator: sst.comparator().clone(),
            sst: SstOptions::default(),
            compression: props.compression,
            keyspace: props.keyspace,
            created_unix_s: props.created_unix_s,
        };
        Recount {
            sst,
            tally: Tally::new(&settings),
            last: Vec::new(),
        }
    }

    /// Internal key of the entry counted last; empty before the first.
    pub fn last_key(&self) -> &[u8] {
        &self.last
    }

    /// Entries so far.
    pub fn entry_count(&self) -> u64 {
        self.tally.props.entry_count
    }

    /// Whether the next entry is of another user key than the last one. `Corruption` when it is not
    /// behind that.
    pub fn is_new_key(&self, internal_key: &[u8]) -> Result<bool> {
        if self.last.is_empty() {
            return Ok(true);
        }
        let comparator = self.sst.comparator();
        if key::compare(comparator, &self.last, internal_key) != Ordering::Less {
            return Err(Error::corruption("entries are out of order"));
        }
        Ok(key::user_key(&self.last) != key::user_key(internal_key))
    }

    /// Counts the next entry, of which [`Recount::is_new_key`] said that.
    ///
    /// Errors: `Corruption` for one that makes no sense.
    pub fn count(&mut self, internal_key: &[u8], value: &[u8], is_new_key: bool) -> Result<()> {
        let entry = Entry::from_internal(internal_key, value);
        self.tally
            .count(&entry, is_new_key)
            .map_err(|error| Error::corruption(error.message().to_owned()))?;
        self.last.clear();
        self.last.extend_from_slice(internal_key);
        Ok(())
    }

    /// Holds what was counted, now that this was all, against the properties of the file, which has
    /// so many data blocks or key pages. `Corruption` with the file where they differ.
    pub fn check(mut self, data_block_count: u64) -> Result<()> {
        for range in self.sst.range_deletes().iter() {
            self.tally.count_range(range);
        }
        self.tally.settle(&self.last);
        let said = self.sst.props();
        let mut found = self.tally.props;
        found.data_block_count = data_block_count;
        // What only the writer knew.
        found.index_bytes = said.index_bytes;
        found.filter_bytes = said.filter_bytes;
        found.comparator_name = said.comparator_name.clone();
        found.origin = said.origin.clone();
        found.passing = said.passing.clone();
        let counts = [
            ("entries", found.entry_count, said.entry_count),
            ("deletes", found.delete_count, said.delete_count),
            ("merges", found.merge_count, said.merge_count),
            ("bytes of keys", found.raw_key_bytes, said.raw_key_bytes),
            (
                "bytes of values",
                found.raw_value_bytes,
                said.raw_value_bytes,
            ),
            ("data blocks", found.data_block_count, said.data_block_count),
        ];
        let wrong = counts.iter().find(|(_, found, said)| found != said);
        let message = match wrong {
            Some((what, found, said)) => {
                format!("has {found} {what}, its properties say {said}")
            }
            None if found == *said => return Ok(()),
            None => format!("its properties say {said:?}, and it has {found:?}"),
        };
        Err(Error::corruption(message).in_file(FileName::Sst(self.sst.number())))
    }
}
