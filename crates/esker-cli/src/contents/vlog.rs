//! Segments of the value log on a page.

use std::io;

use esker::internals::db::inspect::vlog::VlogContents;
use serde_json::json;

use crate::contents::page::Page;
use crate::quantity::{bytes, counted};

/// Shows a segment: its values, and where they end.
pub fn show(page: &mut Page<'_>, contents: &VlogContents) -> io::Result<()> {
    let count = counted(contents.values.len() as u64, "value");
    let size = bytes(contents.size_bytes);
    page.heading(&format!("segment of the value log, {size}, {count}"))?;
    for value in &contents.values {
        let fields = json!({
            "offset": value.offset,
            "keyspace": value.keyspace.0,
            "key": page.json_key(&value.key),
            "value_bytes": value.value_len,
        });
        let text = format!(
            "at {}  {} keyspace {}, {}",
            value.offset,
            page.key(&value.key),
            value.keyspace,
            bytes(value.value_len)
        );
        page.item(&text, "value", fields)?;
        if let Some(damage) = &value.damage {
            page.damage(damage, json!({ "offset": value.offset }))?;
        }
    }
    let fields = json!({ "offset": contents.end, "bytes": contents.size_bytes });
    page.item(
        &format!("at {}  end of the values", contents.end),
        "end",
        fields,
    )
}
