//! A record as one value, in the layout of YCSB's RocksDB binding, and what fields are filled with.
//!
//! For each field, one after another, numbers big-endian:
//!
//! | bytes | type | meaning |
//! |---|---|---|
//! | 4 | i32 | length of the name, n |
//! | n | bytes | the name |
//! | 4 | i32 | length of the value, v |
//! | v | bytes | the value |
//!
//! Valid if and only if the lengths are not negative and the last value ends with the record.

use crate::make::random::Random;

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRecord;

/// Longest field: what the length can say.
pub const FIELD_BYTES_MAX: u64 = i32::MAX as u64;

/// Appends a field to a record.
pub fn push_field(record: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    push_length(record, name.len());
    record.extend_from_slice(name);
    push_length(record, value.len());
    record.extend_from_slice(value);
}

fn push_length(record: &mut Vec<u8>, length: usize) {
    let length = i32::try_from(length).expect("fields are shorter than 2 GiB, as the settings say");
    record.extend_from_slice(&length.to_be_bytes());
}

/// Goes through the fields of a record: name and value, in their order.
pub fn fields(record: &[u8]) -> Fields<'_> {
    Fields { left: record }
}

/// The fields of a record. After an error there is nothing more.
pub struct Fields<'a> {
    left: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(&'a [u8], &'a [u8]), NoRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        let field = self.piece().and_then(|name| Some((name, self.piece()?)));
        if field.is_none() {
            self.left = &[];
        }
        Some(field.ok_or(NoRecord))
    }
}

impl<'a> Fields<'a> {
    /// A length and so many bytes.
    fn piece(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.left.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        let (piece, rest) = rest.split_at_checked(length)?;
        self.left = rest;
        Some(piece)
    }
}

/// Writes to `updated` the fields of `current` with those of `changes` in their place; changed
/// fields that were not there follow at the end.
pub fn replace_fields(
    current: &[u8],
    changes: &[u8],
    updated: &mut Vec<u8>,
) -> Result<(), NoRecord> {
    updated.clear();
    for field in fields(current) {
        let (name, value) = field?;
        push_field(updated, name, find(changes, name)?.unwrap_or(value));
    }
    for field in fields(changes) {
        let (name, value) = field?;
        if find(current, name)?.is_none() {
            push_field(updated, name, value);
        }
    }
    Ok(())
}

/// The value of the field `name`, if the record has it.
pub fn find<'a>(record: &'a [u8], name: &[u8]) -> Result<Option<&'a [u8]>, NoRecord> {
    for field in fields(record) {
        let (found, value) = field?;
        if found == name {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Fills `value` with `length` random letters, six from each 32-bit number, as YCSB does.
///
/// The six have 5, 6, 6, 5, 6 and 6 random bits, so that a compressor finds something.
pub fn fill_random(value: &mut Vec<u8>, length: usize, random: &mut Random) {
    value.clear();
    value.reserve(length + SIX);
    while value.len() < length {
        // The upper half of the number is its better one.
        let [_, _, _, _, bytes @ ..] = random.next_u64().to_le_bytes();
        value.extend_from_slice(&six_letters(u32::from_le_bytes(bytes)));
    }
    value.truncate(length);
}

/// Letters from one number.
const SIX: usize = 6;

/// The letters that one 32-bit number stands for.
pub fn six_letters(bits: u32) -> [u8; SIX] {
    const PLACES: [(u32, u32); SIX] = [(0, 31), (5, 63), (10, 95), (15, 31), (20, 63), (25, 95)];
    PLACES.map(|(shift, mask)| {
        let letter = ((bits >> shift) & mask) as u8;
        letter + b' '
    })
}

/// Fills `value` with the one text of `length` bytes that belongs to a field of a key: both names,
/// then over and over the hash of what is there so far.
pub fn fill_determined(value: &mut Vec<u8>, key: &[u8], field: &[u8], length: usize) {
    value.clear();
    value.extend_from_slice(key);
    value.push(b':');
    value.extend_from_slice(field);
    let mut hash = continue_hash(0, value);
    while value.len() < length {
        let hashed = value.len() + 1;
        value.push(b':');
        // The colon counts: the text is hashed as it is when the number is appended.
        hash = continue_hash(hash, b":");
        value.extend_from_slice(hash.to_string().as_bytes());
        hash = continue_hash(hash, &value[hashed..]);
    }
    value.truncate(length);
}

/// Java's `String.hashCode` of text without letters beyond one byte: `31 h + letter`, wrapping;
/// from the hash of its beginning, which is 0 where there is none.
fn continue_hash(hash: i32, more: &[u8]) -> i32 {
    more.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(*byte))
    })
}

#[cfg(test)]
mod tests;
