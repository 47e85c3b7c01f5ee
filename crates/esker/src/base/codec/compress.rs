//! None, LZ4, Zstd and Snappy behind one enum.
//!
//! Each of the three is a feature of the crate, and may be left out of a build. The enum knows them
//! all the same: what a build lacks it must be able to name.

use crate::base::types::error::{Error, ErrorKind, Result};

/// How the bytes of a block are packed. The byte is part of the file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Compression {
    /// As they are.
    None = 0,
    /// LZ4 block format: unpacks fastest.
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

    /// Whether this build packs and unpacks in every way.
    pub const ARE_ALL_BUILT: bool = Compression::Lz4.is_built()
        && Compression::Zstd.is_built()
        && Compression::Snappy.is_built();

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

    /// Whether this build packs and unpacks so.
    pub const fn is_built(self) -> bool {
        match self {
            Compression::None => true,
            Compression::Lz4 => cfg!(feature = "lz4"),
            Compression::Zstd => cfg!(feature = "zstd"),
            Compression::Snappy => cfg!(feature = "snappy"),
        }
    }

    /// The ways of packing that this build has, as settings spell them.
    pub fn built() -> impl Iterator<Item = (&'static str, Compression)> {
        let all = Compression::NAMES.into_iter();
        all.filter(|(_, way)| way.is_built())
    }

    /// The first of `ways` that this build has; `None`, the way, where it has none of them.
    pub fn first_built(ways: &[Compression]) -> Compression {
        let built = ways.iter().copied().find(|way| way.is_built());
        built.unwrap_or(Compression::None)
    }

    /// `NotBuilt` when this build does not pack and unpack so.
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
                "packed with {name}, which this build of esker does not have; build it with the \
                 feature `{name}`"
            ),
        )
    }

    /// Packs `plain` behind what is already in `out`, once; for block after block there is
    /// [`Packer`]. The caller keeps the plain length: it is needed to unpack.
    pub fn pack(self, plain: &[u8], zstd_level: i32, out: &mut Vec<u8>) -> Result<()> {
        Packer::default().pack(self, plain, zstd_level, out)
    }

    /// Unpacks exactly `plain_len` bytes. `Corruption` when the packed bytes do not give them,
    /// `NotBuilt` when this build does not unpack so.
    pub fn unpack(self, packed: &[u8], plain_len: usize) -> Result<Vec<u8>> {
        let mut plain = Vec::new();
        self.unpack_into(packed, plain_len, &mut plain)?;
        Ok(plain)
    }

    /// As [`Compression::unpack`], into a buffer whose bytes and length no longer matter.
    pub fn unpack_into(self, packed: &[u8], plain_len: usize, plain: &mut Vec<u8>) -> Result<()> {
        plain.resize(plain_len, 0);
        self.unpack_to(packed, plain)
    }

    /// As [`Compression::unpack`], into all of `plain`.
    pub fn unpack_to(self, packed: &[u8], plain: &mut [u8]) -> Result<()> {
        let plain_len = plain.len();
        exactly(self.unpack_front(packed, plain)?, plain_len)
    }

    /// Unpacks what nobody told the length of, into `plain`, whose bytes and length no longer
    /// matter. `Corruption` when it is longer than `plain_len_max`, or is not packed so.
    pub fn unpack_up_to(
        self,
        packed: &[u8],
        plain_len_max: usize,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        plain.resize(plain_len_max, 0);
        let plain_len = self.unpack_front(packed, plain)?;
        plain.truncate(plain_len);
        Ok(())
    }

    // Unpacks into the front of `plain`; says how much it came to.
    fn unpack_front(self, packed: &[u8], plain: &mut [u8]) -> Result<usize> {
        let unpacked: std::result::Result<usize, String> = match self {
            Compression::None => match plain.get_mut(..packed.len()) {
                Some(front) => {
                    front.copy_from_slice(packed);
                    Ok(packed.len())
                }
                None => Err("it is longer than it may be".into()),
            },
            #[cfg(feature = "lz4")]
            Compression::Lz4 => lz4_flex::block::decompress_into(packed, plain)
                .map_err(|error| format!("lz4 cannot unpack: {error}")),
            #[cfg(feature = "zstd")]
            Compression::Zstd => zstd::bulk::decompress_to_buffer(packed, plain)
                .map_err(|error| format!("zstd cannot unpack: {error}")),
            #[cfg(feature = "snappy")]
            Compression::Snappy => snap::raw::Decoder::new()
                .decompress(packed, plain)
                .map_err(|error| format!("snappy cannot unpack: {error}")),
            #[allow(unreachable_patterns, reason = "a build may have them all")]
            missing => return Err(missing.not_built()),
        };
        unpacked.map_err(Error::corruption)
    }
}

/// Packs block after block. What Snappy needs beside a block, tables of 34 KiB that it would else
/// allocate and clear for each, is kept from one to the next.
pub struct Packer {
    #[cfg(feature = "snappy")]
    snappy: snap::raw::Encoder,
    /// Room for one block packed as badly as can be; what it holds does not matter.
    #[cfg(any(feature = "lz4", feature = "snappy"))]
    room: Vec<u8>,
}

impl Default for Packer {
    /// A packer that has packed nothing yet.
    fn default() -> Packer {
        Packer {
            #[cfg(feature = "snappy")]
            snappy: snap::raw::Encoder::new(),
            #[cfg(any(feature = "lz4", feature = "snappy"))]
            room: Vec::new(),
        }
    }
}

impl Packer {
    /// Packs `plain` in that way, behind what is already in `out`. `NotBuilt` when this build does
    /// not pack so.
    #[cfg_attr(
        not(feature = "zstd"),
        allow(unused_variables, reason = "a level is Zstd's alone")
    )]
    pub fn pack(
        &mut self,
        way: Compression,
        plain: &[u8],
        zstd_level: i32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match way {
            Compression::None => out.extend_from_slice(plain),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => {
                let bytes = lz4_flex::block::get_maximum_output_size(plain.len());
                let room = room_for(bytes, &mut self.room);
                let len = lz4_flex::block::compress_into(plain, room)
                    .map_err(|error| Error::invalid(format!("lz4 cannot pack: {error}")))?;
                out.extend_from_slice(&self.room[..len]);
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let packed = zstd::bulk::compress(plain, zstd_level)
                    .map_err(|error| Error::io("pack a block with zstd", error))?;
                out.extend_from_slice(&packed);
            }
            #[cfg(feature = "snappy")]
            Compression::Snappy => {
                let bytes = snap::raw::max_compress_len(plain.len());
                let room = room_for(bytes, &mut self.room);
                let len = self
                    .snappy
                    .compress(plain, room)
                    .map_err(|error| Error::invalid(format!("snappy cannot pack: {error}")))?;
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
        "unpacks to {got} bytes, not {plain_len}"
    )))
}

#[cfg(test)]
mod tests;
