//! Writes a block-based sorted file.

use crate::base::codec::checksum::hash64;
use crate::base::types::entry::Entry;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::env::fs::AppendFile;
use crate::store::sst::block::builder::BlockBuilder;
use crate::store::sst::contract::{BuildSettings, FinishedSst};
use crate::store::sst::draft::SstDraft;
use crate::store::sst::filter::block::FilterBuilder;
use crate::store::sst::format::{BlockHandle, Footer};
use crate::store::sst::index::builder::{IndexBuilder, last_separator, separator};

/// Largest block size that a setting can ask for, in bytes: a block is read and uncompressed as a
/// whole, and lengths inside it stay far below 32 bits even behind the largest value.
const BLOCK_SIZE_BYTES_MAX: usize = 16 << 20;

/// A block of which less than this part is free ends before an entry that it has no room for: what
/// compresses it has tables of a power of two, so a little more than 4 KiB costs a table for 8, and
/// memory comes in such pieces too. With more free room it takes the entry, however large.
const NEARLY_FULL_PART: usize = 10;

/// Bytes of one partition of a split index: small enough to be brought in for one point read,
/// large enough that a hundred of them lead to a million blocks.
const PARTITION_BYTES: usize = 16 << 10;

/// Writes one block-based sorted file, front to back.
///
/// Shape: memory for one block, 8 bytes per user key for the filter, and the index.
pub struct BlockBasedBuilder {
    draft: SstDraft,
    block: BlockBuilder,
    /// Bytes of the block so far.
    block_bytes: usize,
    index: IndexBuilder,
    filter: Option<FilterBuilder>,
    /// Last internal key and handle of a block whose separator waits for the next key.
    pending: Option<(Vec<u8>, BlockHandle)>,
    last_hash: u64,
}

impl BlockBasedBuilder {
    /// A builder that writes to an empty `file`.
    pub fn new(file: Box<dyn AppendFile>, settings: BuildSettings) -> BlockBasedBuilder {
        let sst = &settings.sst;
        BlockBasedBuilder {
            block: BlockBuilder::new(sst.restart_interval, sst.block_hash_index),
            block_bytes: 0,
            index: IndexBuilder::default(),
            filter: FilterBuilder::new(sst.filter_bits_per_key),
            pending: None,
            last_hash: 0,
            draft: SstDraft::new(file, settings),
        }
    }

    /// Adds a point entry, which must be behind the one added last.
    ///
    /// Errors: those of the file; the file is then useless. `Invalid` for an
    /// entry that expires and has no expiry, `Corruption` for a pointer that is none.
    ///
    /// # Panics
    /// When entries come out of order, or are of a kind that lies only elsewhere.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let (user_key, trailer) = key::split(internal_key);
        if self.is_block_full_with(internal_key.len() + value.len()) {
            self.cut()?;
        }
        let is_new_key = self.draft.is_new_key(self.last_key(), internal_key);
        if let Some((last, handle)) = self.pending.take() {
            let (short, behind) = separator(&self.draft.settings.comparator, &last, internal_key);
            self.index.add(&short, behind, handle);
        }
        if is_new_key {
            self.last_hash = hash64(user_key);
            if let Some(filter) = &mut self.filter {
                filter.add(self.last_hash);
            }
        }
        let entry = Entry {
            key: user_key,
            trailer,
            value,
        };
        self.draft.tally.count(&entry, is_new_key)?;
        self.block.add(internal_key, self.last_hash, value);
        self.block_bytes = self.block.size_estimate();
        if self.block_bytes >= self.block_size() {
            self.cut()?;
        }
        Ok(())
    }

    fn block_size(&self) -> usize {
        self.draft
            .settings
            .sst
            .block_size_bytes
            .min(BLOCK_SIZE_BYTES_MAX)
    }

    // Whether the block is nearly full, and one more entry of so many bytes would be too much.
    fn is_block_full_with(&self, entry_bytes: usize) -> bool {
        let (block_bytes, block_size) = (self.block_bytes, self.block_size());
        block_bytes + entry_bytes > block_size
            && block_bytes >= block_size - block_size / NEARLY_FULL_PART
    }

    /// What it has of the file, whatever its kind.
    pub fn draft_mut(&mut self) -> &mut SstDraft {
        &mut self.draft
    }

    /// Bytes of the file if it were finished now, roughly; what is still in memory counts as if
    /// it did not compress at all.
    pub fn size_estimate(&self) -> u64 {
        let filter = self.filter.as_ref().map_or(0, FilterBuilder::size_estimate);
        let waiting = self.block.size_estimate() + self.index.size_estimate() + filter;
        self.draft.out.offset() + waiting as u64
    }

    /// Internal key of the point entry added last; empty when there is none.
    pub fn last_key(&self) -> &[u8] {
        match &self.pending {
            Some((last, _)) => last,
            None => self.block.last_key(),
        }
    }

    /// Writes what is left and makes the file durable.
    ///
    /// Errors: those of the file, which is then useless; `Invalid` when nothing was added: such
    /// a file has no place in any order of keys.
    pub fn finish(mut self) -> Result<FinishedSst> {
        self.draft.check_begun()?;
        self.cut()?;
        let mut last = Vec::new();
        if let Some((last_key, handle)) = self.pending.take() {
            let (key, behind) = last_separator(&last_key);
            self.index.add(&key, behind, handle);
            last = last_key;
        }
        let filter = self.write_filter()?;
        let range_deletes = self.draft.write_range_deletes()?;
        let before_index = self.draft.out.offset();
        let (index, is_index_partitioned) = self.write_index()?;
        self.draft.tally.props.index_bytes = self.draft.out.offset() - before_index;
        let number = self.draft.settings.number;
        let (size_bytes, props) = self.draft.finish(&last, |props, offset| {
            let footer = Footer {
                index,
                filter,
                props,
                range_deletes,
                number,
                is_index_partitioned,
            };
            footer.encode(offset)
        })?;
        Ok(FinishedSst {
            is_searchable: false,
            compressed: None,
            size_bytes,
            props,
        })
    }

    // Closes the block and writes it.
    fn cut(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        assert!(self.pending.is_none());
        let last = self.block.last_key().to_vec();
        let handle = self.draft.out.write_compressed(self.block.finish())?;
        self.draft.tally.props.data_block_count += 1;
        self.pending = Some((last, handle));
        self.block.clear();
        self.block_bytes = 0;
        Ok(())
    }

    // Random bits do not compress, so nobody tries.
    fn write_filter(&mut self) -> Result<Option<BlockHandle>> {
        match self.filter.take() {
            Some(filter) if self.draft.tally.props.entry_count > 0 => {
                let handle = self.draft.out.write_plain(&filter.finish())?;
                self.draft.tally.props.filter_bytes = handle.stored_len();
                Ok(Some(handle))
            }
            _ => Ok(None),
        }
    }

    // Handle of the top block, and whether there are partitions below it.
    fn write_index(&mut self) -> Result<(BlockHandle, bool)> {
        let whole = self.index.encode(0..self.index.len());
        if self.index.is_empty() || whole.len() <= self.draft.settings.sst.index_partition_bytes {
            return Ok((self.draft.out.write_compressed(&whole)?, false));
        }
        let partition_bytes = PARTITION_BYTES.min(self.draft.settings.sst.index_partition_bytes);
        let entry_bytes = whole.len().div_ceil(self.index.len());
        // At least two, or the top would be as long as what it leads to.
        let slots = (partition_bytes / entry_bytes).max(2);
        let mut top = IndexBuilder::default();
        let mut start = 0;
        while start < self.index.len() {
            let end = (start + slots).min(self.index.len());
            let handle = self
                .draft
                .out
                .write_compressed(&self.index.encode(start..end))?;
            let (key, trailer) = self.index.separator(end - 1);
            top.add(key, trailer, handle);
            start = end;
        }
        let plain = top.encode(0..top.len());
        Ok((self.draft.out.write_compressed(&plain)?, true))
    }
}
