//! Writes a block-based sorted file.

use std::cmp::Ordering;

use crate::base::codec::checksum::hash64;
use crate::base::codec::compress::Compression;
use crate::base::types::bytes::Bytes;
use crate::base::types::entry::{Entry, split_expiring};
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::AppendFile;
use crate::store::sst::block::builder::BlockBuilder;
use crate::store::sst::contract::{BuildSettings, FinishedSst};
use crate::store::sst::filter::block::FilterBuilder;
use crate::store::sst::format::{BlockHandle, Footer, block_checksum};
use crate::store::sst::index::builder::{IndexBuilder, last_separator, separator};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::shares::ValueShares;

/// Largest block size that a setting can ask for, in bytes: a block is read and unpacked as a
/// whole, and lengths inside it stay far below 32 bits even behind the largest value.
const BLOCK_SIZE_BYTES_MAX: usize = 16 << 20;

/// Bytes of one partition of a split index: small enough to be brought in for one point read,
/// large enough that a hundred of them lead to a million blocks.
const PARTITION_BYTES: usize = 16 << 10;

/// Writes one block-based sorted file, front to back.
///
/// Shape: memory for one block, 8 bytes per user key for the filter, and the index.
pub struct BlockBasedBuilder {
    out: BlockWriter,
    settings: BuildSettings,
    block: BlockBuilder,
    index: IndexBuilder,
    filter: Option<FilterBuilder>,
    range_deletes: Vec<RangeDelete>,
    props: Props,
    /// Last internal key and handle of a block whose separator waits for the next key.
    pending: Option<(Vec<u8>, BlockHandle)>,
    last_hash: u64,
    every_entry_expires: bool,
}

/// Packs, checksums and appends blocks.
struct BlockWriter {
    file: Box<dyn AppendFile>,
    settings: PackSettings,
    offset: u64,
    /// The stored bytes of one block, kept for the next.
    stored: Vec<u8>,
}

#[derive(Clone, Copy)]
struct PackSettings {
    number: FileNumber,
    compression: Compression,
    zstd_level: i32,
}

impl BlockBasedBuilder {
    /// A builder that writes to an empty `file`.
    pub fn new(file: Box<dyn AppendFile>, settings: BuildSettings) -> BlockBasedBuilder {
        assert_eq!(file.size_bytes(), 0);
        let sst = &settings.sst;
        BlockBasedBuilder {
            out: BlockWriter {
                file,
                settings: PackSettings {
                    number: settings.number,
                    compression: settings.compression,
                    zstd_level: sst.zstd_level,
                },
                offset: 0,
                stored: Vec::new(),
            },
            block: BlockBuilder::new(sst.restart_interval, sst.block_hash_index),
            index: IndexBuilder::default(),
            filter: FilterBuilder::new(sst.filter_bits_per_key),
            range_deletes: Vec::new(),
            props: empty_props(&settings),
            pending: None,
            last_hash: 0,
            every_entry_expires: true,
            settings,
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
        let is_new_key = self.check_order(internal_key);
        if let Some((last, handle)) = self.pending.take() {
            let (short, behind) = separator(&self.settings.order, &last, internal_key);
            self.index.add(&short, behind, handle);
        }
        if is_new_key {
            self.last_hash = hash64(user_key);
            self.props.key_count += 1;
            if let Some(filter) = &mut self.filter {
                filter.add(self.last_hash);
            }
        }
        self.count(&Entry {
            key: user_key,
            trailer,
            value,
        })?;
        self.count_seqno(trailer.seqno());
        self.props.raw_key_bytes += internal_key.len() as u64;
        self.props.raw_value_bytes += value.len() as u64;
        self.block.add(internal_key, self.last_hash, value);
        let block_size = self.settings.sst.block_size_bytes.min(BLOCK_SIZE_BYTES_MAX);
        if self.block.size_estimate() >= block_size {
            self.cut()?;
        }
        Ok(())
    }

    /// Adds a range delete; in any order, before or after any point entry.
    ///
    /// # Panics
    /// When its start is not before its end.
    pub fn add_range_delete(&mut self, range: &RangeDelete) -> Result<()> {
        assert_eq!(
            self.settings.order.compare(&range.start, &range.end),
            Ordering::Less
        );
        self.count_seqno(range.seqno);
        self.props.range_delete_count += 1;
        self.range_deletes.push(range.clone());
        Ok(())
    }

    /// Bytes of the file if it were finished now, roughly; what is still in memory counts as if
    /// it did not pack at all.
    pub fn size_estimate(&self) -> u64 {
        let filter = self.filter.as_ref().map_or(0, FilterBuilder::size_estimate);
        let waiting = self.block.size_estimate() + self.index.size_estimate() + filter;
        self.out.offset + waiting as u64
    }

    /// Point entries added so far.
    pub fn entry_count(&self) -> u64 {
        self.props.entry_count
    }

    /// Writes what is left and makes the file durable.
    ///
    /// Errors: those of the file, which is then useless; `Invalid` when nothing was added: such
    /// a file has no place in any order of keys.
    pub fn finish(mut self) -> Result<FinishedSst> {
        if self.props.entry_count + self.props.range_delete_count == 0 {
            return Err(Error::invalid(
                "a sorted file needs an entry or a range delete",
            ));
        }
        self.cut()?;
        if let Some((last, handle)) = self.pending.take() {
            self.props.largest = Bytes::copy_of(key::user_key(&last));
            let (key, behind) = last_separator(&last);
            self.index.add(&key, behind, handle);
        }
        let filter = self.write_filter()?;
        let range_deletes = self.write_range_deletes()?;
        let before_index = self.out.offset;
        let (index, is_index_partitioned) = self.write_index()?;
        self.props.index_bytes = self.out.offset - before_index;
        if !self.every_entry_expires || self.props.range_delete_count > 0 {
            self.props.newest_expiry_s = None;
        }
        let props = self.out.write_plain(&self.props.encode())?;
        let footer = Footer {
            index,
            filter,
            props,
            range_deletes,
            number: self.settings.number,
            is_index_partitioned,
        };
        self.out.file.append(&footer.encode(self.out.offset))?;
        self.out.file.sync()?;
        Ok(FinishedSst {
            size_bytes: self.out.file.size_bytes(),
            props: self.props,
        })
    }

    // Whether the user key is another than that of the entry before.
    fn check_order(&mut self, internal_key: &[u8]) -> bool {
        let pending = self.pending.as_ref().map(|(last, _)| last.as_slice());
        let last = pending.unwrap_or(self.block.last_key());
        if last.is_empty() {
            self.props.smallest = Bytes::copy_of(key::user_key(internal_key));
            return true;
        }
        let (last_key, last_trailer) = key::split(last);
        let (user_key, trailer) = key::split(internal_key);
        match self.settings.order.compare(last_key, user_key) {
            Ordering::Less => true,
            Ordering::Equal => {
                assert!(trailer < last_trailer, "entries of a key come newest first");
                false
            }
            Ordering::Greater => panic!("entries come in the order of keys"),
        }
    }

    fn count(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.props.entry_count += 1;
        if let Some(pointer) = ValuePointer::of(entry)? {
            let bytes = pointer.record_bytes(entry.key.len());
            self.props.values.add(pointer.segment, bytes);
        }
        match entry.kind() {
            Kind::Delete => self.props.delete_count += 1,
            Kind::Merge => self.props.merge_count += 1,
            _ => {}
        }
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

    // Closes the block and writes it.
    fn cut(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        assert!(self.pending.is_none());
        let last = self.block.last_key().to_vec();
        let handle = self.out.write_packed(self.block.finish())?;
        self.props.data_block_count += 1;
        self.pending = Some((last, handle));
        self.block.clear();
        Ok(())
    }

    // Random bits do not pack, so nobody tries.
    fn write_filter(&mut self) -> Result<Option<BlockHandle>> {
        match self.filter.take() {
            Some(filter) if self.props.entry_count > 0 => {
                let handle = self.out.write_plain(&filter.finish())?;
                self.props.filter_bytes = handle.stored_len();
                Ok(Some(handle))
            }
            _ => Ok(None),
        }
    }

    fn write_range_deletes(&mut self) -> Result<Option<BlockHandle>> {
        if self.range_deletes.is_empty() {
            return Ok(None);
        }
        let plain = range_deletes::encode(&self.settings.order, &mut self.range_deletes);
        self.out.write_packed(&plain).map(Some)
    }

    // Handle of the top block, and whether there are partitions below it.
    fn write_index(&mut self) -> Result<(BlockHandle, bool)> {
        let whole = self.index.encode(0..self.index.len());
        if self.index.is_empty() || whole.len() <= self.settings.sst.index_partition_bytes {
            return Ok((self.out.write_packed(&whole)?, false));
        }
        let partition_bytes = PARTITION_BYTES.min(self.settings.sst.index_partition_bytes);
        let entry_bytes = whole.len().div_ceil(self.index.len());
        // At least two, or the top would be as long as what it leads to.
        let slots = (partition_bytes / entry_bytes).max(2);
        let mut top = IndexBuilder::default();
        let mut start = 0;
        while start < self.index.len() {
            let end = (start + slots).min(self.index.len());
            let handle = self.out.write_packed(&self.index.encode(start..end))?;
            let (key, trailer) = self.index.separator(end - 1);
            top.add(key, trailer, handle);
            start = end;
        }
        let plain = top.encode(0..top.len());
        Ok((self.out.write_packed(&plain)?, true))
    }
}

impl BlockWriter {
    /// Appends a block, packed as the settings say where that pays.
    fn write_packed(&mut self, plain: &[u8]) -> Result<BlockHandle> {
        let PackSettings {
            compression,
            zstd_level,
            ..
        } = self.settings;
        if compression == Compression::None {
            return self.write_plain(plain);
        }
        self.stored.clear();
        compression.pack(plain, zstd_level, &mut self.stored)?;
        // Unpacking costs every reader time; an eighth of a block is about what pays for it.
        if self.stored.len() > plain.len() - plain.len() / 8 {
            return self.write_plain(plain);
        }
        self.append(compression, plain.len())
    }

    /// Appends a block as it is.
    fn write_plain(&mut self, plain: &[u8]) -> Result<BlockHandle> {
        self.stored.clear();
        self.stored.extend_from_slice(plain);
        self.append(Compression::None, plain.len())
    }

    // Appends what lies in `stored`, and its trailer.
    fn append(&mut self, compression: Compression, plain_len: usize) -> Result<BlockHandle> {
        let length = |len: usize| u32::try_from(len).expect("blocks are below 4 GiB");
        let handle = BlockHandle {
            offset: self.offset,
            packed_len: length(self.stored.len()),
            plain_len: length(plain_len),
        };
        self.stored.push(compression as u8);
        let checksum = block_checksum(&self.stored, self.settings.number, self.offset);
        self.stored.extend_from_slice(&checksum.to_le_bytes());
        self.file.append(&self.stored)?;
        self.offset += self.stored.len() as u64;
        assert_eq!(handle.end(), Some(self.offset));
        Ok(handle)
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
    }
}
