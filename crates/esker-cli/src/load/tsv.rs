//! Tab-separated lines: key, tab, value.

use std::io;

use crate::load::field::{Coding, Field};
use crate::text::Format;
use esker_bench::text::lines::{Line, Lines, LongLine};
use esker_bench::text::record::{Parsed, Record, malformed};

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

const NO_TAB: &str = "no tab between key and value";

/// Key and value, or what is wrong with the line.
type Pair = Result<(Vec<u8>, Vec<u8>), String>;

/// Reads the next line. The value is everything behind the first tab; blank lines are passed over.
pub fn next(lines: &mut Lines, spelling: Spelling) -> io::Result<Option<Parsed>> {
    loop {
        let found = match lines.next_line()? {
            None => return Ok(None),
            Some(Line::Text(b"")) => continue,
            Some(Line::Text(line)) => split(line, spelling),
            Some(Line::Long(mut line)) => split_long(&mut line, spelling)?,
        };
        let line = lines.number();
        return Ok(Some(match found {
            Ok((key, value)) => Ok(Record { line, key, value }),
            Err(reason) => malformed(line, reason),
        }));
    }
}

fn split(line: &[u8], spelling: Spelling) -> Pair {
    let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
        return Err(NO_TAB.into());
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

/// As [`split`], decoding the fields while the line is read.
fn split_long(line: &mut LongLine<'_>, spelling: Spelling) -> io::Result<Pair> {
    let coding = |format| match format {
        Format::Text if spelling.is_literal => Coding::Plain,
        format => Coding::Field(format),
    };
    let bounds = *line.bounds();
    let mut key = Field::new("key", coding(spelling.key), bounds.key);
    let mut value = Field::new("value", coding(spelling.value), bounds.value);
    let mut has_key = false;
    while let Some(mut piece) = line.next_piece()? {
        if !has_key {
            let tab = piece.iter().position(|byte| *byte == b'\t');
            if let Err(reason) = key.add(&piece[..tab.unwrap_or(piece.len())]) {
                return Ok(Err(reason));
            }
            let Some(tab) = tab else { continue };
            has_key = true;
            piece = &piece[tab + 1..];
        }
        if let Err(reason) = value.add(piece) {
            return Ok(Err(reason));
        }
    }
    if !has_key {
        return Ok(Err(NO_TAB.into()));
    }
    Ok(key.finish().and_then(|key| Ok((key, value.finish()?))))
}

#[cfg(test)]
mod tests;
