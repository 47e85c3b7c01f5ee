//! The index of a file: one level, or two where one would be too large to keep in memory.

use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::contract::Announced;
use crate::store::sst::format::BlockHandle;
use crate::store::sst::index::block::{IndexBlock, share};

/// The index of one open file.
#[derive(Clone, Debug)]
pub struct Index {
    /// Kept as long as the file is open.
    top: Arc<IndexBlock>,
    /// Whether `top` leads to partitions, which come and go with the block cache.
    is_partitioned: bool,
}

/// A place among the data blocks of a file.
#[derive(Clone, Debug)]
pub struct IndexPlace {
    /// Number of the partition; 0 when there is but one level.
    partition: usize,
    /// The partition; `None` when there is but one level, which need not be held once more.
    leaf: Option<Arc<IndexBlock>>,
    /// Number of the data block in its index block.
    slot: usize,
    handle: BlockHandle,
}

impl IndexPlace {
    /// Where the data block lies.
    pub fn handle(&self) -> BlockHandle {
        self.handle
    }
}

impl Index {
    /// The index with that top block.
    pub fn new(top: IndexBlock, is_partitioned: bool) -> Index {
        Index {
            top: Arc::new(top),
            is_partitioned,
        }
    }

    /// Bytes of memory that are kept as long as the file is open.
    pub fn pinned_bytes(&self) -> usize {
        self.top.size_bytes()
    }

    /// How many partitions there are; 1 when there is but one level.
    pub fn partition_count(&self) -> usize {
        match self.is_partitioned {
            true => self.top.len(),
            false => 1,
        }
    }

    /// The place of a data block of partition number `partition`: the one that `choose` names by
    /// its number, if there is such a one.
    fn place_in(
        &self,
        source: &BlockSource,
        partition: usize,
        fill_cache: bool,
        choose: impl FnOnce(&IndexBlock) -> Option<usize>,
    ) -> Result<Option<IndexPlace>> {
        let leaf = match self.is_partitioned {
            true => Some(source.partition(self.top.handle(partition), fill_cache)?),
            false => None,
        };
        let index = leaf.as_deref().unwrap_or(&self.top);
        let Some(slot) = choose(index).filter(|slot| *slot < index.len()) else {
            return Ok(None);
        };
        Ok(Some(IndexPlace {
            partition,
            slot,
            handle: index.handle(slot),
            leaf,
        }))
    }

    /// The index block of partition number `partition`.
    ///
    /// # Panics
    /// When there is no such partition.
    pub fn leaf(
        &self,
        source: &BlockSource,
        partition: usize,
        fill_cache: bool,
    ) -> Result<Arc<IndexBlock>> {
        match self.is_partitioned {
            true => source.partition(self.top.handle(partition), fill_cache),
            false => Ok(Arc::clone(&self.top)),
        }
    }

    /// The only data block that may hold entries of `user_key` from the raw `trailer` on;
    /// `None` when they would lie behind the last one.
    pub fn find(
        &self,
        source: &BlockSource,
        wanted: Target<'_>,
        fill_cache: bool,
    ) -> Result<Option<BlockHandle>> {
        if !self.is_partitioned {
            let slot = wanted.slot_in(&self.top);
            return Ok((slot < self.top.len()).then(|| self.top.handle(slot)));
        }
        let place = self.seek(source, wanted, fill_cache)?;
        Ok(place.map(|place| place.handle()))
    }

    /// As [`Index::find`], if that needs no read; otherwise says what will be read soon.
    pub fn announce(
        &self,
        source: &BlockSource,
        wanted: Target<'_>,
        announcer: &mut Announcer,
    ) -> Result<Announced<BlockHandle>> {
        let found = |leaf: &IndexBlock| {
            let slot = wanted.slot_in(leaf);
            (slot < leaf.len()).then(|| leaf.handle(slot))
        };
        if !self.is_partitioned {
            return Ok(found(&self.top).map_or(Announced::Absent, Announced::Place));
        }
        let partition = wanted.slot_in(&self.top);
        if partition >= self.partition_count() {
            return Ok(Announced::Absent);
        }
        let leaf = source.partition_or_announce(self.top.handle(partition), announcer)?;
        // Beyond the leaf only a damaged separator leads: `find` knows what then.
        let handle = leaf.and_then(|leaf| found(&leaf));
        Ok(handle.map_or(Announced::Index, Announced::Place))
    }

    /// As [`Index::find`], as a place from which one can go on.
    pub fn seek(
        &self,
        source: &BlockSource,
        wanted: Target<'_>,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        let partition = match self.is_partitioned {
            true => wanted.slot_in(&self.top),
            false => 0,
        };
        if partition >= self.partition_count() {
            return Ok(None);
        }
        let place = self.place_in(source, partition, fill_cache, |leaf| {
            Some(wanted.slot_in(leaf))
        })?;
        match place {
            // The top separator is the partition's last, so only a damaged one ends before it.
            None => self.first_of(source, partition + 1, fill_cache),
            found => Ok(found),
        }
    }

    /// The data block at about `lot` 2^32nds of the way through the file.
    pub fn near(
        &self,
        source: &BlockSource,
        lot: u32,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        let (partition, rest) = share(lot, self.partition_count());
        if partition >= self.partition_count() {
            return Ok(None);
        }
        self.place_in(source, partition, fill_cache, |leaf| {
            Some(share(rest, leaf.len()).0)
        })
    }

    /// The first data block of a partition, or `None` behind the last partition.
    pub fn first_of(
        &self,
        source: &BlockSource,
        partition: usize,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        if partition >= self.partition_count() {
            return Ok(None);
        }
        self.place_in(source, partition, fill_cache, |_| Some(0))
    }

    /// The last data block of a partition, or `None` when it has none.
    pub fn last_of(
        &self,
        source: &BlockSource,
        partition: usize,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        self.place_in(source, partition, fill_cache, |leaf| {
            leaf.len().checked_sub(1)
        })
    }

    /// The data block behind `place`.
    pub fn after(
        &self,
        source: &BlockSource,
        mut place: IndexPlace,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        let leaf = place.leaf.as_deref().unwrap_or(&self.top);
        if place.slot + 1 < leaf.len() {
            place.slot += 1;
            place.handle = leaf.handle(place.slot);
            return Ok(Some(place));
        }
        self.first_of(source, place.partition + 1, fill_cache)
    }

    /// The data block in front of `place`.
    pub fn before(
        &self,
        source: &BlockSource,
        mut place: IndexPlace,
        fill_cache: bool,
    ) -> Result<Option<IndexPlace>> {
        if place.slot > 0 {
            let leaf = place.leaf.as_deref().unwrap_or(&self.top);
            place.slot -= 1;
            place.handle = leaf.handle(place.slot);
            return Ok(Some(place));
        }
        match place.partition.checked_sub(1) {
            None => Ok(None),
            Some(partition) => self.last_of(source, partition, fill_cache),
        }
    }
}

/// What an index is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// How keys compare.
    pub comparator: &'a Comparator,
    /// The user key.
    pub user_key: &'a [u8],
    /// The raw trailer: entries of the key with larger trailers are not wanted.
    pub trailer: u64,
}

impl Target<'_> {
    fn slot_in(&self, block: &IndexBlock) -> usize {
        block.first_not_before(self.comparator, self.user_key, self.trailer)
    }
}
