//! As much of protocol buffers as calls of others' servers need: fields by their numbers.

/// The kind of a field that is a number.
const NUMBER: u64 = 0;

/// The kind of a field whose length stands in front.
const BYTES: u64 = 2;

/// Appends a field of bytes.
pub fn bytes_field(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_number(out, field << 3 | BYTES);
    put_number(out, bytes.len() as u64);
    out.extend(bytes);
}

/// The first field of bytes with that number; `None` also of what is no message.
pub fn field_bytes(message: &[u8], field: u64) -> Option<&[u8]> {
    find(message, field << 3 | BYTES).map(|(_, bytes)| bytes)
}

/// The first field that is a number with that number.
pub fn field_number(message: &[u8], field: u64) -> Option<u64> {
    find(message, field << 3 | NUMBER).map(|(number, _)| number)
}

fn find(mut message: &[u8], wanted: u64) -> Option<(u64, &[u8])> {
    while !message.is_empty() {
        let tag = take_number(&mut message)?;
        let (number, bytes) = match tag & 7 {
            NUMBER => (take_number(&mut message)?, &[][..]),
            kind => {
                let len = match kind {
                    BYTES => take_number(&mut message)?,
                    1 => 8,
                    5 => 4,
                    _ => return None,
                };
                let len = usize::try_from(len).ok()?;
                let (bytes, rest) = message.split_at_checked(len)?;
                message = rest;
                (0, bytes)
            }
        };
        if tag == wanted {
            return Some((number, bytes));
        }
    }
    None
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        // The lower seven bits, and that more follow.
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
