//! JSON lines: one object a line.

use std::io;

use esker::Expiry;
use serde_json::{Map, Value};

use crate::json;
use crate::load::entry::{Entry, Found, Parsed};
use crate::load::long_json::{LongJson, LongStrings, marked};
use crate::load::whole::END;
use crate::text::Format;
use esker_bench::text::lines::{Line, Lines, LongLine};
use esker_bench::text::record::Malformed;

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
            Some(Line::Text(line)) if line.trim_ascii().is_empty() => continue,
            Some(Line::Text(line)) => read(line, shape),
            Some(Line::Long(mut line)) => read_long(&mut line, shape)?,
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
    found(object, shape, || line.to_vec())
}

/// As [`read`]; in memory are the key and the value, and a piece of the line.
fn read_long(line: &mut LongLine<'_>, shape: &Shape) -> io::Result<Result<Found, String>> {
    let bounds = *line.bounds();
    let spelled_max = |format: Format, bytes: usize| match format {
        Format::Hex => 2 * bytes,
        // Text that is no UTF-8 is in base64 as well.
        Format::Text | Format::Base64 => bytes.div_ceil(3) * 4,
    };
    let wish = match shape {
        Shape::KeyAndValue { key, value } => {
            let key_max = spelled_max(*key, bounds.key);
            LongStrings::Kept(key_max + spelled_max(*value, bounds.value))
        }
        Shape::Field(_) => LongStrings::Forgotten,
    };
    let mut json = LongJson::new(bounds.piece / 2, wish);
    let mut whole = Vec::new();
    while let Some(piece) = line.next_piece()? {
        if let Err(reason) = json.add(piece) {
            return Ok(Err(reason));
        }
        if wish == LongStrings::Forgotten {
            if whole.len() + piece.len() > bounds.value {
                let max = bounds.value;
                let reason = format!("the line is too long: a value has {max} bytes at most");
                return Ok(Err(reason));
            }
            whole.extend_from_slice(piece);
        }
    }
    Ok(json.finish().and_then(|object| match shape {
        Shape::Field(name) if object.get(name).and_then(marked).is_some() => {
            let max = bounds.key;
            Err(format!(
                "field `{name}` is too long: a key has {max} bytes at most"
            ))
        }
        _ => found(object, shape, || whole),
    }))
}

fn found(
    mut object: Map<String, Value>,
    shape: &Shape,
    line: impl FnOnce() -> Vec<u8>,
) -> Result<Found, String> {
    let entry = match shape {
        Shape::KeyAndValue { .. } if object.contains_key(END) => return end(&object),
        Shape::KeyAndValue { key, value } => Entry {
            key: field(&mut object, "key", *key)?,
            value: field(&mut object, "value", *value)?,
            keyspace: keyspace(&object)?,
            expiry: expiry(&object)?,
            ..Entry::default()
        },
        Shape::Field(name) => Entry {
            key: field(&mut object, name, Format::Text)?,
            value: line(),
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

fn expiry(object: &Map<String, Value>) -> Result<Option<Expiry>, String> {
    let Some(value) = object.get("expires") else {
        return Ok(None);
    };
    match json::parse_expiry(value) {
        Some(expiry) => Ok(Some(expiry)),
        None => Err(
            "field `expires`: it is no number of seconds since 1970, up to 2106 and to the \
             millisecond"
                .into(),
        ),
    }
}

fn field(object: &mut Map<String, Value>, name: &str, format: Format) -> Result<Vec<u8>, String> {
    match object.remove(name) {
        None => Err(format!("no field `{name}`")),
        // Its bytes as they are, without copying them.
        Some(Value::String(text)) if format == Format::Text => Ok(text.into_bytes()),
        Some(value) => {
            let parsed = json::parse(format, &value);
            parsed.map_err(|reason| format!("field `{name}`: {reason}"))
        }
    }
}

#[cfg(test)]
mod tests;
