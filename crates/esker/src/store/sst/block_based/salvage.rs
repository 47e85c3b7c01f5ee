//! Takes what is whole of a damaged block-based file.
//!
//! The index says where blocks lie; where it is damaged they are found by their checksums alone,
//! for they lie one behind the other.

use crate::base::types::error::{Error, Result};
use crate::store::sst::block::checked::Checked;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::block::stray::{block_at, block_before};
use crate::store::sst::format::{BlockHandle, FOOTER_BYTES, Footer};
use crate::store::sst::index::block::IndexBlock;
use crate::store::sst::props::Props;
use crate::store::sst::saving::{Saving, only_damage};

/// Longest stored block that is looked for at a place where one only may begin, in bytes: there
/// are as many such places as a damaged block has bytes.
const GUESS_BYTES_MAX: u64 = 32 << 10;

/// Places at which a block may begin that are tried behind damage: a block that is longer takes
/// the rest of its part of the file with it.
const GUESSES_MAX: u64 = 64 << 10;

/// Hands every entry of every block that is whole to `saving`.
pub fn salvage(
    source: &BlockSource,
    footer: Option<&Footer>,
    saving: &mut Saving<'_>,
) -> Result<()> {
    let Some(footer) = footer else {
        let end = source.size_bytes().saturating_sub(FOOTER_BYTES as u64);
        return stray_blocks(source, 0, end, saving);
    };
    let parts = [footer.filter, footer.range_deletes, Some(footer.index)];
    let end = parts.into_iter().flatten().map(|part| part.offset).min();
    let end = end.unwrap_or(footer.index.offset);
    let Ok(top) = only_damage(source.index_from_file(footer.index))? else {
        return stray_blocks(source, 0, end, saving);
    };
    if !footer.is_index_partitioned {
        return known_blocks(source, &top, saving).map(drop);
    }
    // Where the blocks of a lost partition begin: behind those of the one before.
    let mut at = 0;
    let mut is_partition_lost = false;
    for slot in 0..top.len() {
        let Ok(leaf) = only_damage(source.index_from_file(top.handle(slot)))? else {
            is_partition_lost = true;
            continue;
        };
        if std::mem::take(&mut is_partition_lost) && !leaf.is_empty() {
            stray_blocks(source, at, leaf.handle(0).offset, saving)?;
        }
        at = known_blocks(source, &leaf, saving)?.unwrap_or(at);
    }
    match is_partition_lost {
        true => stray_blocks(source, at, end.min(top.handle(0).offset), saving),
        false => Ok(()),
    }
}

/// The footer of a file whose own is damaged, as far as it follows from the blocks before it.
pub fn rebuilt_footer(
    source: &BlockSource,
    props: (BlockHandle, &Props),
) -> Result<Option<Footer>> {
    let (props_handle, props) = props;
    let read_index = |plain: Vec<u8>| IndexBlock::read(&plain).ok();
    let found = block_before(source, 0, props_handle.offset, read_index)?;
    let Some((top, index)) = found else {
        return Ok(None);
    };
    let partition = match top.is_empty() {
        true => None,
        false => only_damage(source.index_from_file(top.handle(0)))?.ok(),
    };
    let parts_end = partition
        .as_ref()
        .map_or(index.offset, |_| top.handle(0).offset);
    let range_deletes = match props.range_delete_count {
        0 => None,
        _ => block_before(source, 0, parts_end, Some)?.map(|(_, handle)| handle),
    };
    Ok(Some(Footer {
        index,
        filter: None,
        props: props_handle,
        range_deletes,
        number: source.bound(),
        is_index_partitioned: partition.is_some(),
    }))
}

// The blocks that an index leads to; gives the end of the last one.
fn known_blocks(
    source: &BlockSource,
    leaf: &IndexBlock,
    saving: &mut Saving<'_>,
) -> Result<Option<u64>> {
    let mut end = None;
    for slot in 0..leaf.len() {
        let handle = leaf.handle(slot);
        end = handle.end();
        if let Some(block) = saving.read("a data block", source.rows_from_file(handle))? {
            take_block(block, saving)?;
        }
    }
    Ok(end)
}

// The blocks between two places, found without an index.
fn stray_blocks(source: &BlockSource, start: u64, end: u64, saving: &mut Saving<'_>) -> Result<()> {
    let (mut at, mut guesses) = (start, 0);
    while at < end {
        let bytes_max = if guesses == 0 {
            u64::MAX
        } else {
            GUESS_BYTES_MAX
        };
        let read = |plain: Vec<u8>| {
            Checked::new(plain)
                .ok()
                .filter(|block| is_next(block, saving))
        };
        if let Some((block, block_end)) = block_at(source, at, end, bytes_max, read)? {
            take_block(block, saving)?;
            (at, guesses) = (block_end, 0);
            continue;
        }
        if guesses == 0 {
            let error = Error::corruption("a data block is damaged, and no index leads behind it");
            saving.lose(
                "a data block",
                &source.at(
                    error,
                    BlockHandle {
                        offset: at,
                        ..BlockHandle::default()
                    },
                ),
            );
        }
        guesses += 1;
        if guesses > GUESSES_MAX {
            return Ok(());
        }
        at += 1;
    }
    Ok(())
}

// Whether it is a block of entries, whole, and behind what was taken last.
fn is_next(block: &Checked, saving: &Saving<'_>) -> bool {
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    if !matches!(cursor.seek_to_first(), Ok(true)) || !saving.fits(cursor.key()) {
        return false;
    }
    loop {
        match cursor.next() {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

fn take_block(block: Checked, saving: &mut Saving<'_>) -> Result<()> {
    let mut cursor = BlockCursor::default();
    cursor.enter(block);
    let mut moved = cursor.seek_to_first();
    while saving.read("entries of a data block", moved)? == Some(true) {
        saving.entry(cursor.key(), cursor.value())?;
        moved = cursor.next();
    }
    Ok(())
}
