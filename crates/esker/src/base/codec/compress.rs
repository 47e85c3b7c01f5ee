//! None, LZ4, Zstd and Snappy behind one enum.

use crate::base::types::error::{Error, Result};

/// How the bytes of a block are packed. The byte is part of the file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Compression {
    /// As they are.
    None = 0,
    /// LZ4 block format: unpacks fastest.
    #[default]
    Lz4 = 1,
    /// Zstandard, level 1 unless told: packs about 1.5 times tighter than LZ4.
    Zstd = 2,
    /// Snappy raw format: as LevelDB's default.
    Snappy = 3,
}

impl Compression {
    /// Every way of packing, as settings spell them.
    pub const NAMES: [(&str, Compression); 4] = [
        ("none", Compression::None),
        ("lz4", Compression::Lz4),
        ("zstd", Compression::Zstd),
        ("snappy", Compression::Snappy),
    ];

    /// The way of packing with that byte, or `None`. For bytes from disk.
    pub fn from_byte(byte: u8) -> Option<Compression> {
        Compression::NAMES
            .iter()
            .map(|(_, kind)| *kind)
            .find(|kind| *kind as u8 == byte)
    }

    /// The way of packing as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
            Compression::Snappy => "snappy",
        }
    }

    /// Packs `plain` behind what is already in `out`. The caller keeps the plain length: it is
    /// needed to unpack.
    pub fn pack(self, plain: &[u8], zstd_level: i32, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        match self {
            Compression::None => out.extend_from_slice(plain),
            Compression::Lz4 => {
                out.resize(
                    start + lz4_flex::block::get_maximum_output_size(plain.len()),
                    0,
                );
                let len = lz4_flex::block::compress_into(plain, &mut out[start..])
                    .map_err(|error| Error::invalid(format!("lz4 cannot pack: {error}")))?;
                out.truncate(start + len);
            }
            Compression::Zstd => {
                let packed = zstd::bulk::compress(plain, zstd_level)
                    .map_err(|error| Error::io("pack a block with zstd", error))?;
                out.extend_from_slice(&packed);
            }
            Compression::Snappy => {
                out.resize(start + snap::raw::max_compress_len(plain.len()), 0);
                let len = snap::raw::Encoder::new()
                    .compress(plain, &mut out[start..])
                    .map_err(|error| Error::invalid(format!("snappy cannot pack: {error}")))?;
                out.truncate(start + len);
            }
        }
        Ok(())
    }

    /// Unpacks exactly `plain_len` bytes. `Corruption` when the packed bytes do not give them.
    pub fn unpack(self, packed: &[u8], plain_len: usize) -> Result<Vec<u8>> {
        let plain = match self {
            Compression::None => Ok(packed.to_vec()),
            Compression::Lz4 => lz4_flex::block::decompress(packed, plain_len)
                .map_err(|error| format!("lz4 cannot unpack: {error}")),
            Compression::Zstd => zstd::bulk::decompress(packed, plain_len)
                .map_err(|error| format!("zstd cannot unpack: {error}")),
            Compression::Snappy => unpack_snappy(packed, plain_len),
        };
        let plain = plain.map_err(Error::corruption)?;
        if plain.len() != plain_len {
            let got = plain.len();
            return Err(Error::corruption(format!(
                "unpacks to {got} bytes, not {plain_len}"
            )));
        }
        Ok(plain)
    }
}

// The length in front of the packed bytes is checked before anything is allocated for it.
fn unpack_snappy(packed: &[u8], plain_len: usize) -> std::result::Result<Vec<u8>, String> {
    match snap::raw::decompress_len(packed) {
        Ok(len) if len == plain_len => snap::raw::Decoder::new()
            .decompress_vec(packed)
            .map_err(|error| format!("snappy cannot unpack: {error}")),
        Ok(len) => Err(format!("snappy says {len} bytes, not {plain_len}")),
        Err(error) => Err(format!("snappy cannot unpack: {error}")),
    }
}

#[cfg(test)]
mod tests;
