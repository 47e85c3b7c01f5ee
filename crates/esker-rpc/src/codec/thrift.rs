//! The thrift binary encoding, as far as the wire uses it, within bounds.
//!
//! A struct is a sequence of fields, each a byte for its kind, an id of 16 bits and a value, ended
//! by a byte 0. Integers are big-endian. A string is its length in 32 bits and its bytes; a list
//! the kind of its elements, their count and the elements; a map two kinds, a count and pairs.
//!
//! Some types are announced with the kind of a struct and have no fields (`scalars`), so a value of
//! that kind that nobody expects cannot be skipped: where it ends is not to be seen. A message that
//! has one is malformed. All other unknown fields are skipped.

use std::collections::BTreeMap;
use std::fmt;

/// Deepest nesting of structs and containers. The deepest message of the wire has five.
pub const DEPTH_MAX: usize = 16;

/// Memory that decoding may take for each byte of a message. An empty string takes 4 bytes and
/// becomes a vector of 24; the costliest element that clients send, a key and a value with all
/// their fields, becomes 56 of 15. More than twelvefold is only what nobody means.
pub const MEMORY_PER_BYTE_MAX: usize = 16;

/// Memory that decoding any message may take besides.
pub const MEMORY_BASE: usize = 4096;

/// Ends a struct.
const STOP: u8 = 0;

/// How a value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are thrift's own")]
pub enum Kind {
    Bool = 2,
    Byte = 3,
    Double = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    Text = 11,
    Struct = 12,
    Map = 13,
    Set = 14,
    List = 15,
}

impl Kind {
    fn of(byte: u8) -> Result<Kind, Malformed> {
        Ok(match byte {
            2 => Kind::Bool,
            3 => Kind::Byte,
            4 => Kind::Double,
            6 => Kind::I16,
            8 => Kind::I32,
            10 => Kind::I64,
            11 => Kind::Text,
            12 => Kind::Struct,
            13 => Kind::Map,
            14 => Kind::Set,
            15 => Kind::List,
            _ => return Err(Malformed::Kind(byte)),
        })
    }

    /// Fewest bytes of a value.
    fn len_min(self) -> usize {
        match self {
            Kind::Bool | Kind::Byte | Kind::Struct => 1,
            Kind::I16 => 2,
            Kind::I32 | Kind::Text => 4,
            Kind::Double | Kind::I64 => 8,
            Kind::Set | Kind::List => 5,
            Kind::Map => 6,
        }
    }
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They end inside a value.
    Ends,
    /// A length or a count is negative, or more than the bytes that are left.
    Length(i32),
    /// No kind of value has that byte.
    Kind(u8),
    /// The value of that field, or of an element in it, has another kind than it must have.
    Mismatch(Kind),
    /// A field that nobody knows holds what cannot be skipped.
    Unskippable(i16),
    /// Nested deeper than [`DEPTH_MAX`].
    Depth,
    /// Decoding would take more memory than a message of that length may.
    Memory,
    /// A string is not UTF-8.
    Text,
    /// Bytes follow behind the end.
    Trailing(usize),
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Ends => formatter.write_str("the message ends inside a value"),
            Malformed::Length(length) => write!(formatter, "a length of {length} does not fit"),
            Malformed::Kind(byte) => write!(formatter, "no kind of value has the byte {byte}"),
            Malformed::Mismatch(kind) => write!(formatter, "a {kind:?} stands for another kind"),
            Malformed::Unskippable(id) => write!(formatter, "field {id} is unknown and a struct"),
            Malformed::Depth => write!(formatter, "nested deeper than {DEPTH_MAX}"),
            Malformed::Memory => formatter.write_str("too many elements for so few bytes"),
            Malformed::Text => formatter.write_str("a string is not UTF-8"),
            Malformed::Trailing(count) => write!(formatter, "{count} bytes behind the end"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Reads values from the bytes of one message.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
    memory: usize,
}

impl<'a> Reader<'a> {
    /// Reads `message`.
    pub fn new(message: &'a [u8]) -> Reader<'a> {
        Reader {
            rest: message,
            depth: 0,
            memory: MEMORY_BASE + message.len().saturating_mul(MEMORY_PER_BYTE_MAX),
        }
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Malformed::Ends)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed::Ends)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A length and so many bytes.
    pub fn counted_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.count(1)?;
        self.charge(len)?;
        self.bytes(len)
    }

    /// Ends the message: nothing may follow.
    pub fn end(self) -> Result<(), Malformed> {
        match self.rest {
            [] => Ok(()),
            rest => Err(Malformed::Trailing(rest.len())),
        }
    }

    /// The header of the next field, `None` at the end of the struct.
    pub fn field(&mut self) -> Result<Option<(Kind, i16)>, Malformed> {
        let [kind] = self.array()?;
        if kind == STOP {
            return Ok(None);
        }
        Ok(Some((Kind::of(kind)?, i16::from_be_bytes(self.array()?))))
    }

    /// A value that was announced with `kind`.
    pub fn value<T: Wire>(&mut self, kind: Kind) -> Result<T, Malformed> {
        if kind != T::KIND {
            return Err(Malformed::Mismatch(kind));
        }
        T::take(self)
    }

    /// Runs `read` one level deeper.
    pub fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        if self.depth == DEPTH_MAX {
            return Err(Malformed::Depth);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Steps over the value of field `id`, which nobody knows.
    pub fn skip_field(&mut self, kind: Kind, id: i16) -> Result<(), Malformed> {
        match self.skip(kind) {
            Err(Malformed::Unskippable(_)) => Err(Malformed::Unskippable(id)),
            result => result,
        }
    }

    fn skip(&mut self, kind: Kind) -> Result<(), Malformed> {
        match kind {
            Kind::Struct => Err(Malformed::Unskippable(0)),
            Kind::Text => self.counted_bytes().map(drop),
            Kind::List | Kind::Set => {
                let element = Kind::of(self.array::<1>()?[0]);
                let count = self.count(element.map_or(0, Kind::len_min))?;
                self.skip_elements(count, &[element])
            }
            Kind::Map => {
                let [key, value] = self.array()?;
                let kinds = [Kind::of(key), Kind::of(value)];
                let count =
                    self.count(kinds.iter().map(|kind| kind.map_or(0, Kind::len_min)).sum())?;
                self.skip_elements(count, &kinds)
            }
            fixed => self.bytes(fixed.len_min()).map(drop),
        }
    }

    fn skip_elements(
        &mut self,
        count: usize,
        kinds: &[Result<Kind, Malformed>],
    ) -> Result<(), Malformed> {
        self.nested(|reader| {
            for _ in 0..count {
                for kind in kinds {
                    reader.skip((*kind)?)?;
                }
            }
            Ok(())
        })
    }

    /// A count of things that have `len_min` bytes at least: no more than there are bytes for.
    fn count(&mut self, len_min: usize) -> Result<usize, Malformed> {
        let count = i32::from_be_bytes(self.array()?);
        let room = self.rest.len() / len_min.max(1);
        match usize::try_from(count) {
            Ok(fits) if fits <= room => Ok(fits),
            _ => Err(Malformed::Length(count)),
        }
    }

    /// The count of elements that are encoded as `T`, once there is memory for so many.
    fn elements<T>(&mut self, len_min: usize) -> Result<usize, Malformed> {
        let count = self.count(len_min)?;
        self.charge(count.saturating_mul(size_of::<T>()))?;
        Ok(count)
    }

    /// Takes `needed` bytes of the memory that decoding may take.
    fn charge(&mut self, needed: usize) -> Result<(), Malformed> {
        self.memory = self.memory.checked_sub(needed).ok_or(Malformed::Memory)?;
        Ok(())
    }
}

/// A type that travels.
///
/// A field that a message leaves out has the default of its type.
pub trait Wire: Sized + Default {
    /// How it is announced.
    const KIND: Kind;

    /// False if its field is left out.
    fn is_present(&self) -> bool {
        true
    }

    /// Appends it to `out`.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes it from `reader`.
    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Appends field `id`, if it is there.
pub fn put_field<T: Wire>(out: &mut Vec<u8>, id: i16, value: &T) {
    if value.is_present() {
        out.push(T::KIND as u8);
        out.extend_from_slice(&id.to_be_bytes());
        value.put(out);
    }
}

/// Ends a struct.
pub fn put_stop(out: &mut Vec<u8>) {
    out.push(STOP);
}

/// Appends a length or a count. Frames are bounded far below what 31 bits can say.
pub fn put_count(out: &mut Vec<u8>, count: usize) {
    let count = i32::try_from(count).expect("a message is far below two gigabytes");
    out.extend_from_slice(&count.to_be_bytes());
}

/// Appends a length and the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

impl Wire for bool {
    const KIND: Kind = Kind::Bool;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(reader: &mut Reader<'_>) -> Result<bool, Malformed> {
        let [byte] = reader.array()?;
        Ok(byte != 0)
    }
}

impl Wire for i32 {
    const KIND: Kind = Kind::I32;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(reader.array()?))
    }
}

impl Wire for i64 {
    const KIND: Kind = Kind::I64;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(reader.array()?))
    }
}

impl Wire for String {
    const KIND: Kind = Kind::Text;

    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<String, Malformed> {
        let bytes = reader.counted_bytes()?;
        let text = str::from_utf8(bytes).map_err(|_| Malformed::Text)?;
        Ok(text.to_owned())
    }
}

/// A field that may be left out.
impl<T: Wire> Wire for Option<T> {
    const KIND: Kind = T::KIND;

    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn put(&self, out: &mut Vec<u8>) {
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Option<T>, Malformed> {
        T::take(reader).map(Some)
    }
}

impl<T: Wire> Wire for Vec<T> {
    const KIND: Kind = Kind::List;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(T::KIND as u8);
        put_count(out, self.len());
        self.iter().for_each(|element| element.put(out));
    }

    fn take(reader: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
        let [kind] = reader.array()?;
        let count = reader.elements::<T>(T::KIND.len_min())?;
        // Some write any kind for a list of nothing.
        if count > 0 && kind != T::KIND as u8 {
            return Err(Malformed::Mismatch(Kind::of(kind)?));
        }
        reader.nested(|reader| {
            let mut list = Vec::with_capacity(count);
            for _ in 0..count {
                list.push(T::take(reader)?);
            }
            Ok(list)
        })
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    const KIND: Kind = Kind::Map;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[K::KIND as u8, V::KIND as u8]);
        put_count(out, self.len());
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<BTreeMap<K, V>, Malformed> {
        let kinds: [u8; 2] = reader.array()?;
        let count = reader.count(K::KIND.len_min() + V::KIND.len_min())?;
        // The first node has room for eleven pairs, and later ones may be half empty.
        let pairs = if count == 0 { 0 } else { 12 + count * 3 };
        reader.charge(pairs.saturating_mul(size_of::<(K, V)>()))?;
        if count > 0 && kinds != [K::KIND as u8, V::KIND as u8] {
            return Err(Malformed::Mismatch(Kind::of(kinds[0])?));
        }
        reader.nested(|reader| {
            let mut map = BTreeMap::new();
            for _ in 0..count {
                let key = K::take(reader)?;
                map.insert(key, V::take(reader)?);
            }
            Ok(map)
        })
    }
}

#[cfg(test)]
mod tests;
