//! Numbers that are kept as text, and what an increment makes of them.

/// The number that is all of `text`, as C's `strtoll` reads it with base 0: blanks, a sign, then
/// decimal digits, octal ones behind a 0, or hexadecimal ones behind 0x. `None` for anything else,
/// and for what 64 bits with a sign do not hold.
pub fn parse(text: &[u8]) -> Option<i64> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|byte| !is_blank(byte))?;
    let (is_negative, digits) = match &text[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', _, ..] => (8, digits),
        _ => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number: i64 = 0;
    for byte in digits {
        let digit = i64::from(char::from(*byte).to_digit(base)?);
        // Downwards from zero there is one number more.
        number = number.checked_mul(i64::from(base))?.checked_sub(digit)?;
    }
    match is_negative {
        true => Some(number),
        false => number.checked_neg(),
    }
}

/// What an increment makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incremented {
    /// The new number, to be stored as decimal text.
    To(i64),
    /// Status 4, and the old number: the sum does not fit.
    Overflow(i64),
    /// Status 4: the value is no number.
    NoNumber,
}

/// Adds `increment` to `value`. An absent, expired or empty value counts as 0.
pub fn increment(value: Option<&[u8]>, increment: i64) -> Incremented {
    let old = match value {
        None | Some([]) => Some(0),
        Some(text) => parse(text),
    };
    let Some(old) = old else {
        return Incremented::NoNumber;
    };
    match old.checked_add(increment) {
        Some(new) => Incremented::To(new),
        None => Incremented::Overflow(old),
    }
}

#[cfg(test)]
mod tests;
