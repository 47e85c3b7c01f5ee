//! A segment of the log: every batch with its writes, every gap.

use std::io;

use esker::internals::base::types::kind::Kind;
use esker::internals::db::inspect::wal::{WalBatch, WalEntry, WalItem};
use serde_json::{Value, json};

use crate::contents::page::Page;
use crate::quantity::{bytes, counted};

/// Shows one thing in a segment.
pub fn show(page: &mut Page<'_>, item: &WalItem) -> io::Result<()> {
    match item {
        WalItem::Head { offset, previous } => {
            let text = match previous {
                Some((number, end)) => format!("follows {number}.wal, which ends at {end}"),
                None => "first segment of the log".into(),
            };
            let fields = json!({
                "offset": offset,
                "previous": previous.map(|(number, _)| format!("{number}.wal")),
                "previous_end": previous.map(|(_, end)| end),
            });
            page.item(&format!("at {offset}  head, {text}"), "head", fields)
        }
        WalItem::Mark { offset } => {
            let text = format!("at {offset}  mark: durable up to here");
            page.item(&text, "mark", json!({ "offset": offset }))
        }
        WalItem::Batch(batch) => show_batch(page, batch),
        WalItem::Unknown {
            offset,
            len_bytes,
            kind,
            is_optional,
        } => {
            let fields = json!({
                "offset": offset, "bytes": len_bytes, "kind": kind, "optional": is_optional,
            });
            let needed = match is_optional {
                true => "which may be passed over",
                false => "without which the log cannot be read",
            };
            let text = format!(
                "at {offset}  record of kind {kind}, {}, of a newer Esker, {needed}",
                bytes(*len_bytes)
            );
            page.item(&text, "unknown", fields)
        }
        WalItem::Strange {
            offset,
            len_bytes,
            cause,
        } => {
            let fields = json!({ "offset": offset, "bytes": len_bytes });
            page.damage(&format!("the record at {offset}: {cause}"), fields)
        }
        WalItem::Gap(gap) => page.gap(gap.offset, gap.damaged_at, gap.end),
    }
}

fn show_batch(page: &mut Page<'_>, batch: &WalBatch) -> io::Result<()> {
    let entries = batch.entries.iter();
    let fields = json!({
        "offset": batch.offset,
        "bytes": batch.len_bytes,
        "first_seqno": batch.first_seqno.get(),
        "last_seqno": batch.last_seqno.get(),
        "entries": entries.map(|entry| entry_to_json(page, entry)).collect::<Vec<_>>(),
    });
    let text = format!(
        "at {}  batch, {}, {}, seqnos {} to {}",
        batch.offset,
        counted(batch.entries.len() as u64, "write"),
        bytes(batch.len_bytes),
        batch.first_seqno,
        batch.last_seqno
    );
    page.item(&text, "batch", fields)?;
    for entry in &batch.entries {
        page.note(&format!(
            "  {} {} keyspace {}, {}",
            name_of(entry.kind).replace('_', " "),
            page.key(&entry.key),
            entry.keyspace,
            counted(entry.value_len as u64, "byte")
        ))?;
    }
    Ok(())
}

fn entry_to_json(page: &Page<'_>, entry: &WalEntry) -> Value {
    json!({
        "kind": name_of(entry.kind),
        "keyspace": entry.keyspace.0,
        "key": page.json_key(&entry.key),
        "value_bytes": entry.value_len,
    })
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Delete => "delete",
        Kind::Put => "put",
        Kind::Merge => "merge",
        Kind::RangeDelete => "range_delete",
        Kind::PutExpiring => "put_expiring",
        Kind::MergeFolded => "merge_folded",
        Kind::PutSeparated => "put_separated",
        Kind::PutSeparatedExpiring => "put_separated_expiring",
    }
}
