//! About how much of a block-based sorted file lies before a place.

use crate::base::types::error::Result;
use crate::store::sst::block_based::index::Target;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::rank::{Gap, Rank};

impl BlockBasedReader {
    /// How much of the file lies before `gap`: bytes to half a data block, and of entries as large
    /// a part as of bytes. Reads at most two partitions of the index, and no data.
    ///
    /// Errors: `Corruption` and `Io` of reading a partition.
    pub fn rank(&self, gap: Gap<'_>, fill_cache: bool) -> Result<Rank> {
        let (source, index) = (self.sst().source(), self.index());
        let all = Rank {
            entry_count: self.sst().props().entry_count,
            size_bytes: source.size_bytes(),
        };
        let target = Target {
            comparator: self.sst().comparator(),
            user_key: gap.user_key(),
            trailer: gap.trailer().raw(),
        };
        let Some(place) = index.seek(source, target, fill_cache)? else {
            return Ok(all);
        };
        let last = index.last_of(source, index.partition_count() - 1, fill_cache)?;
        let Some(data_end) = last.and_then(|last| last.handle().end()) else {
            return Ok(all);
        };
        // Where in the block, only the block tells: half of it is wrong by half of it at most.
        let handle = place.handle();
        let before = handle.offset + handle.stored_len() / 2;
        Ok(Rank::of_part(all, before, data_end))
    }
}
