//! A field of a line that comes in pieces: unescaped while it is read, within a bound.
//!
//! Only what cannot be decoded yet, such as half an escape, waits for the next piece, so that
//! memory holds the field's bytes once and a piece of its spelling.

use crate::text::Format;

/// How a field is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As `dump` shows it in that format.
    Field(Format),
    /// Byte for byte.
    Plain,
}

/// Bytes of a field so far.
#[derive(Debug)]
pub struct Field {
    coding: Coding,
    /// What it is, for complaints.
    name: &'static str,
    bytes_max: usize,
    bytes: Vec<u8>,
    /// Spelled bytes that were not decoded yet.
    rest: Vec<u8>,
}

impl Field {
    /// An empty field of at most `bytes_max` bytes.
    pub fn new(name: &'static str, coding: Coding, bytes_max: usize) -> Field {
        Field {
            coding,
            name,
            bytes_max,
            bytes: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Takes what comes next of its spelling.
    pub fn add(&mut self, piece: &[u8]) -> Result<(), String> {
        let Coding::Field(format) = self.coding else {
            return self.lengthen(piece);
        };
        self.rest.extend_from_slice(piece);
        let length = whole_part(format, &self.rest);
        let length = length.map_err(|reason| format!("{}: {reason}", self.name))?;
        let part: Vec<u8> = self.rest.drain(..length).collect();
        self.decode(format, &part)
    }

    /// The bytes, at the end of the field.
    pub fn finish(mut self) -> Result<Vec<u8>, String> {
        if let Coding::Field(format) = self.coding {
            let rest = std::mem::take(&mut self.rest);
            self.decode(format, &rest)?;
        }
        Ok(self.bytes)
    }

    fn decode(&mut self, format: Format, part: &[u8]) -> Result<(), String> {
        let bytes = format.parse_field(part);
        let bytes = bytes.map_err(|reason| format!("{}: {reason}", self.name))?;
        self.lengthen(&bytes)
    }

    fn lengthen(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            let (name, max) = (self.name, self.bytes_max);
            return Err(format!(
                "the {name} is too long: a {name} has {max} bytes at most"
            ));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

/// How many of these bytes can be decoded whatever follows.
fn whole_part(format: Format, spelled: &[u8]) -> Result<usize, String> {
    match format {
        Format::Text => Ok(whole_escapes(spelled)),
        Format::Hex => Ok(spelled.len() / 2 * 2),
        // The last group is kept back: it alone may be padded or short.
        Format::Base64 => {
            let length = spelled.len().saturating_sub(1) / 4 * 4;
            match spelled[..length].contains(&b'=') {
                true => Err("base64 has padding at its end only".into()),
                false => Ok(length),
            }
        }
    }
}

fn whole_escapes(spelled: &[u8]) -> usize {
    let mut at = 0;
    while let Some(plain) = spelled[at..].iter().position(|byte| *byte == b'\\') {
        let escape = at + plain;
        let length = match spelled.get(escape + 1) {
            Some(b'x') => 4,
            _ => 2,
        };
        if spelled.len() < escape + length {
            return escape;
        }
        at = escape + length;
    }
    spelled.len()
}

#[cfg(test)]
mod tests;
