//! A segment of the log: every batch with its writes, every gap.

use std::io;

use esker::Bytes;
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
        WalItem::Batch(batch) => show_batch(page, ("batch", None), "batch", batch),
        WalItem::Prepare { .. }
        | WalItem::CommitHere { .. }
        | WalItem::CommitFull { .. }
        | WalItem::Rollback { .. } => show_two_phases(page, item),
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

fn show_two_phases(page: &mut Page<'_>, item: &WalItem) -> io::Result<()> {
    match item {
        WalItem::Prepare { id, origin, writes } => {
            let copy = origin.map_or_else(String::new, |(number, offset)| {
                format!(", first written to {number}.wal at {offset}")
            });
            let what = format!("prepare of transaction {}{copy}", page.key(id));
            show_batch(page, ("prepare", Some(id)), &what, writes)
        }
        WalItem::CommitFull { id, writes } => {
            let what = format!("commit of transaction {}", page.key(id));
            show_batch(page, ("commit_full", Some(id)), &what, writes)
        }
        WalItem::CommitHere {
            offset,
            id,
            prepare_offset,
            first_seqno,
            count,
        } => {
            let fields = json!({
                "offset": offset, "id": page.json_key(id), "prepare_offset": prepare_offset,
                "first_seqno": first_seqno.get(), "count": count,
            });
            let text = format!(
                "at {offset}  commit of transaction {}, prepared at {prepare_offset}, {}, seqnos \
                 from {first_seqno}",
                page.key(id),
                counted(u64::from(*count), "write"),
            );
            page.item(&text, "commit_here", fields)
        }
        WalItem::Rollback { offset, id } => {
            let fields = json!({ "offset": offset, "id": page.json_key(id) });
            let text = format!("at {offset}  rollback of transaction {}", page.key(id));
            page.item(&text, "rollback", fields)
        }
        _ => Ok(()),
    }
}

fn show_batch(
    page: &mut Page<'_>,
    (item, id): (&str, Option<&Bytes>),
    what: &str,
    batch: &WalBatch,
) -> io::Result<()> {
    let entries = batch.entries.iter();
    let mut fields = json!({
        "offset": batch.offset,
        "bytes": batch.len_bytes,
        "first_seqno": batch.first_seqno.get(),
        "last_seqno": batch.last_seqno.get(),
        "entries": entries.map(|entry| entry_to_json(page, entry)).collect::<Vec<_>>(),
    });
    let text = format!(
        "at {}  {what}, {}, {}, seqnos {} to {}",
        batch.offset,
        counted(batch.entries.len() as u64, "write"),
        bytes(batch.len_bytes),
        batch.first_seqno,
        batch.last_seqno
    );
    if let Some(id) = id {
        fields["id"] = page.json_key(id);
    }
    page.item(&text, item, fields)?;
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
        Kind::PutExpiringMillis => "put_expiring_millis",
        Kind::PutSeparatedExpiringMillis => "put_separated_expiring_millis",
    }
}
