//! Every kind of builder of sorted files behind one enum.

use std::sync::Arc;

use esker_phrase::Encoder;

use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::cursor::Encoded;
use crate::base::types::error::Result;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::AppendFile;
use crate::store::sst::block_based::builder::BlockBasedBuilder;
use crate::store::sst::contract::{BuildSettings, FinishedSst};
use crate::store::sst::draft::SstDraft;
use crate::store::sst::origin::Origin;
use crate::store::sst::searchable::builder::{SearchableBuilder, zstd_level};
use crate::store::sst::searchable::records::{CompressedValue, ValueCompressor};

/// Writes one sorted file, front to back.
pub enum AnyBuilder {
    /// A file made of blocks. Boxed: it is some hundred bytes, and lives as long as a file takes.
    BlockBased(Box<BlockBasedBuilder>),
    /// A file that is searched while it is compressed.
    Searchable(Box<SearchableBuilder>),
}

/// A compressor of values as the builder of a searchable file with these settings has one, for who
/// compresses them somewhere else.
///
/// Errors: when Zstd gets no memory.
pub fn compressor(
    phrases: Encoder,
    compression: CompressionType,
    settings: &SstOptions,
) -> Result<ValueCompressor> {
    ValueCompressor::new(Some(phrases), zstd_level(compression, settings))
}

macro_rules! each {
    ($self:ident, $builder:ident => $call:expr) => {
        match $self {
            AnyBuilder::BlockBased($builder) => $call,
            AnyBuilder::Searchable($builder) => $call,
        }
    };
}

impl AnyBuilder {
    /// A builder of a block-based file, on an empty `file`.
    pub fn block_based(file: Box<dyn AppendFile>, settings: BuildSettings) -> AnyBuilder {
        AnyBuilder::BlockBased(Box::new(BlockBasedBuilder::new(file, settings)))
    }

    /// A builder of a searchable file, on an empty `file`, whose values are compressed by `phrases`
    /// if it is there.
    ///
    /// Errors: when Zstd gets no memory.
    pub fn searchable(
        file: Box<dyn AppendFile>,
        settings: BuildSettings,
        phrases: Option<Encoder>,
    ) -> Result<AnyBuilder> {
        let builder = SearchableBuilder::new(file, settings, phrases)?;
        Ok(AnyBuilder::Searchable(Box::new(builder)))
    }

    /// Adds a point entry, which must be behind the one added last.
    ///
    /// Errors: those of the file, which is then useless; `Invalid` for a `PutExpiring` without
    /// an expiry.
    ///
    /// # Panics
    /// When entries come out of order, or are of a kind that lies only elsewhere.
    #[inline]
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        each!(self, builder => builder.add(internal_key, value))
    }

    /// As [`AnyBuilder::add`], of a value that [`compressor`] made as the builder's own has
    /// compressed.
    ///
    /// # Panics
    /// As that; and when the file is not searchable.
    pub fn add_compressed(
        &mut self,
        internal_key: &[u8],
        value: &[u8],
        compressed: CompressedValue,
    ) -> Result<()> {
        match self {
            AnyBuilder::BlockBased(_) => {
                panic!("files of blocks do not compress values by themselves")
            }
            AnyBuilder::Searchable(builder) => {
                builder.add_compressed(internal_key, value, compressed)
            }
        }
    }

    /// As [`AnyBuilder::add`], of a put whose value is phrases already.
    ///
    /// # Panics
    /// As that; and when the file is not searchable, or has another dictionary.
    pub fn add_encoded(&mut self, internal_key: &[u8], value: &Encoded<'_>) -> Result<()> {
        match self {
            AnyBuilder::BlockBased(_) => panic!("files of blocks have no phrases"),
            AnyBuilder::Searchable(builder) => builder.add_encoded(internal_key, value),
        }
    }

    /// Adds a range delete; in any order, before or after any point entry.
    ///
    /// # Panics
    /// When its start is not before its end.
    pub fn add_range_delete(&mut self, range: &RangeDelete) {
        self.draft_mut().add_range_delete(range);
    }

    /// Says which snapshots are live, ascending; before anything is added. What the file says of
    /// what they hold follows from it.
    pub fn set_snapshots(&mut self, snapshots: Arc<[SeqNo]>) {
        self.draft_mut().set_snapshots(snapshots);
    }

    /// Says where the file comes from; before it is finished.
    pub fn set_origin(&mut self, origin: Origin) {
        self.draft_mut().set_origin(origin);
    }

    fn draft_mut(&mut self) -> &mut SstDraft {
        each!(self, builder => builder.draft_mut())
    }

    /// Bytes of the file if it were finished now, roughly.
    pub fn size_estimate(&self) -> u64 {
        each!(self, builder => builder.size_estimate())
    }

    /// Internal key of the point entry added last; empty when there is none.
    pub fn last_key(&self) -> &[u8] {
        each!(self, builder => builder.last_key())
    }

    /// Writes what is left and makes the file durable; its directory entry is the caller's.
    ///
    /// Errors: those of the file, which is then useless; `Invalid` when nothing was added.
    pub fn finish(self) -> Result<FinishedSst> {
        each!(self, builder => builder.finish())
    }
}
