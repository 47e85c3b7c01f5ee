//! None, LZ4, Zstd and Snappy behind one enum.
//!
//! Each of the three is a feature of the crate, and may be left out of a build. The enum knows them
//! all the same: what a build lacks it must be able to name.

use crate::base::types::error::{Error, ErrorKind, Result};

/// How the bytes of a block are compressed. The byte is part of the file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CompressionType {
    /// As they are.
    None = 0,
    /// LZ4 block format: uncompresses fastest.
    Lz4 = 1,
    /// Zstandard, level 1 unless told: compresses about 1.5 times tighter than LZ4.
    Zstd = 2,
    /// Snappy raw format: as LevelDB's default.
    Snappy = 3,
}

impl CompressionType {
    /// Every way of compression, as settings spell them.
    pub const NAMES: [(&str, CompressionType); 4] = [
        ("none", CompressionType::None),
        ("lz4", CompressionType::Lz4),
        ("zstd", CompressionType::Zstd),
        ("snappy", CompressionType::Snappy),
    ];

    /// Whether this build compresses and uncompresses in every way.
    pub const ARE_ALL_BUILT: bool = CompressionType::Lz4.is_built()
        && CompressionType::Zstd.is_built()
        && CompressionType::Snappy.is_built();

    /// The way of compression with that byte, or `None`. For bytes from disk.
    pub fn from_byte(byte: u8) -> Option<CompressionType> {
        CompressionType::NAMES
            .iter()
            .map(|(_, kind)| *kind)
            .find(|kind| *kind as u8 == byte)
    }

    /// The way of compression as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            CompressionType::None => "none",
            CompressionType::Lz4 => "lz4",
            CompressionType::Zstd => "zstd",
            CompressionType::Snappy => "snappy",
        }
    }

    /// Whether this build compresses and uncompresses so.
    pub const fn is_built(self) -> bool {
        match self {
            CompressionType::None => true,
            CompressionType::Lz4 => cfg!(feature = "lz4"),
            CompressionType::Zstd => cfg!(feature = "zstd"),
            CompressionType::Snappy => cfg!(feature = "snappy"),
        }
    }

    /// The ways of compression that this build has, as settings spell them.
    pub fn built() -> impl Iterator<Item = (&'static str, CompressionType)> {
        let all = CompressionType::NAMES.into_iter();
        all.filter(|(_, way)| way.is_built())
    }

    /// The first of `ways` that this build has; `None`, the way, where it has none of them.
    pub fn first_built(ways: &[CompressionType]) -> CompressionType {
        let built = ways.iter().copied().find(|way| way.is_built());
        built.unwrap_or(CompressionType::None)
    }

    /// `NotBuilt` when this build does not compress and uncompress so.
    pub fn check_built(self) -> Result<()> {
        match self.is_built() {
            true => Ok(()),
            false => Err(self.not_built()),
        }
    }

    #[cold]
    fn not_built(self) -> Error {
        let name = self.name();
        Error::new(
            ErrorKind::NotBuilt,
            format!(
                "compressed with {name}, which this build of esker does not have; build it with \
                 the feature `{name}`"
            ),
        )
    }

    /// Compresses `plain` behind what is already in `out`, once; for block after block there is
    /// [`Compressor`]. The caller keeps the plain length: it is needed to uncompress.
    pub fn compress(self, plain: &[u8], zstd_level: i32, out: &mut Vec<u8>) -> Result<()> {
        Compressor::default().compress(self, plain, zstd_level, out)
    }

    /// Uncompresses exactly `plain_len` bytes. `Corruption` when the compressed bytes do not give
    /// them,
    /// `NotBuilt` when this build does not uncompress so.
    pub fn uncompress(self, compressed: &[u8], plain_len: usize) -> Result<Vec<u8>> {
        let mut plain = Vec::new();
        self.uncompress_into(compressed, plain_len, &mut plain)?;
        Ok(plain)
    }

    /// As [`CompressionType::uncompress`], into a buffer whose bytes and length no longer matter.
    pub fn uncompress_into(
        self,
        compressed: &[u8],
        plain_len: usize,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        plain.resize(plain_len, 0);
        self.uncompress_to(compressed, plain)
    }

    /// As [`CompressionType::uncompress`], into all of `plain`.
    pub fn uncompress_to(self, compressed: &[u8], plain: &mut [u8]) -> Result<()> {
        let plain_len = plain.len();
        exactly(self.uncompress_front(compressed, plain)?, plain_len)
    }

    /// Uncompresses what nobody told the length of, into `plain`, whose bytes and length no longer
    /// matter. `Corruption` when it is longer than `plain_len_max`, or is not compressed so.
    pub fn uncompress_up_to(
        self,
        compressed: &[u8],
        plain_len_max: usize,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        plain.resize(plain_len_max, 0);
        let plain_len = self.uncompress_front(compressed, plain)?;
        plain.truncate(plain_len);
        Ok(())
    }

    // Uncompresses into the front of `plain`; says how much it came to.
    fn uncompress_front(self, compressed: &[u8], plain: &mut [u8]) -> Result<usize> {
        let uncompressed: std::result::Result<usize, String> = match self {
            CompressionType::None => match plain.get_mut(..compressed.len()) {
                Some(front) => {
                    front.copy_from_slice(compressed);
                    Ok(compressed.len())
                }
                None => Err("it is longer than it may be".into()),
            },
            #[cfg(feature = "lz4")]
            CompressionType::Lz4 => lz4_flex::block::decompress_into(compressed, plain)
                .map_err(|error| format!("lz4 cannot uncompress: {error}")),
            #[cfg(feature = "zstd")]
            CompressionType::Zstd => zstd::bulk::decompress_to_buffer(compressed, plain)
                .map_err(|error| format!("zstd cannot uncompress: {error}")),
            #[cfg(feature = "snappy")]
            CompressionType::Snappy => snap::raw::Decoder::new()
                .decompress(compressed, plain)
                .map_err(|error| format!("snappy cannot uncompress: {error}")),
            #[allow(unreachable_patterns, reason = "a build may have them all")]
            missing => return Err(missing.not_built()),
        };
        uncompressed.map_err(Error::corruption)
    }
}

/// Compresses block after block. What Snappy needs beside a block, tables of 34 KiB that it would
/// else allocate and clear for each, is kept from one to the next.
pub struct Compressor {
    #[cfg(feature = "snappy")]
    snappy: snap::raw::Encoder,
    /// Room for one block compressed as badly as can be; what it holds does not matter.
    #[cfg(any(feature = "lz4", feature = "snappy"))]
    room: Vec<u8>,
}

impl Default for Compressor {
    /// A compressor that has compressed nothing yet.
    fn default() -> Compressor {
        Compressor {
            #[cfg(feature = "snappy")]
            snappy: snap::raw::Encoder::new(),
            #[cfg(any(feature = "lz4", feature = "snappy"))]
            room: Vec::new(),
        }
    }
}

impl Compressor {
    /// Compresses `plain` in that way, behind what is already in `out`. `NotBuilt` when this build
    /// does not compress so.
    #[cfg_attr(
        not(feature = "zstd"),
        allow(unused_variables, reason = "a level is Zstd's alone")
    )]
    pub fn compress(
        &mut self,
        way: CompressionType,
        plain: &[u8],
        zstd_level: i32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match way {
            CompressionType::None => out.extend_from_slice(plain),
            #[cfg(feature = "lz4")]
            CompressionType::Lz4 => {
                let bytes = lz4_flex::block::get_maximum_output_size(plain.len());
                let room = room_for(bytes, &mut self.room);
                let len = lz4_flex::block::compress_into(plain, room)
                    .map_err(|error| Error::invalid(format!("lz4 cannot compress: {error}")))?;
                out.extend_from_slice(&self.room[..len]);
            }
            #[cfg(feature = "zstd")]
            CompressionType::Zstd => {
                let compressed = zstd::bulk::compress(plain, zstd_level)
                    .map_err(|error| Error::io("compress a block with zstd", error))?;
                out.extend_from_slice(&compressed);
            }
            #[cfg(feature = "snappy")]
            CompressionType::Snappy => {
                let bytes = snap::raw::max_compress_len(plain.len());
                let room = room_for(bytes, &mut self.room);
                let len = self
                    .snappy
                    .compress(plain, room)
                    .map_err(|error| Error::invalid(format!("snappy cannot compress: {error}")))?;
                out.extend_from_slice(&self.room[..len]);
            }
            #[allow(unreachable_patterns, reason = "a build may have them all")]
            missing => return Err(missing.not_built()),
        }
        Ok(())
    }
}

// Room for so many bytes. It is never made shorter, for growing it again would clear it.
#[cfg(any(feature = "lz4", feature = "snappy"))]
fn room_for(bytes: usize, room: &mut Vec<u8>) -> &mut [u8] {
    if room.len() < bytes {
        room.resize(bytes, 0);
    }
    room
}

fn exactly(got: usize, plain_len: usize) -> Result<()> {
    if got == plain_len {
        return Ok(());
    }
    Err(Error::corruption(format!(
        "uncompresses to {got} bytes, not {plain_len}"
    )))
}

#[cfg(test)]
mod tests;
