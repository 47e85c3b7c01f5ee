//! JSON lines: one object a line.

use std::io;

use serde_json::{Map, Value};

use crate::json;
use crate::load::lines::{Line, Lines};
use crate::load::record::{Parsed, Record, malformed};
use crate::text::Format;

/// What of an object is the key, and what the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The fields `key` and `value`, as `dump` writes them.
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
            Ok((key, value)) => Ok(Record { line, key, value }),
            Err(reason) => malformed(line, reason),
        }));
    }
}

fn read(line: &[u8], shape: &Shape) -> Result<(Vec<u8>, Vec<u8>), String> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| format!("no JSON object: {error}"))?;
    match shape {
        Shape::KeyAndValue { key, value } => Ok((
            field(&object, "key", *key)?,
            field(&object, "value", *value)?,
        )),
        Shape::Field(name) => Ok((field(&object, name, Format::Text)?, line.to_vec())),
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
