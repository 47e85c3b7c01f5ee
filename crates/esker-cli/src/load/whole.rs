//! A dump of a whole database: the line that opens it, and the one that ends it.
//!
//! Between them are lines as of every other dump of JSON lines, each with its keyspace. The head
//! has what `load` needs before the first entry: the keyspaces and what makes them what they are.
//! The end tells a dump that was cut short from one that is whole.

use std::io;

use esker::internals::base::types::limits::KEYSPACE_COUNT_MAX;
use serde_json::{Map, Value, json};

use esker_bench::text::lines::{Line, Lines, LongLine};

/// The field by which the first line is known; its value is the version of the format.
const HEAD: &str = "esker_dump";

/// The field by which the last line is known; its value is the count of entries.
pub const END: &str = "esker_dump_end";

/// Longest head: as many keyspaces as there may be, each with a kilobyte of settings.
const HEAD_BYTES_MAX: usize = KEYSPACE_COUNT_MAX << 10;

/// The one version there is.
const VERSION: u64 = 1;

/// Name and text of settings.
pub type Pairs = Vec<(String, String)>;

/// What stands before the entries: every keyspace with its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head(pub Vec<(String, Pairs)>);

impl Head {
    /// The settings of a keyspace.
    pub fn settings_of(&self, keyspace: &str) -> Option<&Pairs> {
        let found = self.0.iter().find(|(name, _)| name == keyspace);
        found.map(|(_, settings)| settings)
    }

    /// The first line of a dump.
    pub fn to_line(&self) -> Value {
        let of_one = |(name, pairs): &(String, Pairs)| {
            let pairs = pairs.iter();
            let settings = pairs.map(|(name, text)| (name.clone(), text.as_str().into()));
            (name.clone(), Value::Object(settings.collect()))
        };
        let keyspaces: Map<String, Value> = self.0.iter().map(of_one).collect();
        json!({ HEAD: VERSION, "keyspaces": keyspaces })
    }

    /// Takes the head off the lines of a whole dump; `None`, with no line taken, for another input.
    /// The inner error says why this version cannot read the dump.
    pub fn take(lines: &mut Lines) -> io::Result<Option<Result<Head, String>>> {
        let found = match lines.next_line()? {
            Some(line) if !is_head(line.start()) => None,
            Some(Line::Text(line)) => read(line),
            Some(Line::Long(mut line)) => return Ok(Some(read_long(&mut line)?)),
            None => None,
        };
        if found.is_none() {
            lines.unread();
        }
        Ok(found)
    }
}

/// The last line of a dump.
pub fn end_line(entries: u64) -> Value {
    json!({ END: entries })
}

fn is_head(start: &[u8]) -> bool {
    let start = start.trim_ascii_start().strip_prefix(b"{");
    let name = start.and_then(|start| start.trim_ascii_start().strip_prefix(b"\""));
    name.is_some_and(|name| name.starts_with(HEAD.as_bytes()))
}

fn read(line: &[u8]) -> Option<Result<Head, String>> {
    let object: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let version = object.get(HEAD)?;
    if version.as_u64() != Some(VERSION) {
        return Some(Err(format!(
            "it is a dump of version {version}, and this program reads version {VERSION}; use the \
             program that wrote it, or a newer one"
        )));
    }
    let keyspaces = object.get("keyspaces").and_then(Value::as_object);
    let keyspaces = keyspaces.into_iter().flatten();
    let read = keyspaces.map(|(name, settings)| Some((name.clone(), pairs(settings)?)));
    match read.collect::<Option<Vec<_>>>() {
        Some(keyspaces) => Some(Ok(Head(keyspaces))),
        None => Some(Err(
            "the first line of the dump has settings that are no text".into(),
        )),
    }
}

/// A head of very many keyspaces. Being that long it is nothing else.
fn read_long(line: &mut LongLine<'_>) -> io::Result<Result<Head, String>> {
    let mut text = Vec::new();
    while let Some(piece) = line.next_piece()? {
        if text.len() + piece.len() > HEAD_BYTES_MAX {
            let reason = "the first line of the dump is longer than that of any dump";
            return Ok(Err(reason.into()));
        }
        text.extend_from_slice(piece);
    }
    let none = "the first line of the dump is broken; it is the line of the keyspaces";
    Ok(read(&text).unwrap_or_else(|| Err(none.into())))
}

fn pairs(settings: &Value) -> Option<Pairs> {
    let settings = settings.as_object()?.iter();
    settings
        .map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests;
