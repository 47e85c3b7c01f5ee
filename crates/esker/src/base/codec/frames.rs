//! Zstd frames, one after the other, with memory that is kept from one to the next.

use std::fmt;

#[cfg(not(feature = "zstd"))]
use crate::base::codec::compress::CompressionType;
#[cfg(feature = "zstd")]
use crate::base::types::error::Error;
use crate::base::types::error::Result;

/// Makes Zstd frames. What a compressor needs in memory, half a MiB and more, is taken once: for
/// values of a kilobyte that is most of the time of compressing one by itself.
#[cfg(feature = "zstd")]
pub struct FrameCompressor(zstd::bulk::Compressor<'static>);

/// What would make Zstd frames: a build without Zstd has none.
#[cfg(not(feature = "zstd"))]
pub struct FrameCompressor(std::convert::Infallible);

#[cfg(feature = "zstd")]
impl FrameCompressor {
    /// A compressor of that Zstd level.
    pub fn new(zstd_level: i32) -> Result<FrameCompressor> {
        let compressor = zstd::bulk::Compressor::new(zstd_level);
        let compressor = compressor.map_err(|error| Error::io("prepare zstd", error))?;
        Ok(FrameCompressor(compressor))
    }

    /// Replaces what is in `frame` by one frame that holds `plain`, or, if that is longer than
    /// `bytes_max`, says `false`, and `frame` holds anything.
    pub fn compress(
        &mut self,
        plain: &[u8],
        bytes_max: usize,
        frame: &mut Vec<u8>,
    ) -> Result<bool> {
        frame.resize(zstd::zstd_safe::compress_bound(plain.len()), 0);
        let len = self.0.compress_to_buffer(plain, &mut frame[..]);
        let len = len.map_err(|error| Error::io("compress a value with zstd", error))?;
        frame.truncate(len);
        Ok(len <= bytes_max)
    }
}

#[cfg(not(feature = "zstd"))]
impl FrameCompressor {
    /// `NotBuilt`.
    pub fn new(_zstd_level: i32) -> Result<FrameCompressor> {
        Err(CompressionType::Zstd
            .check_built()
            .expect_err("it was left out"))
    }

    /// Never called.
    pub fn compress(
        &mut self,
        _plain: &[u8],
        _bytes_max: usize,
        _frame: &mut Vec<u8>,
    ) -> Result<bool> {
        match self.0 {}
    }
}

impl fmt::Debug for FrameCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameCompressor")
    }
}

#[cfg(all(test, feature = "zstd"))]
mod tests;
