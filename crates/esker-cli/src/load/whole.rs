//! A dump of a whole database: the line that opens it, and the one that ends it.
//!
//! Between them are lines as of every other dump of JSON lines, each with its keyspace. The head
//! has what `load` needs before the first entry: the keyspaces and what makes them what they are.
//! The end tells a dump that was cut short from one that is whole.

use std::io;

use serde_json::{Map, Value, json};

use crate::load::lines::{Line, Lines};

/// The field by which the first line is known; its value is the version of the format.
const HEAD: &str = "esker_dump";

/// The field by which the last line is known; its value is the count of entries.
pub const END: &str = "esker_dump_end";

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
            Some(Line::Text(line)) => read(line),
            _ => None,
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

fn read(line: &[u8]) -> Option<Result<Head, String>> {
    let start = line.trim_ascii_start().strip_prefix(b"{")?;
    start
        .trim_ascii_start()
        .strip_prefix(b"\"")?
        .strip_prefix(HEAD.as_bytes())?;
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

fn pairs(settings: &Value) -> Option<Pairs> {
    let settings = settings.as_object()?.iter();
    settings
        .map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests;
