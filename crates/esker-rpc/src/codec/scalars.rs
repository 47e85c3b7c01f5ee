//! The types that are announced as structs and are none: no field headers, no stop byte.
//!
//! | name | bytes |
//! |---|---|
//! | blob, error_code | length in 32 bits, bytes |
//! | gpid | partition index in the upper 32 bits, table id in the lower ones |
//! | rpc_address | IPv4 address 32 bits, port 16, zeros 14, type 2: 0 none, 1 IPv4, 2 group |
//! | host_port | length in 32 bits, host name, port 16 bits, type 8 |
//!
//! All big-endian. An address of another type than 1 reads as none.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;

use bytes::Bytes;

use crate::codec::thrift::{Kind, Malformed, Reader, Wire, put_bytes};
use crate::error::{ErrorName, Status};

/// Bytes of a user: a key, a value, a pattern. Clones share them, and so may whoever has them
/// anyway: a value that is answered need not be copied out of what the engine holds.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blob(Bytes);

impl Blob {
    /// A copy of `bytes`.
    pub fn of(bytes: &[u8]) -> Blob {
        Blob(Bytes::copy_from_slice(bytes))
    }

    /// The part `range` of what `owner` has, without a copy: it is kept for as long.
    ///
    /// # Panics
    /// When the range lies outside.
    pub fn lent(owner: impl AsRef<[u8]> + Send + 'static, range: Range<usize>) -> Blob {
        Blob(Bytes::from_owner(owner).slice(range))
    }

    /// The bytes on their own; copied if they are shared.
    pub fn into_vec(self) -> Vec<u8> {
        self.0.into()
    }
}

impl std::ops::Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Blob {
        Blob(bytes.into())
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.0.escape_ascii())
    }
}

impl Wire for Blob {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.0);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Blob, Malformed> {
        reader.counted_bytes().map(Blob::of)
    }
}

/// What is written is always a name that every client knows: see [`ErrorName::sent`].
impl Wire for ErrorName {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.sent().as_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<ErrorName, Malformed> {
        let text = str::from_utf8(reader.counted_bytes()?).map_err(|_| Malformed::Text)?;
        Ok(ErrorName::of(text))
    }
}

impl Wire for Status {
    const KIND: Kind = Kind::I32;

    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Status, Malformed> {
        i32::take(reader).map(Status)
    }
}

/// Which partition of which table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gpid {
    /// Number of the table.
    pub app_id: i32,
    /// Number of the partition in it, from 0.
    pub partition_index: i32,
}

impl Wire for Gpid {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        self.partition_index.put(out);
        self.app_id.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Gpid, Malformed> {
        let partition_index = i32::take(reader)?;
        let app_id = i32::take(reader)?;
        Ok(Gpid {
            app_id,
            partition_index,
        })
    }
}

/// Where a server listens, or nowhere. The wire has addresses of IPv4 only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub Option<SocketAddrV4>);

impl Address {
    /// Nowhere.
    pub const NONE: Address = Address(None);
}

impl From<SocketAddrV4> for Address {
    fn from(address: SocketAddrV4) -> Address {
        Address(Some(address))
    }
}

impl Wire for Address {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        match self.0 {
            Some(address) => {
                out.extend_from_slice(&address.ip().octets());
                out.extend_from_slice(&address.port().to_be_bytes());
                out.extend_from_slice(&[0, 1]);
            }
            None => out.extend_from_slice(&[0; 8]),
        }
    }

    /// An address of another type, which no server sends, is as good as none.
    fn take(reader: &mut Reader<'_>) -> Result<Address, Malformed> {
        let [a, b, c, d, port @ .., kind_high, kind_low] = reader.array::<8>()?;
        if [kind_high, kind_low] != [0, 1] {
            return Ok(Address::NONE);
        }
        let ip = Ipv4Addr::new(a, b, c, d);
        Ok(Address(Some(SocketAddrV4::new(
            ip,
            u16::from_be_bytes(port),
        ))))
    }
}

/// Where a server listens, by name. No released client knows this type, and what does not know it
/// cannot skip it, so a server writes it only where it was told to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// Name of the host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// 0 invalid, 1 IPv4, 2 group.
    pub kind: u8,
}

impl Wire for HostPort {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        self.host.put(out);
        out.extend_from_slice(&self.port.to_be_bytes());
        out.push(self.kind);
    }

    fn take(reader: &mut Reader<'_>) -> Result<HostPort, Malformed> {
        let host = String::take(reader)?;
        let port = u16::from_be_bytes(reader.array()?);
        let [kind] = reader.array()?;
        Ok(HostPort { host, port, kind })
    }
}

#[cfg(test)]
mod tests;
