//! A sorted file in the making, as far as that is the same for both kinds.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::AppendFile;
use crate::store::sst::block::writer::{BlockWriter, CompressionSettings};
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::format::BlockHandle;
use crate::store::sst::origin::Origin;
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;
use crate::store::sst::tally::{Tally, is_new_key};

/// What every builder of a sorted file has: what was written, what is to be said about it, and its
/// range deletes, which are written when they are all there.
pub struct SstDraft {
    /// Where blocks and records go.
    pub out: BlockWriter,
    /// How the file is to be built.
    pub settings: BuildSettings,
    /// What was added so far.
    pub tally: Tally,
    range_deletes: Vec<RangeDelete>,
}

impl SstDraft {
    /// Of an empty `file`.
    pub fn new(file: Box<dyn AppendFile>, settings: BuildSettings) -> SstDraft {
        let compress = CompressionSettings {
            number: settings.number,
            compression: settings.compression,
            zstd_level: settings.sst.zstd_level,
        };
        SstDraft {
            out: BlockWriter::new(file, compress),
            tally: Tally::new(&settings),
            range_deletes: Vec::new(),
            settings,
        }
    }

    /// Says which snapshots are live, ascending; before anything is added.
    pub fn set_snapshots(&mut self, snapshots: Arc<[SeqNo]>) {
        self.tally.set_snapshots(snapshots);
    }

    /// Says where the file comes from; before it is finished.
    pub fn set_origin(&mut self, origin: Origin) {
        self.tally.props.origin = origin;
    }

    /// Adds a range delete; in any order, before or after any point entry.
    ///
    /// # Panics
    /// When its start is not before its end.
    pub fn add_range_delete(&mut self, range: &RangeDelete) {
        let comparator = &self.settings.comparator;
        assert_eq!(comparator.compare(&range.start, &range.end), Ordering::Less);
        self.tally.count_range(range);
        self.range_deletes.push(range.clone());
    }

    /// Whether the user key of `next` is another than that of `last`, the entry before it, which is
    /// empty when there is none.
    ///
    /// # Panics
    /// When the entries are out of order.
    #[inline]
    pub fn is_new_key(&self, last: &[u8], next: &[u8]) -> bool {
        last.is_empty() || is_new_key(&self.settings.comparator, last, next)
    }

    /// Refuses a file to which nothing was added: it has no place in any order of keys.
    pub fn check_begun(&self) -> Result<()> {
        match self.tally.is_empty() {
            true => Err(Error::invalid(
                "a sorted file needs an entry or a range delete",
            )),
            false => Ok(()),
        }
    }

    /// Writes the range deletes, if there are any; where they lie.
    pub fn write_range_deletes(&mut self) -> Result<Option<BlockHandle>> {
        if self.range_deletes.is_empty() {
            return Ok(None);
        }
        let plain = range_deletes::encode(&self.settings.comparator, &mut self.range_deletes);
        self.out.write_compressed(&plain).map(Some)
    }

    /// Writes the properties and the footer, which follows from where those lie and from its own
    /// offset, and makes the file durable: its size in bytes, and what it says about itself.
    /// `last` is the internal key of the last entry; empty when there is none.
    pub fn finish(
        mut self,
        last: &[u8],
        footer: impl FnOnce(BlockHandle, u64) -> Vec<u8>,
    ) -> Result<(u64, Props)> {
        self.tally.settle(last);
        let props = self.out.write_plain(&self.tally.props.encode())?;
        let footer = footer(props, self.out.offset());
        self.out.write_bare(&footer)?;
        Ok((self.out.sync()?, self.tally.props))
    }
}
