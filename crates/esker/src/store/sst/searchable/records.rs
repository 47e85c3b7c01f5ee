//! One record: key's tail, expiry, compressed value, checksum.

use std::sync::Arc;

use esker_phrase::{Dictionary, DictionaryId, Encoder};

use crate::base::codec::checksum::{crc32c, crc32c_more, mask};
use crate::base::codec::compress::CompressionType;
use crate::base::codec::frames::FrameCompressor;
use crate::base::codec::reader::ByteReader;
use crate::base::codec::varint::put_varint;
use crate::base::types::cursor::Encoded;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::store::sst::searchable::dictionary::encoding_of;
use crate::store::sst::searchable::format::{CHECK_BYTES, METHOD_BITS, Method};
use crate::store::sst::searchable::tail::{Tail, put_tail};

/// Values shorter than this are not given to Zstd: a frame of its own has a dozen bytes of heads,
/// and in so few bytes there is hardly anything that repeats.
const ZSTD_VALUE_BYTES_MIN: usize = 64;

/// Values longer than this are given to Zstd where there is a choice: in so many bytes it finds
/// what repeats by itself, and at many times the speed.
pub const PHRASE_VALUE_BYTES_MAX: usize = 64 << 10;

/// Longest value, uncompressed, that a file may claim to hold: the largest a user may write, and
/// room for operands that were folded into one.
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
pub struct CompressedValue {
    /// Expiry, if the entry's kind has one.
    expiry: Vec<u8>,
    /// Bytes of the value uncompressed, without the expiry.
    plain_len: usize,
    method: Method,
    /// Length and method, and the value compressed.
    compressed: Vec<u8>,
}

impl CompressedValue {
    /// A put's value that is phrases of the file's dictionary already; `memory` is what
    /// [`CompressedValue::into_memory`] gave, or empty.
    pub fn of_encoded(value: &Encoded<'_>, memory: Vec<u8>) -> CompressedValue {
        let mut compressed = memory;
        compressed.clear();
        compressed.extend_from_slice(value.payload);
        CompressedValue {
            expiry: Vec::new(),
            plain_len: value.plain_len,
            method: Method::Phrases,
            compressed,
        }
    }

    /// How it is compressed.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Bytes of the value compressed, with length and method.
    pub fn compressed_len(&self) -> usize {
        self.compressed.len()
    }

    /// Its memory, for the next one.
    pub fn into_memory(self) -> Vec<u8> {
        self.compressed
    }

    /// Bytes of the value uncompressed, without the expiry.
    pub fn plain_len(&self) -> usize {
        self.plain_len
    }

    /// Bytes it takes in a record.
    pub fn stored_len(&self) -> usize {
        self.expiry.len() + self.compressed.len()
    }

    /// Appends the record of this value: the tail is what of its user key `sealed` has not.
    pub fn put_record(&self, sealed: &Sealed<'_>, tail: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        put_tail(out, tail);
        out.extend_from_slice(&self.expiry);
        out.extend_from_slice(&self.compressed);
        let checksum = sealed.checksum(&out[start..]);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
}

/// Compresses values, each by itself.
///
/// Shape: compressors made alike compress alike, so several threads can each have one.
#[derive(Debug)]
pub struct ValueCompressor {
    phrases: Option<Encoder>,
    frames: Option<FrameCompressor>,
    /// Memory of a frame, and of a value that was written.
    frame: Vec<u8>,
    spare: Vec<u8>,
    /// What was encoded as phrases, decoded again.
    back: Vec<u8>,
}

impl ValueCompressor {
    /// A compressor that gives values to this encoder of phrases, if there is one, and what it
    /// cannot compress to Zstd at that level, or to nobody.
    pub fn new(phrases: Option<Encoder>, zstd_level: Option<i32>) -> Result<ValueCompressor> {
        Ok(ValueCompressor {
            phrases,
            frames: zstd_level.map(FrameCompressor::new).transpose()?,
            frame: Vec::new(),
            spare: Vec::new(),
            back: Vec::new(),
        })
    }

    /// Compresses the raw value of an entry of that kind.
    ///
    /// # Panics
    /// When the kind says that there is an expiry, and there is none.
    pub fn compress(&mut self, kind: Kind, raw: &[u8]) -> Result<CompressedValue> {
        let (expiry, value) = raw.split_at(kind.expiry_bytes());
        assert!(value.len() <= VALUE_BYTES_CLAIM_MAX);
        let mut compressed = std::mem::take(&mut self.spare);
        compressed.clear();
        // Pointers are random bits.
        let method = if kind.is_separated() {
            Method::Raw
        } else if self.compress_as_phrases(value, &mut compressed) {
            Method::Phrases
        } else if self.compress_as_frame(value, &mut compressed)? {
            Method::Zstd
        } else {
            Method::Raw
        };
        if method == Method::Raw {
            put_number(&mut compressed, value.len(), Method::Raw);
            compressed.extend_from_slice(value);
        }
        Ok(CompressedValue {
            expiry: expiry.to_vec(),
            plain_len: value.len(),
            method,
            compressed,
        })
    }

    /// The dictionary of its encoder, if it has one.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.phrases.as_ref().map(Encoder::dictionary)
    }

    /// Memory for the next value: that of one that was written, if there is some.
    pub fn take_memory(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// Takes the memory of a value that was written.
    pub fn take_back(&mut self, value: CompressedValue) {
        self.spare = value.into_memory();
    }

    // Whether that was worth it; `compressed` is empty where not.
    fn compress_as_phrases(&mut self, value: &[u8], compressed: &mut Vec<u8>) -> bool {
        let Some(phrases) = &mut self.phrases else {
            return false;
        };
        if value.len() > PHRASE_VALUE_BYTES_MAX {
            return false;
        }
        // What it appends begins with a record's number, in the bits that a record has for it.
        phrases.encode(value, compressed);
        let Some((_, Method::Phrases)) = take_number(&mut ByteReader::new(compressed)) else {
            compressed.clear();
            return false;
        };
        // Two hundredths of the time that encoding takes, and a mistake would stay for ever.
        let decoded = phrases
            .dictionary()
            .decode(compressed, value.len(), &mut self.back);
        assert!(decoded.is_ok() && self.back == value, "phrases come back");
        true
    }

    fn compress_as_frame(&mut self, value: &[u8], compressed: &mut Vec<u8>) -> Result<bool> {
        let Some(frames) = &mut self.frames else {
            return Ok(false);
        };
        let bytes_max = value.len() - value.len() / 8;
        if value.len() < ZSTD_VALUE_BYTES_MIN
            || !frames.compress(value, bytes_max, &mut self.frame)?
        {
            return Ok(false);
        }
        put_number(compressed, value.len(), Method::Zstd);
        compressed.extend_from_slice(&self.frame);
        Ok(true)
    }
}

fn put_number(out: &mut Vec<u8>, plain_len: usize, method: Method) {
    put_varint(out, (plain_len as u64) << METHOD_BITS | method as u64);
}

fn take_number(reader: &mut ByteReader<'_>) -> Option<(usize, Method)> {
    let number = reader.varint()?;
    let method = Method::from_number(number & ((1 << METHOD_BITS) - 1))?;
    Some((usize::try_from(number >> METHOD_BITS).ok()?, method))
}

/// A record whose checksum was right; its value is still compressed.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What of the user key is not in the key page.
    pub tail: Tail<'a>,
    expiry: &'a [u8],
    plain_len: usize,
    method: Method,
    /// Length and method, and the value compressed.
    compressed: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record in `bytes`, whose value may have up to `value_bytes_max` bytes uncompressed.
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

    /// As [`Record::read`], of bytes that were read before: nothing is checked again.
    pub fn standing(bytes: &'a [u8], kind: Kind) -> Result<Record<'a>> {
        let body = bytes
            .split_last_chunk::<CHECK_BYTES>()
            .map(|(body, _)| body);
        let record = body.and_then(|body| Record::parts(body, kind));
        record.ok_or_else(|| bad("its parts do not fit together"))
    }

    /// The value as it is stored, if it is phrases of the file's dictionary and nothing else.
    pub fn encoded(&self, dictionary: DictionaryId) -> Option<Encoded<'a>> {
        let is_plain = self.method == Method::Phrases && self.expiry.is_empty();
        is_plain.then_some(Encoded {
            encoding: encoding_of(dictionary),
            plain_len: self.plain_len,
            payload: self.compressed,
        })
    }

    fn parts(body: &'a [u8], kind: Kind) -> Option<Record<'a>> {
        let mut reader = ByteReader::new(body);
        let tail = Tail::take(&mut reader)?;
        let expiry = reader.bytes(kind.expiry_bytes())?;
        let compressed = reader.rest();
        let (plain_len, method) = take_number(&mut reader)?;
        Some(Record {
            tail,
            expiry,
            plain_len,
            method,
            compressed,
            payload: reader.rest(),
        })
    }

    /// Replaces what is in `raw` by the raw value of the entry; `dictionary` is the file's.
    /// `Corruption` when it does not uncompress to what it should.
    pub fn uncompress_into(
        &self,
        dictionary: Option<&Dictionary>,
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        match (self.method, dictionary) {
            (Method::Raw, _) => {
                if self.payload.len() != self.plain_len {
                    return Err(bad("its value is not as long as it says"));
                }
                raw.clear();
                raw.extend_from_slice(self.expiry);
                raw.extend_from_slice(self.payload);
                return Ok(());
            }
            (Method::Phrases, None) => {
                return Err(bad("it needs a dictionary, and the file has none"));
            }
            (Method::Phrases, Some(dictionary)) => {
                dictionary.decode(self.compressed, self.plain_len, raw)?;
            }
            (Method::Zstd, _) => {
                CompressionType::Zstd.uncompress_into(self.payload, self.plain_len, raw)?;
            }
        }
        if !self.expiry.is_empty() {
            raw.splice(..0, self.expiry.iter().copied());
        }
        Ok(())
    }

    /// Bytes of its value uncompressed, without the expiry.
    pub fn plain_len(&self) -> usize {
        self.plain_len
    }

    /// Bytes of its value as stored, with length and method.
    pub fn compressed_len(&self) -> usize {
        self.compressed.len()
    }

    /// How its value is compressed.
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
