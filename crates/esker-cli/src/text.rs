//! Bytes as text and back: as they are, escaped on one line, in hex, in base64.

use std::borrow::Cow;

/// How keys or values are spelled on the command line and in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// As they are; where one line must hold them, escaped as `dump` does.
    #[default]
    Text,
    /// Two hex digits a byte.
    Hex,
    /// Base64 with padding (RFC 4648).
    Base64,
}

impl Format {
    /// The bytes that a value on the command line or a text in JSON spells. Text is taken
    /// literally, without escapes.
    pub fn parse(self, word: &str) -> Result<Vec<u8>, String> {
        match self {
            Format::Text => Ok(word.as_bytes().to_vec()),
            Format::Hex => parse_hex(word.as_bytes()),
            Format::Base64 => parse_base64(word.as_bytes()),
        }
    }

    /// The bytes that a key on the command line or a field of a line spells. Text is escaped, as
    /// [`Format::show_field`] does.
    pub fn parse_field(self, field: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Format::Text => unescape(field),
            Format::Hex => parse_hex(field),
            Format::Base64 => parse_base64(field),
        }
    }

    /// The bytes on one line, without tabs. Text is escaped.
    pub fn show_field(self, bytes: &[u8]) -> String {
        match self {
            Format::Text => escape(bytes),
            Format::Hex => show_hex(bytes),
            Format::Base64 => show_base64(bytes),
        }
    }
}

/// Text on one line: `\\`, `\t`, `\n`, `\r` for these four, `\xNN` for the bytes of other
/// characters that a terminal obeys and for bytes that are not UTF-8; everything else as it is.
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\\' => text.push_str("\\\\"),
                char if is_unruly(char) => push_unruly(&mut text, char),
                char => text.push(char),
            }
        }
        for byte in chunk.invalid() {
            push_byte(&mut text, u32::from(*byte));
        }
    }
    text
}

/// Text for people: what a terminal would obey instead of showing it is escaped, but for line
/// feeds and tabs. Backslashes stay single, so this is no spelling that is read back.
pub fn tame(text: &str) -> Cow<'_, str> {
    let is_wild = |char: char| is_unruly(char) && !matches!(char, '\n' | '\t');
    if !text.contains(is_wild) {
        return Cow::Borrowed(text);
    }
    let mut tamed = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match is_wild(char) {
            true => push_unruly(&mut tamed, char),
            false => tamed.push(char),
        }
    }
    Cow::Owned(tamed)
}

/// JSON that means the same, without characters that a terminal would obey.
pub fn tame_json(json: String) -> String {
    // Outside of strings JSON is ASCII, and inside it has escaped the controls up to here.
    if json.bytes().all(|byte| byte < 0x7f) {
        return json;
    }
    let mut tamed = String::with_capacity(json.len());
    for char in json.chars() {
        match char >= '\x7f' && is_unruly(char) {
            true => tamed.push_str(&format!("\\u{:04x}", u32::from(char))),
            false => tamed.push(char),
        }
    }
    tamed
}

/// Controls (C0, DEL, C1), separators of lines, marks that turn the direction of what stands
/// beside them, and such as nobody sees. All are in the first plane.
fn is_unruly(char: char) -> bool {
    matches!(
        char,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

fn push_unruly(text: &mut String, char: char) {
    match char {
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        _ => {
            let mut bytes = [0; 4];
            for byte in char.encode_utf8(&mut bytes).bytes() {
                push_byte(text, u32::from(byte));
            }
        }
    }
}

fn push_byte(text: &mut String, byte: u32) {
    text.push_str("\\x");
    for shift in [4, 0] {
        text.extend(char::from_digit((byte >> shift) & 15, 16));
    }
}

/// The bytes behind escaped text; the exact inverse of [`escape`].
pub fn unescape(field: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let (plain, escape) = rest.split_at(at);
        bytes.extend_from_slice(plain);
        let (byte, length) = match escape {
            [_, b'\\', ..] => (b'\\', 2),
            [_, b't', ..] => (b'\t', 2),
            [_, b'n', ..] => (b'\n', 2),
            [_, b'r', ..] => (b'\r', 2),
            [_, b'x', high, low, ..] => (hex_pair(*high, *low)?, 4),
            [_, other, ..] => {
                let shown = other.escape_ascii();
                return Err(format!(
                    "`\\{shown}` is no escape; a lone backslash is `\\\\`"
                ));
            }
            _ => return Err("a backslash ends the field; a lone backslash is `\\\\`".into()),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest);
    Ok(bytes)
}

/// Two hex digits for each byte.
pub fn show_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let chars = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
    chars.collect()
}

fn parse_hex(digits: &[u8]) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) {
        return Err("hex needs two digits for each byte".into());
    }
    let pairs = digits.chunks_exact(2);
    pairs.map(|pair| hex_pair(pair[0], pair[1])).collect()
}

fn hex_pair(high: u8, low: u8) -> Result<u8, String> {
    Ok(hex_digit(high)? << 4 | hex_digit(low)?)
}

fn hex_digit(digit: u8) -> Result<u8, String> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(format!("`{}` is no hex digit", digit.escape_ascii())),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding.
pub fn show_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place > chunk.len() {
                text.push('=');
            } else {
                let index = (group >> (18 - 6 * place)) & 63;
                text.push(char::from(BASE64[index as usize]));
            }
        }
    }
    text
}

/// The bytes behind base64. Padding may be left out; bits behind the last byte must be zero, so
/// that each string of bytes has one spelling.
pub fn parse_base64(digits: &[u8]) -> Result<Vec<u8>, String> {
    let padding = digits
        .iter()
        .rev()
        .take_while(|digit| **digit == b'=')
        .count();
    let plain = &digits[..digits.len() - padding];
    if padding > 2 || (padding > 0 && !digits.len().is_multiple_of(4)) || plain.len() % 4 == 1 {
        return Err("base64 has four characters for each three bytes".into());
    }
    let mut bytes = Vec::with_capacity(plain.len() / 4 * 3 + 2);
    for chunk in plain.chunks(4) {
        let mut group: u32 = 0;
        for place in 0..4 {
            let digit = chunk
                .get(place)
                .map_or(Ok(0), |digit| base64_digit(*digit))?;
            group = group << 6 | digit;
        }
        let [_, first, second, third] = group.to_be_bytes();
        let (whole, left) = match chunk.len() {
            2 => (&[first][..], [second, third]),
            3 => (&[first, second][..], [third, 0]),
            _ => (&[first, second, third][..], [0, 0]),
        };
        if left != [0, 0] {
            return Err("base64 ends in the middle of a byte".into());
        }
        bytes.extend_from_slice(whole);
    }
    Ok(bytes)
}

fn base64_digit(digit: u8) -> Result<u32, String> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return Err(format!("`{}` is not base64", digit.escape_ascii())),
    };
    Ok(u32::from(value))
}

#[cfg(test)]
mod tests;
