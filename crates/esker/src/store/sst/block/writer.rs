//! Compresses, checksums and appends blocks to a file.

use crate::base::codec::compress::{CompressionType, Compressor};
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::AppendFile;
use crate::store::sst::format::{BlockHandle, block_checksum};

/// Writes the blocks of one file, front to back, and whatever lies between them.
pub struct BlockWriter {
    file: Box<dyn AppendFile>,
    settings: CompressionSettings,
    compressor: Compressor,
    offset: u64,
    /// The stored bytes of one block, kept for the next.
    stored: Vec<u8>,
}

/// How blocks are compressed, and for which file.
#[derive(Clone, Copy, Debug)]
pub struct CompressionSettings {
    /// Number of the file; mixed into every checksum.
    pub number: FileNumber,
    /// How blocks are compressed where that pays.
    pub compression: CompressionType,
    /// Level given to Zstd.
    pub zstd_level: i32,
}

impl BlockWriter {
    /// A writer of the blocks of an empty `file`.
    pub fn new(file: Box<dyn AppendFile>, settings: CompressionSettings) -> BlockWriter {
        assert_eq!(file.size_bytes(), 0);
        BlockWriter {
            file,
            settings,
            compressor: Compressor::default(),
            offset: 0,
            stored: Vec::new(),
        }
    }

    /// Where the next bytes go.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Appends a block, compressed as the settings say where that pays.
    pub fn write_compressed(&mut self, plain: &[u8]) -> Result<BlockHandle> {
        let CompressionSettings {
            compression,
            zstd_level,
            ..
        } = self.settings;
        if compression == CompressionType::None {
            return self.write_plain(plain);
        }
        self.stored.clear();
        self.compressor
            .compress(compression, plain, zstd_level, &mut self.stored)?;
        // Unpacking costs every reader time; an eighth of a block is about what pays for it.
        if self.stored.len() > plain.len() - plain.len() / 8 {
            return self.write_plain(plain);
        }
        self.append(compression, plain.len())
    }

    /// Appends a block as it is.
    pub fn write_plain(&mut self, plain: &[u8]) -> Result<BlockHandle> {
        self.stored.clear();
        self.stored.extend_from_slice(plain);
        self.append(CompressionType::None, plain.len())
    }

    /// Appends bytes that are no block: whoever reads them knows how to check them.
    pub fn write_bare(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.append(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Makes everything durable; the size of the file in bytes.
    ///
    /// Errors: `Corruption` when the file is not as long as what was written to it.
    pub fn sync(mut self) -> Result<u64> {
        self.file.sync()?;
        let (size, written) = (self.file.size_bytes(), self.offset);
        if size != written {
            let message = format!("is {size} bytes long after {written} were written to it");
            return Err(Error::corruption(message));
        }
        Ok(written)
    }

    // Appends what lies in `stored`, and its trailer.
    fn append(&mut self, compression: CompressionType, plain_len: usize) -> Result<BlockHandle> {
        let length = |len: usize| u32::try_from(len).expect("blocks are below 4 GiB");
        let handle = BlockHandle {
            offset: self.offset,
            compressed_len: length(self.stored.len()),
            plain_len: length(plain_len),
        };
        self.stored.push(compression as u8);
        let checksum = block_checksum(&self.stored, self.settings.number, self.offset);
        self.stored.extend_from_slice(&checksum.to_le_bytes());
        self.file.append(&self.stored)?;
        self.offset += self.stored.len() as u64;
        assert_eq!(handle.end(), Some(self.offset));
        Ok(handle)
    }
}
