//! A line of JSON that comes in pieces: its long strings are unescaped while they are read.
//!
//! What remains when they are taken out is short, and is parsed as any other line. A mark stands
//! where each was: a string that begins with NUL, as no other does here, because those that do are
//! taken out too, however short.

use serde_json::{Map, Value};

/// A string that begins with NUL is spelled so and in no other way.
const NUL: &[u8] = br#""\u0000"#;

/// What becomes of long strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongStrings {
    /// They are kept, as long as all together have no more bytes than this.
    Kept(usize),
    /// They are checked, and forgotten.
    Forgotten,
}

/// A line so far.
#[derive(Debug)]
pub struct LongJson {
    wish: LongStrings,
    /// Spelled bytes from which a string is a long one.
    long: usize,
    /// The line without its long strings.
    short: Vec<u8>,
    place: Place,
    /// Of the present string, with its quotation mark, what was not unescaped yet.
    rest: Vec<u8>,
    /// The present string, where it is a long one.
    string: Option<Vec<u8>>,
    /// Long strings in their order, but for those that were forgotten.
    strings: Vec<Option<String>>,
    kept_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    InString,
    /// Behind a backslash in a string.
    Escaped,
}

impl LongJson {
    /// The start of a line. Strings of `long` bytes, as they are spelled, and more are long ones;
    /// beside them the line may have `2 * long` bytes.
    pub fn new(long: usize, wish: LongStrings) -> LongJson {
        LongJson {
            wish,
            long,
            short: Vec::new(),
            place: Place::Outside,
            rest: Vec::new(),
            string: None,
            strings: Vec::new(),
            kept_bytes: 0,
        }
    }

    /// Takes the next piece of the line.
    pub fn add(&mut self, mut piece: &[u8]) -> Result<(), String> {
        while !piece.is_empty() {
            let used = match self.place {
                Place::Outside => self.add_outside(piece)?,
                Place::InString => self.add_string(piece)?,
                Place::Escaped => {
                    self.rest.push(piece[0]);
                    self.place = Place::InString;
                    1
                }
            };
            piece = &piece[used..];
        }
        Ok(())
    }

    /// The object, at the end of the line. Of long strings that were forgotten marks are left.
    pub fn finish(self) -> Result<Map<String, Value>, String> {
        if self.place != Place::Outside {
            return Err("no JSON object: the line ends in a string".into());
        }
        let mut object: Map<String, Value> = serde_json::from_slice(&self.short)
            .map_err(|error| format!("no JSON object: {error}"))?;
        let mut strings = self.strings;
        let mut put_back = |value: &mut Value| {
            if let Some(index) = marked(value)
                && let Some(string) = strings.get_mut(index).and_then(Option::take)
            {
                *value = Value::String(string);
            }
        };
        for value in object.values_mut() {
            match value {
                // Bytes that are no text: `{"base64": …}`.
                Value::Object(fields) => fields.values_mut().for_each(&mut put_back),
                _ => put_back(value),
            }
        }
        Ok(object)
    }

    fn add_outside(&mut self, piece: &[u8]) -> Result<usize, String> {
        let mark = piece.iter().position(|byte| *byte == b'"');
        let plain = &piece[..mark.unwrap_or(piece.len())];
        self.lengthen(plain)?;
        if mark.is_some() {
            self.place = Place::InString;
            self.rest.push(b'"');
        }
        Ok(plain.len() + usize::from(mark.is_some()))
    }

    fn add_string(&mut self, piece: &[u8]) -> Result<usize, String> {
        let end = piece.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        let plain = &piece[..end.unwrap_or(piece.len())];
        self.rest.extend_from_slice(plain);
        if self.rest.len() >= self.long {
            self.unescape(whole_part(&self.rest), self.wish)?;
        }
        match end.map(|end| piece[end]) {
            None => {}
            Some(b'"') => self.end_string()?,
            Some(backslash) => {
                self.rest.push(backslash);
                self.place = Place::Escaped;
            }
        }
        Ok(plain.len() + usize::from(end.is_some()))
    }

    fn end_string(&mut self) -> Result<(), String> {
        self.place = Place::Outside;
        if self.string.is_none() && !self.rest.starts_with(NUL) {
            self.rest.push(b'"');
            let rest = std::mem::take(&mut self.rest);
            return self.lengthen(&rest);
        }
        let wish = match self.wish {
            // Short, and here only because of its NUL.
            LongStrings::Forgotten if self.string.is_none() => LongStrings::Kept(usize::MAX),
            wish => wish,
        };
        self.unescape(self.rest.len(), wish)?;
        self.rest.clear();
        let string = String::from_utf8(self.string.take().unwrap_or_default());
        let string = string.map_err(|_| "no JSON object: a string is not UTF-8")?;
        let mark = format!("\"\\u0000{}\"", self.strings.len());
        self.lengthen(mark.as_bytes())?;
        let is_kept = wish != LongStrings::Forgotten;
        self.strings.push(is_kept.then_some(string));
        Ok(())
    }

    /// Moves the first `length` bytes of the rest, its mark among them, into the string.
    fn unescape(&mut self, length: usize, wish: LongStrings) -> Result<(), String> {
        let mut part: Vec<u8> = self.rest.drain(..length).collect();
        self.rest.insert(0, b'"');
        part.push(b'"');
        let text: String =
            serde_json::from_slice(&part).map_err(|error| format!("no JSON object: {error}"))?;
        let string = self.string.get_or_insert_default();
        if let LongStrings::Kept(bytes_max) = wish {
            self.kept_bytes += text.len();
            if self.kept_bytes > bytes_max {
                return Err(format!(
                    "the line is too long: its texts have more than {bytes_max} bytes, and so \
                     more than key and value can have"
                ));
            }
            string.extend_from_slice(text.as_bytes());
        }
        Ok(())
    }

    fn lengthen(&mut self, plain: &[u8]) -> Result<(), String> {
        if self.short.len() + plain.len() > 2 * self.long {
            return Err("the line is too long: it has more than an entry has".into());
        }
        self.short.extend_from_slice(plain);
        Ok(())
    }
}

/// The index of the long string whose mark this is.
pub fn marked(value: &Value) -> Option<usize> {
    value.as_str()?.strip_prefix('\0')?.parse().ok()
}

/// How many bytes of a string can be unescaped whatever follows: no escape, no pair of them that
/// means one character, and no character is cut.
fn whole_part(spelled: &[u8]) -> usize {
    let mut at = 0;
    while let Some(plain) = spelled[at..].iter().position(|byte| *byte == b'\\') {
        let escape = at + plain;
        let length = match spelled.get(escape + 1..) {
            // The first half of a pair, which is one character together with the second.
            Some(
                [
                    b'u',
                    b'd' | b'D',
                    b'8' | b'9' | b'a' | b'A' | b'b' | b'B',
                    ..,
                ],
            ) => 12,
            Some([b'u', _, _, ..]) => 6,
            // Too short to tell.
            Some([b'u', ..]) => 12,
            _ => 2,
        };
        if spelled.len() < escape + length {
            return escape;
        }
        at = escape + length;
    }
    match std::str::from_utf8(&spelled[at..]) {
        Err(error) if error.error_len().is_none() => at + error.valid_up_to(),
        _ => spelled.len(),
    }
}

#[cfg(test)]
mod tests;
