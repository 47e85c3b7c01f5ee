//! One record: key's tail, expiry, packed value, checksum.

use crate::base::codec::checksum::{crc32c, crc32c_more, mask};
use crate::base::codec::compress::Compression;
use crate::base::codec::frames::FramePacker;
use crate::base::codec::reader::{ByteReader, put_prefixed};
use crate::base::codec::varint::put_varint;
use crate::base::types::entry::EXPIRY_BYTES;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::store::sst::searchable::format::{CHECK_BYTES, METHOD_BITS, Method};

/// Values shorter than this are not given to Zstd: a frame of its own has a dozen bytes of heads,
/// and in so few bytes there is hardly anything that repeats.
const ZSTD_VALUE_BYTES_MIN: usize = 64;

/// Longest value, unpacked, that a file may claim to hold: the largest a user may write, and room
/// for operands that were folded into one.
pub const VALUE_BYTES_CLAIM_MAX: usize = VALUE_BYTES_MAX + (64 << 20);

/// Longest record, in bytes: tail, expiry, lengths, a value as it is, checksum.
pub const RECORD_BYTES_MAX: usize = KEY_BYTES_MAX + VALUE_BYTES_CLAIM_MAX + 64;

const _: () = assert!(RECORD_BYTES_MAX <= u32::MAX as usize);

/// What a record is held to: the checksum covers it, and it lies elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    /// Number of the file.
    pub number: FileNumber,
    /// What of the user key is in the key page.
    pub prefix: &'a [u8],
    /// Sequence number and kind.
    pub trailer: Trailer,
}

impl Sealed<'_> {
    // The checksum over all this and the record's bytes before its checksum.
    fn checksum(&self, body: &[u8]) -> u32 {
        let crc = crc32c(&self.number.0.to_le_bytes());
        let crc = crc32c_more(crc, self.prefix);
        let crc = crc32c_more(crc, &self.trailer.raw().to_le_bytes());
        mask(crc32c_more(crc, body))
    }
}

/// A value on its way into a record.
#[derive(Debug)]
pub struct PackedValue {
    /// Expiry, if the entry's kind has one.
    expiry: Vec<u8>,
    /// Bytes of the value unpacked, without the expiry.
    plain_len: usize,
    method: Method,
    payload: Vec<u8>,
}

impl PackedValue {
    /// Bytes of the value unpacked, without the expiry.
    pub fn plain_len(&self) -> usize {
        self.plain_len
    }

    /// Bytes it takes in a record.
    pub fn stored_len(&self) -> usize {
        self.expiry.len() + self.payload.len()
    }

    /// Appends the record of this value: the tail is what of its user key `sealed` has not.
    pub fn put_record(&self, sealed: &Sealed<'_>, tail: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        put_prefixed(out, tail);
        out.extend_from_slice(&self.expiry);
        let number = (self.plain_len as u64) << METHOD_BITS | self.method as u64;
        put_varint(out, number);
        out.extend_from_slice(&self.payload);
        let checksum = sealed.checksum(&out[start..]);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
}

/// Packs values, each by itself.
#[derive(Debug)]
pub struct ValuePacker {
    frames: Option<FramePacker>,
    /// Memory of a value that was written.
    spare: Vec<u8>,
}

impl ValuePacker {
    /// A packer that gives values to Zstd at that level, or to nobody.
    pub fn new(zstd_level: Option<i32>) -> Result<ValuePacker> {
        Ok(ValuePacker {
            frames: zstd_level.map(FramePacker::new).transpose()?,
            spare: Vec::new(),
        })
    }

    /// Packs the raw value of an entry of that kind.
    ///
    /// # Panics
    /// When the kind says that there is an expiry, and there is none.
    pub fn pack(&mut self, kind: Kind, raw: &[u8]) -> Result<PackedValue> {
        let (expiry, value) = raw.split_at(if kind.is_expiring() { EXPIRY_BYTES } else { 0 });
        assert!(value.len() <= VALUE_BYTES_CLAIM_MAX);
        let mut payload = std::mem::take(&mut self.spare);
        let method = self.pack_into(kind, value, &mut payload)?;
        Ok(PackedValue {
            expiry: expiry.to_vec(),
            plain_len: value.len(),
            method,
            payload,
        })
    }

    /// Takes the memory of a value that was written.
    pub fn take_back(&mut self, value: PackedValue) {
        self.spare = value.payload;
    }

    fn pack_into(&mut self, kind: Kind, value: &[u8], payload: &mut Vec<u8>) -> Result<Method> {
        // Pointers are random bits.
        let frames = self.frames.as_mut().filter(|_| !kind.is_apart());
        if let Some(frames) = frames
            && value.len() >= ZSTD_VALUE_BYTES_MIN
            && frames.pack(value, value.len() - value.len() / 8, payload)?
        {
            return Ok(Method::Zstd);
        }
        payload.clear();
        payload.extend_from_slice(value);
        Ok(Method::Raw)
    }
}

/// A record whose checksum was right; its value is still packed.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What of the user key is not in the key page.
    pub tail: &'a [u8],
    expiry: &'a [u8],
    plain_len: usize,
    method: Method,
    payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record in `bytes`, whose value may have up to `value_bytes_max` bytes unpacked.
    /// `Corruption` when they are not that record's.
    pub fn read(
        bytes: &'a [u8],
        sealed: &Sealed<'_>,
        value_bytes_max: usize,
    ) -> Result<Record<'a>> {
        let Some((body, checksum)) = bytes.split_last_chunk::<CHECK_BYTES>() else {
            return Err(bad("it is shorter than its checksum"));
        };
        if u32::from_le_bytes(*checksum) != sealed.checksum(body) {
            return Err(bad("its checksum differs"));
        }
        let record = Record::parts(body, sealed.trailer.kind());
        let record = record.ok_or_else(|| bad("its parts do not fit together"))?;
        if sealed.prefix.len() + record.tail.len() > KEY_BYTES_MAX {
            return Err(bad("its key is too long"));
        }
        if record.plain_len > value_bytes_max {
            return Err(bad("its value is longer than the file says"));
        }
        Ok(record)
    }

    fn parts(body: &'a [u8], kind: Kind) -> Option<Record<'a>> {
        let mut reader = ByteReader::new(body);
        let tail = reader.prefixed()?;
        let expiry = reader.bytes(if kind.is_expiring() { EXPIRY_BYTES } else { 0 })?;
        let number = reader.varint()?;
        Some(Record {
            tail,
            expiry,
            plain_len: usize::try_from(number >> METHOD_BITS).ok()?,
            method: Method::from_number(number & ((1 << METHOD_BITS) - 1))?,
            payload: reader.rest(),
        })
    }

    /// Replaces what is in `raw` by the raw value of the entry. `Corruption` when it does not
    /// unpack to what it should.
    pub fn unpack_into(&self, raw: &mut Vec<u8>) -> Result<()> {
        match self.method {
            Method::Raw => {
                if self.payload.len() != self.plain_len {
                    return Err(bad("its value is not as long as it says"));
                }
                raw.clear();
                raw.extend_from_slice(self.expiry);
                raw.extend_from_slice(self.payload);
            }
            Method::Phrases => return Err(bad("it needs a dictionary, and the file has none")),
            Method::Zstd => {
                Compression::Zstd.unpack_into(self.payload, self.plain_len, raw)?;
                raw.splice(..0, self.expiry.iter().copied());
            }
        }
        Ok(())
    }

    /// How its value is packed.
    pub fn method(&self) -> Method {
        self.method
    }
}

#[cold]
fn bad(why: &str) -> Error {
    Error::corruption(format!("record is damaged: {why}"))
}

#[cfg(test)]
mod tests;
