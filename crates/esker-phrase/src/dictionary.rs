//! A phrase dictionary, ready to decode.

use crate::code::{Codebook, Ranking};
use crate::decode::{Decoder, SLACK_BYTES};
use crate::error::{Error, Result};
use crate::format::{Head, Method, Parts, TEXT_BYTES_MAX};
use crate::id::DictionaryId;

/// Bytes of memory for each byte of a dictionary as stored, beside the tables that decode: its
/// parts and the codes, both unpacked.
const MEMORY_PER_STORED_BYTE: usize = 5;

/// The phrases of a family of texts and their codes. Never changes; shared behind an `Arc`.
///
/// Shape: for 64 Ki phrases about 1 MB of tables that decode, half as much that encodes, and the
/// parts they were made of, another 1.3 MB.
#[derive(Debug)]
pub struct Dictionary {
    parts: Parts,
    decoder: Decoder,
    codebook: Codebook,
    id: DictionaryId,
    stored_bytes: usize,
}

impl Dictionary {
    /// A dictionary of these parts. `Damaged` when their lengths make no codes.
    pub(crate) fn from_parts(parts: Parts) -> Result<Dictionary> {
        let bytes = parts.encode();
        Dictionary::new(parts, &bytes)
    }

    /// Reads what [`Dictionary::to_bytes`] gave.
    ///
    /// Errors: `Newer`, else `Damaged`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Dictionary> {
        // Parts have one spelling, so these are the bytes that they would be written as.
        Dictionary::new(Parts::decode(bytes)?, bytes)
    }

    fn new(parts: Parts, bytes: &[u8]) -> Result<Dictionary> {
        let ranking = Ranking::new(&parts)?;
        Ok(Dictionary {
            decoder: Decoder::new(&parts, &ranking),
            codebook: Codebook::new(&parts, &ranking),
            id: DictionaryId::of(bytes),
            stored_bytes: bytes.len(),
            parts,
        })
    }

    /// Its number: dictionaries with equal bytes have the same.
    pub fn id(&self) -> DictionaryId {
        self.id
    }

    /// Bytes of memory that it takes, roughly.
    pub fn memory_bytes(&self) -> usize {
        self.decoder.size_bytes() + self.stored_bytes * MEMORY_PER_STORED_BYTE
    }

    /// The bytes of the dictionary: about 6 for each phrase. The same parts give the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parts.encode()
    }

    /// Decodes a record into `out`, whose bytes and length no longer matter.
    ///
    /// Shape: `payload` is exactly what [`Encoder::encode`] appended; `raw_len_max` is the most
    /// bytes that the text may have: its length where the caller knows it. The time is linear in
    /// that, and so is the memory taken, whatever the bytes are.
    ///
    /// Errors: `Damaged` when the payload is no record of this dictionary, or is longer; `out`
    /// then holds nothing of use. Bytes that were damaged may well be another record: whoever
    /// stores records keeps checksums of them.
    ///
    /// [`Encoder::encode`]: crate::encoder::Encoder::encode
    #[inline]
    pub fn decode(&self, payload: &[u8], raw_len_max: usize, out: &mut Vec<u8>) -> Result<()> {
        let (head, body) = Head::split(payload)?;
        let raw_len = head.raw_len;
        if raw_len > raw_len_max {
            return Err(too_long(raw_len, raw_len_max));
        }
        let is_decoded = match head.method {
            Method::Raw => {
                out.clear();
                out.extend_from_slice(body);
                body.len() == raw_len
            }
            Method::Phrases if raw_len > TEXT_BYTES_MAX => false,
            Method::Phrases => {
                // Only what is new is zeroed, which is nothing where `out` is used again.
                out.resize(out.len().max(raw_len + SLACK_BYTES), 0);
                let is_decoded = self.decoder.decode(body, &mut out[..raw_len + SLACK_BYTES]);
                out.truncate(raw_len);
                is_decoded.is_some()
            }
        };
        if is_decoded {
            return Ok(());
        }
        Err(Error::damaged("a record is none of its phrase dictionary"))
    }

    /// How many phrases it has.
    pub fn phrase_count(&self) -> usize {
        self.parts.count()
    }

    /// How many classes its phrases are in.
    pub fn class_count(&self) -> usize {
        self.parts.class_count
    }

    /// What the dictionary is made of.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The codes.
    pub(crate) fn codebook(&self) -> &Codebook {
        &self.codebook
    }

    #[cfg(test)]
    /// The tables that decode.
    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }
}

#[cold]
fn too_long(raw_len: usize, raw_len_max: usize) -> Error {
    Error::damaged(format!(
        "a record says that it has {raw_len} bytes, where {raw_len_max} is the most"
    ))
}

#[cfg(test)]
mod tests;
