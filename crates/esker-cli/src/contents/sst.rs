//! A sorted file: its properties, its parts, its data blocks.

use std::io;

use esker::internals::db::inspect::searchable::RecordsContents;
use esker::internals::db::inspect::sst::{BlockContents, SstContents};
use esker::internals::store::sst::searchable::format::Method;
use serde_json::json;

use crate::contents::page::Page;
use crate::quantity::{bytes, count, counted};

/// Shows a sorted file.
pub fn show(page: &mut Page<'_>, contents: &SstContents) -> io::Result<()> {
    page.heading(&format!(
        "{}, {}",
        bytes(contents.size_bytes),
        match contents.records {
            None => counted(contents.blocks.len() as u64, "data block"),
            Some(_) => format!(
                "searchable, {}",
                counted(contents.blocks.len() as u64, "key page")
            ),
        }
    ))?;
    show_props(page, contents)?;
    show_parts(page, contents)?;
    if let Some(records) = &contents.records {
        show_records(page, contents, records)?;
    }
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
        show_block(
            page,
            block,
            if contents.records.is_some() {
                "page"
            } else {
                "block"
            },
        )?;
    }
    Ok(())
}

fn show_props(page: &mut Page<'_>, contents: &SstContents) -> io::Result<()> {
    let props = &contents.props;
    let comparator = String::from_utf8_lossy(&props.comparator_name);
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
        "comparator": comparator,
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
        "keys {smallest} to {largest}, comparator {comparator}, seqnos {} to {}",
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
    for (name, handle) in &contents.parts {
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

fn show_records(
    page: &mut Page<'_>,
    contents: &SstContents,
    records: &RecordsContents,
) -> io::Result<()> {
    let raw_bytes = contents.props.raw_bytes();
    let ratio = raw_bytes as f64 / contents.size_bytes.max(1) as f64;
    let key_bytes = contents.props.index_bytes + records.tail_bytes;
    let entries = contents.props.entry_count.max(1) as f64;
    let fields = json!({
        "ratio": ratio,
        "record_bytes": records.stored_bytes,
        "key_bytes": key_bytes,
        "key_bytes_per_entry": key_bytes as f64 / entries,
    });
    let text = format!(
        "{} of keys and values in {}: {ratio:.2} to one; {:.1} bytes of each entry for its key",
        bytes(raw_bytes),
        bytes(contents.size_bytes),
        key_bytes as f64 / entries
    );
    page.item(&text, "records", fields)?;
    for of in records.methods.iter().filter(|of| of.record_count > 0) {
        let name = method_name(of.method);
        let fields = json!({
            "method": name,
            "records": of.record_count,
            "plain_bytes": of.plain_bytes,
            "compressed_bytes": of.compressed_bytes,
        });
        let text = format!(
            "{}: {}, {} in {}",
            name,
            counted(of.record_count, "value"),
            bytes(of.plain_bytes),
            bytes(of.compressed_bytes)
        );
        page.item(&text, "method", fields)?;
    }
    if let Some(dictionary) = &records.dictionary {
        let id = dictionary.id.to_string();
        let (phrases, classes) = (
            dictionary.phrase_count as u64,
            dictionary.class_count as u64,
        );
        let fields = json!({ "id": id, "phrases": phrases, "classes": classes });
        let (phrases, classes) = (counted(phrases, "phrase"), counted(classes, "class"));
        page.item(
            &format!("dictionary {id}: {phrases}, {classes}"),
            "dictionary",
            fields,
        )?;
    }
    for (rank, shown) in [("best", &records.best), ("worst", &records.worst)] {
        for record in shown {
            let fields = json!({
                "rank": rank,
                "key": page.json_key(&record.key),
                "plain_bytes": record.plain_len,
                "compressed_bytes": record.compressed_len,
            });
            let text = format!(
                "compressed {rank}: {} in {}, {:.2} to one, {}",
                bytes(record.plain_len as u64),
                bytes(record.compressed_len as u64),
                record.ratio(),
                page.key(&record.key)
            );
            page.item(&text, "record", fields)?;
        }
    }
    Ok(())
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Raw => "raw",
        Method::Phrases => "phrases",
        Method::Zstd => "zstd",
    }
}

fn show_block(page: &mut Page<'_>, block: &BlockContents, what: &str) -> io::Result<()> {
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
        "at {}  {what}, {} for {} ({}), entries: {}",
        block.offset,
        bytes(block.stored_len),
        bytes(block.plain_len),
        packing.unwrap_or("packed in an unknown way"),
        count(block.entry_count)
    );
    if let Some((first, last)) = keys {
        text += &format!(", {} to {}", page.key(first), page.key(last));
    }
    page.item(&text, what, fields)?;
    match &block.damage {
        Some(damage) => page.damage(damage, json!({ "offset": block.offset })),
        None => Ok(()),
    }
}
