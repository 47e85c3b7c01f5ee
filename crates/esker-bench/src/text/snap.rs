//! Review records in the text format of SNAP: `field: text` lines, a blank line between records.

use std::io;

use crate::text::lines::{Line, Lines};
use crate::text::record::{Parsed, Record, malformed};

/// The fields that make the key, in its order.
const KEY_FIELDS: [&str; 3] = ["product/productId", "review/userId", "review/time"];

/// The line that opens a record.
pub const FIRST_FIELD: &[u8] = b"product/productId:";

/// Reads the next record: its lines joined by line feeds, under `productId/userId/time`.
///
/// Lines without a field name belong to the text before them. A record without one of the three
/// fields, or with a time that is no number, is malformed, and so are two records without a blank
/// line between them.
pub fn next(lines: &mut Lines) -> io::Result<Option<Parsed>> {
    let Some(first) = skip_blank(lines)? else {
        return Ok(None);
    };
    let mut draft = Draft::new(first);
    lines.unread();
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Text(b"") => break,
            Line::Text(text) => draft.add(text),
            Line::TooLong => draft.is_long = true,
        }
    }
    Ok(Some(draft.finish()))
}

/// Reads up to the first line that is not blank; its number, or `None` at the end.
fn skip_blank(lines: &mut Lines) -> io::Result<Option<u64>> {
    while let Some(line) = lines.next_line()? {
        if line != Line::Text(b"") {
            return Ok(Some(lines.number()));
        }
    }
    Ok(None)
}

/// A record while its lines come in.
struct Draft {
    line: u64,
    count: u64,
    value: Vec<u8>,
    key: [Option<Vec<u8>>; KEY_FIELDS.len()],
    twice: Option<(u64, &'static str)>,
    is_long: bool,
}

impl Draft {
    fn new(line: u64) -> Draft {
        Draft {
            line,
            count: 0,
            value: Vec::new(),
            key: [const { None }; KEY_FIELDS.len()],
            twice: None,
            is_long: false,
        }
    }

    fn add(&mut self, line: &[u8]) {
        if self.count > 0 {
            self.value.push(b'\n');
        }
        self.value.extend_from_slice(line);
        for (place, field) in self.key.iter_mut().zip(KEY_FIELDS) {
            let text = line
                .strip_prefix(field.as_bytes())
                .and_then(|rest| rest.strip_prefix(b":"));
            if let Some(text) = text {
                let earlier = place.replace(text.trim_ascii().to_vec());
                if earlier.is_some() && self.twice.is_none() {
                    self.twice = Some((self.line + self.count, field));
                }
            }
        }
        self.count += 1;
    }

    fn finish(self) -> Parsed {
        if self.is_long {
            return malformed(self.line, "a line of the record is too long");
        }
        if let Some((line, field)) = self.twice {
            let reason = format!("a second {field} in one record: is a blank line missing?");
            return malformed(line, reason);
        }
        let mut key = Vec::new();
        for (text, field) in self.key.iter().zip(KEY_FIELDS) {
            match text.as_deref() {
                None => return malformed(self.line, format!("the record has no {field}")),
                Some(b"") => return malformed(self.line, format!("{field} is empty")),
                Some(text) => {
                    if !key.is_empty() {
                        key.push(b'/');
                    }
                    key.extend_from_slice(text);
                }
            }
        }
        let time = self.key[2].as_deref().unwrap_or_default();
        if !time.iter().all(u8::is_ascii_digit) {
            let shown = time.escape_ascii();
            return malformed(self.line, format!("review/time is no number: {shown}"));
        }
        Ok(Record {
            line: self.line,
            key,
            value: self.value,
        })
    }
}

#[cfg(test)]
mod tests;
