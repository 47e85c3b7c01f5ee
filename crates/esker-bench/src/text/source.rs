//! Where text comes from: a file or standard input, plain, gzip or zstd.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::fail::{Failure, Outcome};
use crate::text::lines::{Bounds, Lines};

/// Bytes read at a time: large enough that calls cost nothing next to parsing.
const READ_BYTES: usize = 256 << 10;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// An opened input.
pub struct Source {
    /// Its name for messages.
    pub name: String,
    /// Its text.
    pub lines: Lines,
    /// Its size as stored, when it is a file.
    pub size_bytes: Option<u64>,
    consumed: Arc<AtomicU64>,
}

impl Source {
    /// Opens the file at `path`; `-` is standard input. What kind of compression it has is read
    /// from its first bytes, whatever its name says.
    pub fn open(path: &Path) -> Outcome<Source> {
        if path == Path::new("-") {
            return Source::new("standard input", Box::new(io::stdin()), None);
        }
        let name = path.display().to_string();
        let failed = |error| Failure::system(format!("cannot read {name}"), &error);
        let file = File::open(path).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if facts.is_dir() {
            return Err(Failure::usage(format!(
                "{name} is a directory; name the files in it"
            )));
        }
        let size_bytes = facts.is_file().then_some(facts.len());
        Source::new(&name, Box::new(file), size_bytes)
    }

    /// An input that is already open.
    pub fn new(
        name: &str,
        input: Box<dyn Read + Send>,
        size_bytes: Option<u64>,
    ) -> Outcome<Source> {
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            input,
            consumed: Arc::clone(&consumed),
        };
        let text = unpacked(counted)
            .map_err(|error| Failure::system(format!("cannot read {name}"), &error))?;
        Ok(Source {
            name: name.to_owned(),
            lines: Lines::new(text, Bounds::default()),
            size_bytes,
            consumed,
        })
    }

    /// Bytes of the file that were read so far, as stored.
    pub fn consumed_bytes(&self) -> u64 {
        // Read and written by one thread; the cell is shared with the reader below.
        self.consumed.load(Ordering::Relaxed)
    }
}

/// The input's text, unpacked as its first bytes ask for.
fn unpacked(mut input: Counted) -> io::Result<Box<dyn BufRead + Send>> {
    let mut magic = Vec::new();
    (&mut input)
        .take(ZSTD_MAGIC.len() as u64)
        .read_to_end(&mut magic)?;
    let is_zstd = magic == ZSTD_MAGIC;
    let is_gzip = magic.starts_with(GZIP_MAGIC);
    let whole = BufReader::with_capacity(READ_BYTES, Cursor::new(magic).chain(input));
    Ok(if is_zstd {
        let decoder = zstd::stream::read::Decoder::with_buffer(whole)?;
        Box::new(BufReader::with_capacity(READ_BYTES, decoder))
    } else if is_gzip {
        let decoder = MultiGzDecoder::new(whole);
        Box::new(BufReader::with_capacity(READ_BYTES, decoder))
    } else {
        Box::new(whole)
    })
}

/// Counts what is read.
struct Counted {
    input: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.consumed.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
