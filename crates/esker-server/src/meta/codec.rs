//! Rows, commands, reports and directives as bytes: each field behind the one before it.
//!
//! Integers are little-endian. A text and a list have their count (u32) in front, an optional
//! field a byte (0 none, 1 it follows), a choice its number (u8); an address its kind (4 or 6), its
//! octets and its port (u16). Maps have their keys in rising order. So a value has one way to be
//! written only, and bytes that are read are the bytes that it would write.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

use esker_raft::codec::{DecodeError, Put, Reader, count};
use esker_raft::{Change, Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::limits::TEXT_BYTES_MAX;

/// A field: a part of a row or of a message.
pub trait Field: Sized {
    /// Bytes that every value of it takes at the least: what bounds the length of a list.
    const BYTES_MIN: usize;

    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// The next one.
    fn take(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// The bytes of `value` behind the number of its layout.
pub fn encode(version: u8, value: &impl Field) -> Vec<u8> {
    let mut out = vec![version];
    value.put(&mut out);
    out
}

/// The value that `bytes` are, all of them.
///
/// Errors: another layout than `version`, too many bytes, or bytes of no such value.
pub fn decode<T: Field>(version: u8, bytes: &[u8], bytes_max: usize) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    if bytes.len() > bytes_max {
        return Err(reader.refuse("message of a bounded length"));
    }
    if reader.u8("number of a layout")? != version {
        return Err(Reader::new(bytes).refuse("number of a layout that this version knows"));
    }
    let value = T::take(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// A struct whose fields are written in their order.
macro_rules! fields {
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::meta::codec::Field for $name {
            const BYTES_MIN: usize = 0 $(+ <$type as $crate::meta::codec::Field>::BYTES_MIN)*;

            fn put(&self, out: &mut Vec<u8>) {
                $($crate::meta::codec::Field::put(&self.$field, out);)*
            }

            fn take(
                reader: &mut esker_raft::codec::Reader<'_>,
            ) -> Result<$name, esker_raft::codec::DecodeError> {
                Ok($name { $($field: $crate::meta::codec::Field::take(reader)?,)* })
            }
        }
    };
}

/// An enumeration whose choices have numbers, and fields in their order.
macro_rules! choices {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$choice_doc:meta])* $number:literal => $choice:ident
            $({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$choice_doc])* $choice $({ $($(#[$field_doc])* $field: $type,)* })?,)*
        }

        impl $crate::meta::codec::Field for $name {
            const BYTES_MIN: usize = 1;

            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$choice $({ $($field,)* })? => {
                        out.push($number);
                        $($($crate::meta::codec::Field::put($field, out);)*)?
                    })*
                }
            }

            fn take(
                reader: &mut esker_raft::codec::Reader<'_>,
            ) -> Result<$name, esker_raft::codec::DecodeError> {
                const EXPECTED: &str = concat!("choice of ", stringify!($name));
                Ok(match reader.u8(EXPECTED)? {
                    $($number => $name::$choice $({
                        $($field: $crate::meta::codec::Field::take(reader)?,)*
                    })?,)*
                    _ => return Err(reader.refuse(EXPECTED)),
                })
            }
        }
    };
}

pub(crate) use {choices, fields};

impl Field for bool {
    const BYTES_MIN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u8(u8::from(*self));
    }

    fn take(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        reader.flag("yes or no")
    }
}

impl Field for u32 {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(*self);
    }

    fn take(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
        reader.u32("number")
    }
}

impl Field for u64 {
    const BYTES_MIN: usize = 8;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(*self);
    }

    fn take(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
        reader.u64("number")
    }
}

macro_rules! numbers {
    ($($name:ident)*) => {
        $(impl Field for $name {
            const BYTES_MIN: usize = 8;

            fn put(&self, out: &mut Vec<u8>) {
                out.put_u64(self.0);
            }

            fn take(reader: &mut Reader<'_>) -> Result<$name, DecodeError> {
                reader.u64(stringify!($name)).map($name)
            }
        })*
    };
}

numbers! { GroupId NodeId ReplicaId }

impl Field for String {
    const BYTES_MIN: usize = 4;

    /// Of a text above [`TEXT_BYTES_MAX`] the beginning.
    fn put(&self, out: &mut Vec<u8>) {
        let mut end = self.len().min(TEXT_BYTES_MAX);
        while !self.is_char_boundary(end) {
            end -= 1;
        }
        out.put_bytes(&self.as_bytes()[..end]);
    }

    fn take(reader: &mut Reader<'_>) -> Result<String, DecodeError> {
        let bytes = reader.bytes(TEXT_BYTES_MAX, "text")?;
        let text = str::from_utf8(bytes).map_err(|_| reader.refuse("text"))?;
        Ok(text.to_owned())
    }
}

impl<T: Field> Field for Option<T> {
    const BYTES_MIN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Option<T>, DecodeError> {
        Ok(match bool::take(reader)? {
            true => Some(T::take(reader)?),
            false => None,
        })
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    const BYTES_MIN: usize = A::BYTES_MIN + B::BYTES_MIN;

    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<(A, B), DecodeError> {
        Ok((A::take(reader)?, B::take(reader)?))
    }
}

impl<T: Field> Field for Vec<T> {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(count(self.len()));
        for value in self {
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Vec<T>, DecodeError> {
        let len = reader.count(usize::MAX, T::BYTES_MIN, "list")?;
        (0..len).map(|_| T::take(reader)).collect()
    }
}

impl<K: Field + Ord, V: Field> Field for BTreeMap<K, V> {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(count(self.len()));
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<BTreeMap<K, V>, DecodeError> {
        let len = reader.count(usize::MAX, K::BYTES_MIN + V::BYTES_MIN, "map")?;
        let mut map = BTreeMap::new();
        for _ in 0..len {
            let key = K::take(reader)?;
            if map.last_key_value().is_some_and(|last| *last.0 >= key) {
                return Err(reader.refuse("key behind the one before it"));
            }
            map.insert(key, V::take(reader)?);
        }
        Ok(map)
    }
}

impl<T: Field + Ord> Field for BTreeSet<T> {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(count(self.len()));
        for value in self {
            value.put(out);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<BTreeSet<T>, DecodeError> {
        let len = reader.count(usize::MAX, T::BYTES_MIN, "set")?;
        let mut set = BTreeSet::new();
        for _ in 0..len {
            let value = T::take(reader)?;
            if set.last().is_some_and(|last| *last >= value) {
                return Err(reader.refuse("value behind the one before it"));
            }
            set.insert(value);
        }
        Ok(set)
    }
}

impl Field for SocketAddr {
    const BYTES_MIN: usize = 7;

    fn put(&self, out: &mut Vec<u8>) {
        match self.ip() {
            IpAddr::V4(ip) => {
                out.put_u8(4);
                out.extend_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                out.put_u8(6);
                out.extend_from_slice(&ip.octets());
            }
        }
        out.extend_from_slice(&self.port().to_le_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<SocketAddr, DecodeError> {
        let ip: IpAddr = match reader.u8("kind of an address")? {
            4 => IpAddr::from(array::<4>(reader)?),
            6 => IpAddr::from(array::<16>(reader)?),
            _ => return Err(reader.refuse("kind of an address")),
        };
        let port = u16::from_le_bytes(array(reader)?);
        Ok(SocketAddr::new(ip, port))
    }
}

impl Field for SocketAddrV4 {
    const BYTES_MIN: usize = 7;

    fn put(&self, out: &mut Vec<u8>) {
        SocketAddr::V4(*self).put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<SocketAddrV4, DecodeError> {
        match SocketAddr::take(reader)? {
            SocketAddr::V4(address) => Ok(address),
            SocketAddr::V6(_) => Err(reader.refuse("address of IPv4")),
        }
    }
}

impl Field for Configuration {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        out.put_bytes(&bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Configuration, DecodeError> {
        Configuration::decode(reader.bytes(TEXT_BYTES_MAX, "configuration")?)
    }
}

impl Field for Change {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_bytes(&self.encode());
    }

    fn take(reader: &mut Reader<'_>) -> Result<Change, DecodeError> {
        Change::decode(reader.bytes(TEXT_BYTES_MAX, "change of a configuration")?)
    }
}

fn array<const LEN: usize>(reader: &mut Reader<'_>) -> Result<[u8; LEN], DecodeError> {
    let bytes = reader.take(LEN, "octets")?;
    Ok(bytes.try_into().expect("as many as were asked for"))
}

#[cfg(test)]
mod tests;
