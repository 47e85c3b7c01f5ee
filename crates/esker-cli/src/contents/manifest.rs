//! A manifest: what its snapshot says of the database, and every edit.

use std::io;

use esker::internals::db::inspect::manifest::{EditContents, ManifestContents, ManifestHead};
use serde_json::json;

use crate::contents::page::Page;
use crate::quantity::counted;
use crate::text::Format;

/// Shows a manifest.
pub fn show(page: &mut Page<'_>, contents: &ManifestContents) -> io::Result<()> {
    page.heading(&counted(contents.edits.len() as u64, "edit"))?;
    match &contents.head {
        Some(head) => show_head(page, head)?,
        // Then the reason is told where that edit is shown.
        None if contents
            .edits
            .first()
            .is_some_and(|edit| edit.damage.is_some()) => {}
        None => page.damage(
            "the snapshot with which it begins cannot be read",
            json!({}),
        )?,
    }
    for edit in &contents.edits {
        show_edit(page, edit)?;
    }
    for gap in &contents.gaps {
        page.gap(gap.offset, gap.damaged_at, gap.end)?;
    }
    Ok(())
}

fn show_head(page: &mut Page<'_>, head: &ManifestHead) -> io::Result<()> {
    let id = Format::Hex.show_field(&head.database_id);
    let fields = json!({
        "format": head.format_version,
        "database_id": id,
        "created_unix_s": head.created_unix_s,
    });
    let text = format!(
        "database {id}, format {}, created at {} unix seconds",
        head.format_version, head.created_unix_s
    );
    page.item(&text, "head", fields)
}

fn show_edit(page: &mut Page<'_>, edit: &EditContents) -> io::Result<()> {
    let changes: Vec<String> = edit.changes.iter().map(ToString::to_string).collect();
    let fields = json!({
        "offset": edit.offset,
        "changes": changes,
        "skipped": edit.skipped_count,
        "damage": edit.damage,
    });
    page.item(&format!("at {}  edit", edit.offset), "edit", fields)?;
    for change in &changes {
        page.note(&format!("  {change}"))?;
    }
    if edit.skipped_count > 0 {
        let skipped = counted(edit.skipped_count as u64, "change");
        page.note(&format!("  {skipped} of a newer Esker, passed over"))?;
    }
    match &edit.damage {
        Some(damage) => page.damage(damage, json!({ "offset": edit.offset })),
        None => Ok(()),
    }
}
