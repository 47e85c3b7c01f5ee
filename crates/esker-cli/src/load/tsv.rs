//! Tab-separated lines: key, tab, value.

use std::io;

use crate::load::lines::{Line, Lines};
use crate::load::record::{Parsed, Record, malformed};
use crate::text::Format;

/// How the two fields are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Of keys.
    pub key: Format,
    /// Of values.
    pub value: Format,
    /// Whether a backslash in text is a backslash, and not the start of an escape.
    pub is_literal: bool,
}

/// Reads the next line. The value is everything behind the first tab; blank lines are passed over.
pub fn next(lines: &mut Lines, spelling: Spelling) -> io::Result<Option<Parsed>> {
    loop {
        let found = match lines.next_line()? {
            None => return Ok(None),
            Some(Line::Text(b"")) => continue,
            Some(Line::TooLong) => Err("the line is too long".to_owned()),
            Some(Line::Text(line)) => split(line, spelling),
        };
        let line = lines.number();
        return Ok(Some(match found {
            Ok((key, value)) => Ok(Record { line, key, value }),
            Err(reason) => malformed(line, reason),
        }));
    }
}

fn split(line: &[u8], spelling: Spelling) -> Result<(Vec<u8>, Vec<u8>), String> {
    let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
        return Err("no tab between key and value".into());
    };
    let parse = |format: Format, field: &[u8], name: &str| {
        if spelling.is_literal && format == Format::Text {
            return Ok(field.to_vec());
        }
        let parsed = format.parse_field(field);
        parsed.map_err(|reason| format!("{name}: {reason}"))
    };
    Ok((
        parse(spelling.key, &line[..tab], "key")?,
        parse(spelling.value, &line[tab + 1..], "value")?,
    ))
}

#[cfg(test)]
mod tests;
