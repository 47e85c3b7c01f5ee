//! A sorted file: its properties, its parts, its data blocks.

use std::io;

use esker::inspect::sst::{BlockContents, SstContents};
use esker::store::sst::format::BlockHandle;
use serde_json::json;

use crate::contents::page::Page;
use crate::quantity::{bytes, count, counted};

/// Shows a sorted file.
pub fn show(page: &mut Page<'_>, contents: &SstContents) -> io::Result<()> {
    page.heading(&format!(
        "{}, {}",
        bytes(contents.size_bytes),
        counted(contents.blocks.len() as u64, "data block")
    ))?;
    show_props(page, contents)?;
    show_parts(page, contents)?;
    for delete in contents.range_deletes.iter() {
        let (start, end) = (page.key(&delete.start), page.key(&delete.end));
        let fields = json!({
            "start": page.json_key(&delete.start),
            "end": page.json_key(&delete.end),
            "seqno": delete.seqno.get(),
        });
        let text = format!("range delete {start} up to {end}, seqno {}", delete.seqno);
        page.item(&text, "range_delete", fields)?;
    }
    for block in &contents.blocks {
        show_block(page, block)?;
    }
    Ok(())
}

fn show_props(page: &mut Page<'_>, contents: &SstContents) -> io::Result<()> {
    let props = &contents.props;
    let order = String::from_utf8_lossy(&props.order_name);
    let (smallest, largest) = (page.key(&props.smallest), page.key(&props.largest));
    let fields = json!({
        "bytes": contents.size_bytes,
        "keyspace": props.keyspace.0,
        "entries": props.entry_count,
        "deletes": props.delete_count,
        "merges": props.merge_count,
        "range_deletes": props.range_delete_count,
        "keys": props.key_count,
        "raw_key_bytes": props.raw_key_bytes,
        "raw_value_bytes": props.raw_value_bytes,
        "smallest": page.json_key(&props.smallest),
        "largest": page.json_key(&props.largest),
        "smallest_seqno": props.smallest_seqno.get(),
        "largest_seqno": props.largest_seqno.get(),
        "newest_expiry_unix_s": props.newest_expiry_s,
        "data_blocks": props.data_block_count,
        "index_bytes": props.index_bytes,
        "filter_bytes": props.filter_bytes,
        "order": order,
        "compression": props.compression.name(),
        "created_unix_s": props.created_unix_s,
    });
    let text = format!(
        "keyspace {}; entries: {}, of {}; {}, {}, {}",
        props.keyspace,
        count(props.entry_count),
        counted(props.key_count, "key"),
        counted(props.delete_count, "delete"),
        counted(props.merge_count, "merge"),
        counted(props.range_delete_count, "range delete"),
    );
    page.item(&text, "properties", fields)?;
    page.note(&format!(
        "keys {smallest} to {largest}, order {order}, seqnos {} to {}",
        props.smallest_seqno, props.largest_seqno
    ))?;
    page.note(&format!(
        "{} of keys and {} of values, packed with {}; created at {} unix seconds",
        bytes(props.raw_key_bytes),
        bytes(props.raw_value_bytes),
        props.compression.name(),
        props.created_unix_s
    ))?;
    match props.newest_expiry_s {
        Some(newest) => page.note(&format!("all of it is expired at {newest} unix seconds")),
        None => Ok(()),
    }
}

fn show_parts(page: &mut Page<'_>, contents: &SstContents) -> io::Result<()> {
    let footer = &contents.footer;
    let index = match footer.is_index_partitioned {
        true => "top index",
        false => "index",
    };
    let parts: [(&str, Option<BlockHandle>); 4] = [
        (index, Some(footer.index)),
        ("filter", footer.filter),
        ("properties", Some(footer.props)),
        ("range deletes", footer.range_deletes),
    ];
    for (name, handle) in parts {
        let Some(handle) = handle else { continue };
        let fields = json!({
            "part": name,
            "offset": handle.offset,
            "stored_bytes": handle.stored_len(),
            "plain_bytes": handle.plain_len,
        });
        let text = format!(
            "at {}  {name}, {}",
            handle.offset,
            bytes(handle.stored_len())
        );
        page.item(&text, "part", fields)?;
    }
    Ok(())
}

fn show_block(page: &mut Page<'_>, block: &BlockContents) -> io::Result<()> {
    let packing = block.compression.map(|packing| packing.name());
    let keys = block.keys.as_ref();
    let fields = json!({
        "offset": block.offset,
        "stored_bytes": block.stored_len,
        "plain_bytes": block.plain_len,
        "compression": packing,
        "entries": block.entry_count,
        "first": keys.map(|(first, _)| page.json_key(first)),
        "last": keys.map(|(_, last)| page.json_key(last)),
        "damage": block.damage,
    });
    let mut text = format!(
        "at {}  block, {} for {} ({}), entries: {}",
        block.offset,
        bytes(block.stored_len),
        bytes(block.plain_len),
        packing.unwrap_or("packed in an unknown way"),
        count(block.entry_count)
    );
    if let Some((first, last)) = keys {
        text += &format!(", {} to {}", page.key(first), page.key(last));
    }
    page.item(&text, "block", fields)?;
    match &block.damage {
        Some(damage) => page.damage(damage, json!({ "offset": block.offset })),
        None => Ok(()),
    }
}
