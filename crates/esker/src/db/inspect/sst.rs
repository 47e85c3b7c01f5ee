//! What lies in a sorted file: properties, parts, and every data block or key page.

use std::path::Path;
use std::sync::Arc;

use crate::base::codec::compress::CompressionType;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key;
use crate::base::types::range_delete::RangeDelete;
use crate::db::inspect::searchable::{RecordsContents, RecordsWalk};
use crate::env::bundle::Env;
use crate::env::fs::ReadFile;
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::format::{BlockHandle, Footer};
use crate::store::sst::opening::RawFooter;
use crate::store::sst::props::Props;
use crate::store::sst::searchable;
use crate::store::sst::searchable::reader::SearchableReader;

/// Bytes of blocks kept in memory: index partitions, at most a few of them.
const CACHE_BYTES: usize = 1 << 20;

/// What lies in a sorted file.
#[derive(Clone, Debug)]
pub struct SstContents {
    /// Number of the file.
    pub number: FileNumber,
    /// The number under which it was written: another one in an adopted file.
    pub written_as: FileNumber,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// What it says about itself.
    pub props: Props,
    /// Where its parts lie, but for data blocks and key pages.
    pub parts: Vec<(&'static str, BlockHandle)>,
    /// Its data blocks, in order; of a searchable file its key pages.
    pub blocks: Vec<BlockContents>,
    /// What the records of a searchable file are like; `None` for a file of blocks.
    pub records: Option<RecordsContents>,
    /// Its range deletes, by ascending start.
    pub range_deletes: Arc<[RangeDelete]>,
}

/// What lies in one data block or key page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockContents {
    /// Where it begins.
    pub offset: u64,
    /// Bytes that it takes in the file, its trailer included.
    pub stored_len: u64,
    /// Bytes of it uncompressed.
    pub plain_len: u64,
    /// How it is compressed; `None` when that byte makes no sense.
    pub compression: Option<CompressionType>,
    /// Entries in it.
    pub entry_count: u64,
    /// User keys of its first and last entry.
    pub keys: Option<(Bytes, Bytes)>,
    /// What is wrong with it; then counts and keys are those before the damage.
    pub damage: Option<String>,
}

/// What lies in the sorted file at `path`, whose keys are in the bytewise order.
///
/// Errors: `Invalid` when the name is not that of a sorted file; `Unsupported` for a newer format;
/// `Corruption` when footer, index, filter or properties are damaged. Damaged data blocks are
/// told one by one.
pub fn sst(path: impl AsRef<Path>) -> Result<SstContents> {
    sst_in(&Env::real(1), path.as_ref(), &[])
}

/// As [`sst`], in any world, for a file whose keys may be in one of `comparators`.
pub fn sst_in(env: &Env, path: &Path, comparators: &[Comparator]) -> Result<SstContents> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(FileName::Sst(number)) = name.and_then(FileName::parse) else {
        let place = path.display();
        return Err(Error::invalid(format!(
            "{place} is not named as a sorted file is, such as 000012.sst; its number is part of \
             every checksum"
        )));
    };
    let file = env.fs.open_read(path)?;
    let footer = RawFooter::read(&*file, number)?;
    let binding = FileBinding {
        number,
        bound: footer.stored_number(),
        renumbering: None,
    };
    let reader = open(&file, binding, comparators)?;
    let mut contents = SstContents {
        number,
        written_as: binding.bound,
        size_bytes: file.size_bytes(),
        props: reader.props().clone(),
        parts: Vec::new(),
        blocks: Vec::new(),
        records: None,
        range_deletes: Arc::clone(reader.range_deletes()),
    };
    let footer = RawFooter::read(&*file, binding)?;
    match reader.stored() {
        AnyReader::BlockBased(reader) => look_at_blocks(&*file, &footer, reader, &mut contents)?,
        AnyReader::Searchable(reader) => look_at_pages(&footer, reader, &mut contents)?,
        AnyReader::Adopted(_) => {}
    }
    Ok(contents)
}

fn look_at_blocks(
    file: &dyn ReadFile,
    footer: &RawFooter,
    reader: &BlockBasedReader,
    contents: &mut SstContents,
) -> Result<()> {
    let footer = footer.decode(Footer::decode)?;
    let index_name = match footer.is_index_partitioned {
        true => "top index",
        false => "index",
    };
    contents.parts = some_parts([
        (index_name, Some(footer.index)),
        ("filter", footer.filter),
        ("properties", Some(footer.props)),
        ("range deletes", footer.range_deletes),
    ]);
    let index = reader.index();
    for partition in 0..index.partition_count() {
        let leaf = index.leaf(reader.sst().source(), partition, false)?;
        for slot in 0..leaf.len() {
            let block = read_block(file, reader, leaf.handle(slot));
            contents.blocks.push(block);
        }
    }
    Ok(())
}

fn look_at_pages(
    footer: &RawFooter,
    reader: &SearchableReader,
    contents: &mut SstContents,
) -> Result<()> {
    let footer = footer.decode(searchable::format::Footer::decode)?;
    contents.parts = some_parts([
        ("key index", Some(footer.index)),
        ("dictionary", footer.dictionary),
        ("properties", Some(footer.props)),
        ("range deletes", footer.range_deletes),
    ]);
    let mut walk = RecordsWalk::new(reader);
    for slot in 0..reader.page_count() {
        let handle = reader.index().handle(slot);
        let mut page = empty_block(handle, Some(CompressionType::None));
        let walked = walk.page(slot, |user_key| count_entry(&mut page, user_key));
        page.damage = walked.err().map(|error| error.to_string());
        contents.blocks.push(page);
    }
    contents.records = Some(walk.finish());
    Ok(())
}

fn some_parts(parts: [(&'static str, Option<BlockHandle>); 4]) -> Vec<(&'static str, BlockHandle)> {
    let there = parts.into_iter();
    there
        .filter_map(|(name, handle)| Some((name, handle?)))
        .collect()
}

fn open(
    file: &Arc<dyn ReadFile>,
    binding: FileBinding,
    comparators: &[Comparator],
) -> Result<AnyReader> {
    let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
    let open = |comparator: &Comparator| {
        AnyReader::open(
            Arc::clone(file),
            binding,
            comparator.clone(),
            Arc::clone(&cache),
        )
    };
    let mut opened = open(&Comparator::Bytewise);
    for comparator in comparators {
        match &opened {
            // Another order than the file was written with.
            Err(error) if error.kind() == ErrorKind::Invalid => opened = open(comparator),
            _ => break,
        }
    }
    opened
}

fn empty_block(handle: BlockHandle, compression: Option<CompressionType>) -> BlockContents {
    BlockContents {
        offset: handle.offset,
        stored_len: handle.stored_len(),
        plain_len: u64::from(handle.plain_len),
        compression,
        entry_count: 0,
        keys: None,
        damage: None,
    }
}

fn count_entry(contents: &mut BlockContents, user_key: Bytes) {
    contents.entry_count += 1;
    contents.keys = Some(match contents.keys.take() {
        None => (user_key.clone(), user_key),
        Some((first, _)) => (first, user_key),
    });
}

fn read_block(
    file: &dyn ReadFile,
    reader: &BlockBasedReader,
    handle: BlockHandle,
) -> BlockContents {
    let mut compression = [0];
    let compressed_end = handle.offset.checked_add(u64::from(handle.compressed_len));
    let compression_read = compressed_end.map(|end| file.read_at(end, &mut compression));
    let compression = match compression_read {
        Some(Ok(())) => CompressionType::from_byte(compression[0]),
        _ => None,
    };
    let mut contents = empty_block(handle, compression);
    if let Err(error) = walk_block(reader, handle, &mut contents) {
        contents.damage = Some(error.to_string());
    }
    contents
}

fn walk_block(
    reader: &BlockBasedReader,
    handle: BlockHandle,
    contents: &mut BlockContents,
) -> Result<()> {
    let mut cursor = BlockCursor::default();
    cursor.enter(reader.sst().source().rows_from_file(handle)?);
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        count_entry(contents, Bytes::copy_of(key::user_key(cursor.key())));
        is_on = cursor.next()?;
    }
    Ok(())
}
