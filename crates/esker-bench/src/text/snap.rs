//! Review records in the text format of SNAP: `field: text` lines, a blank line between records.

use std::io;

use crate::text::lines::{Bounds, Line, Lines, LongLine};
use crate::text::record::{Parsed, Record, malformed};

/// The fields that make the key, in its order.
const KEY_FIELDS: [&str; 3] = ["product/productId", "review/userId", "review/time"];

/// The line that opens a record.
pub const FIRST_FIELD: &[u8] = b"product/productId:";

const KEY_IS_LONG: &str = "a field of the key is too long: a key has 65 535 bytes at most";

/// Reads the next record: its lines joined by line feeds, under `productId/userId/time`.
///
/// Lines without a field name belong to the text before them. A record without one of the three
/// fields, or with a time that is no number, is malformed, and so are two records without a blank
/// line between them.
pub fn next(lines: &mut Lines) -> io::Result<Option<Parsed>> {
    let Some(first) = skip_blank(lines)? else {
        return Ok(None);
    };
    let mut draft = Draft::new(first, *lines.bounds());
    lines.unread();
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Text(b"") => break,
            Line::Text(text) => draft.add(text),
            Line::Long(mut line) => draft.add_long(&mut line)?,
        }
    }
    Ok(Some(draft.finish()))
}

/// Reads up to the first line that is not blank; its number, or `None` at the end.
fn skip_blank(lines: &mut Lines) -> io::Result<Option<u64>> {
    while let Some(line) = lines.next_line()? {
        if !line.start().is_empty() {
            return Ok(Some(lines.number()));
        }
    }
    Ok(None)
}

/// A record while its lines come in.
struct Draft {
    line: u64,
    count: u64,
    bounds: Bounds,
    value: Vec<u8>,
    key: [Option<Vec<u8>>; KEY_FIELDS.len()],
    twice: Option<(u64, &'static str)>,
    /// Why it is too long.
    too_long: Option<&'static str>,
}

impl Draft {
    fn new(line: u64, bounds: Bounds) -> Draft {
        Draft {
            line,
            count: 0,
            bounds,
            value: Vec::new(),
            key: [const { None }; KEY_FIELDS.len()],
            twice: None,
            too_long: None,
        }
    }

    fn add(&mut self, line: &[u8]) {
        self.count += 1;
        self.add_piece(line, true);
        for (place, field) in self.key.iter_mut().zip(KEY_FIELDS) {
            let text = line
                .strip_prefix(field.as_bytes())
                .and_then(|rest| rest.strip_prefix(b":"));
            if let Some(text) = text {
                let text = text.trim_ascii();
                if text.len() > self.bounds.key {
                    self.too_long = Some(KEY_IS_LONG);
                    return;
                }
                let earlier = place.replace(text.to_vec());
                if earlier.is_some() && self.twice.is_none() {
                    self.twice = Some((self.line + self.count - 1, field));
                }
            }
        }
    }

    /// A line of more than a piece is no part of a key.
    fn add_long(&mut self, line: &mut LongLine<'_>) -> io::Result<()> {
        self.count += 1;
        let mut is_first = true;
        while let Some(piece) = line.next_piece()? {
            if is_first
                && KEY_FIELDS
                    .iter()
                    .any(|field| piece.starts_with(field.as_bytes()))
            {
                self.too_long = Some(KEY_IS_LONG);
            }
            self.add_piece(piece, is_first);
            if self.too_long.is_some() {
                break;
            }
            is_first = false;
        }
        Ok(())
    }

    /// Lengthens the value, up to what a value may have; then it needs no memory any more.
    fn add_piece(&mut self, piece: &[u8], is_first: bool) {
        if self.value.len() + piece.len() >= self.bounds.value {
            self.too_long = Some("the record is too long: a value has 1 GiB at most");
        }
        if self.too_long.is_some() {
            self.value = Vec::new();
            return;
        }
        if is_first && self.count > 1 {
            self.value.push(b'\n');
        }
        self.value.extend_from_slice(piece);
    }

    fn finish(self) -> Parsed {
        if let Some(reason) = self.too_long {
            return malformed(self.line, reason);
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
