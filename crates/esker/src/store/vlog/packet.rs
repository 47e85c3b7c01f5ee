//! Values that are written together: neighbours in a segment, brought there at once.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::writer::{NewValue, VlogWriter};

/// Bytes of a packet: with 4 MiB the seek of a disk that has to is lost in the time that the bytes
/// take.
pub const PACKET_BYTES: u64 = 4 << 20;

/// Values of a packet: each is two pieces of memory, and Linux takes 1024 at a time.
pub const PACKET_VALUES: usize = 256;

/// A packet being filled, for the records that end at one place of a segment and go on behind it.
pub struct Packet {
    start: u64,
    end: u64,
    /// Heads and keys, one record's behind the other's, and where each ends.
    heads: Vec<u8>,
    head_ends: Vec<usize>,
    values: Vec<Bytes>,
}

/// A value for a packet.
pub struct PackedValue<'a> {
    /// Whose it is.
    pub keyspace: KeyspaceId,
    /// The user's key.
    pub key: &'a [u8],
    /// The user's value.
    pub value: Bytes,
    /// CRC32C of the value.
    pub crc: u32,
}

impl PackedValue<'_> {
    /// Bytes of its record.
    pub fn record_bytes(&self) -> u64 {
        self.as_new().record_bytes()
    }

    fn as_new(&self) -> NewValue<'_> {
        NewValue {
            keyspace: self.keyspace,
            key: self.key,
            value: &self.value,
        }
    }
}

impl Packet {
    /// An empty packet for a segment, from `start` on.
    pub fn at(start: u64) -> Packet {
        Packet {
            start,
            end: start,
            heads: Vec::new(),
            head_ends: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a value; says where in the segment of `writer` it will lie.
    pub fn add(&mut self, writer: &VlogWriter, packed: PackedValue<'_>) -> ValuePointer {
        let (head, pointer) = writer.place(self.end, &packed.as_new(), packed.crc);
        self.end += packed.record_bytes();
        self.heads.extend_from_slice(&head);
        self.heads.extend_from_slice(packed.key);
        self.head_ends.push(self.heads.len());
        self.values.push(packed.value);
        pointer
    }

    /// Where the record behind its last one begins.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether it is as large as one should be.
    pub fn is_full(&self) -> bool {
        self.end - self.start >= PACKET_BYTES || self.values.len() >= PACKET_VALUES
    }

    /// Writes the packet to its segment, all at once, and begins the next one behind it. An error
    /// means that any part may be missing.
    pub fn write(&mut self, writer: &VlogWriter) -> Result<()> {
        let mut pieces: Vec<&[u8]> = Vec::with_capacity(2 * self.values.len());
        let mut head_start = 0;
        for (head_end, value) in self.head_ends.iter().zip(&self.values) {
            pieces.push(&self.heads[head_start..*head_end]);
            pieces.push(value);
            head_start = *head_end;
        }
        if !pieces.is_empty() {
            writer.file().write_at(self.start, &pieces)?;
        }
        *self = Packet::at(self.end);
        Ok(())
    }
}
