//! JSON lines: one object a line.

use std::io;

use serde_json::{Map, Value};

use crate::json;
use crate::load::entry::{Entry, Found, Parsed};
use crate::load::lines::{Line, Lines};
use crate::load::record::Malformed;
use crate::load::whole::END;
use crate::text::Format;

/// What of an object is the key, and what the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The fields `key` and `value`, as `dump` writes them, and `keyspace` and `expires` where
    /// they are there.
    KeyAndValue {
        /// How keys are spelled.
        key: Format,
        /// How values are spelled.
        value: Format,
    },
    /// The key is this field's text or number; the value is the whole line.
    Field(String),
}

/// Reads the next line; blank lines are passed over.
pub fn next(lines: &mut Lines, shape: &Shape) -> io::Result<Option<Parsed>> {
    loop {
        let found = match lines.next_line()? {
            None => return Ok(None),
            Some(Line::TooLong) => Err("the line is too long".to_owned()),
            Some(Line::Text(line)) if line.trim_ascii().is_empty() => continue,
            Some(Line::Text(line)) => read(line, shape),
        };
        let line = lines.number();
        return Ok(Some(match found {
            Ok(Found::Entry(entry)) => Ok(Found::Entry(Entry { line, ..entry })),
            Ok(Found::End { entries, .. }) => Ok(Found::End { line, entries }),
            Err(reason) => Err(Malformed { line, reason }),
        }));
    }
}

// The line's number is the caller's to fill in.
fn read(line: &[u8], shape: &Shape) -> Result<Found, String> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| format!("no JSON object: {error}"))?;
    let entry = match shape {
        Shape::KeyAndValue { .. } if object.contains_key(END) => return end(&object),
        Shape::KeyAndValue { key, value } => Entry {
            key: field(&object, "key", *key)?,
            value: field(&object, "value", *value)?,
            keyspace: keyspace(&object)?,
            expiry_unix_s: expiry(&object)?,
            ..Entry::default()
        },
        Shape::Field(name) => Entry {
            key: field(&object, name, Format::Text)?,
            value: line.to_vec(),
            ..Entry::default()
        },
    };
    Ok(Found::Entry(entry))
}

fn end(object: &Map<String, Value>) -> Result<Found, String> {
    let entries = object.get(END).and_then(Value::as_u64);
    let entries = entries.ok_or_else(|| format!("field `{END}`: it is no count"))?;
    Ok(Found::End { line: 0, entries })
}

fn keyspace(object: &Map<String, Value>) -> Result<Option<String>, String> {
    match object.get("keyspace") {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err("field `keyspace`: it is no text".into()),
    }
}

fn expiry(object: &Map<String, Value>) -> Result<Option<u32>, String> {
    let Some(value) = object.get("expires") else {
        return Ok(None);
    };
    let seconds = value
        .as_u64()
        .and_then(|seconds| u32::try_from(seconds).ok());
    match seconds {
        Some(seconds) => Ok(Some(seconds)),
        None => Err("field `expires`: it is no second since 1970, up to 2106".into()),
    }
}

fn field(object: &Map<String, Value>, name: &str, format: Format) -> Result<Vec<u8>, String> {
    let value = object
        .get(name)
        .ok_or_else(|| format!("no field `{name}`"))?;
    json::parse(format, value).map_err(|reason| format!("field `{name}`: {reason}"))
}

#[cfg(test)]
mod tests;
