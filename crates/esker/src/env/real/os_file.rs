//! One open file of the operating system, with its path for messages.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread, pwritev, retry_on_intr};

use crate::base::types::error::{Error, Result};
use crate::env::fs::{MappedFile, ReadFile, Unchanging};
use crate::env::real::descriptors::{above_streams, patiently};
use crate::env::real::map::MappedBytes;
use crate::env::real::place::Place;
use crate::env::real::system;

// Zeros are written in pieces of this size where the disk cannot allocate without writing:
// large enough that the number of calls does not matter, small enough to be a passing cost.
const ZERO_PIECE_BYTES: usize = 256 << 10;

// Most bytes of one call that writes pieces. Of a call of 2 MiB or more Linux 6.18 copies 100 KB in
// 64 to 92 us, of one of 256 KiB to 1 MiB in 41 to 55 us (ext4, two cores of a virtual machine): it
// has pages of 2 MiB for it, which leave the processor's caches on the way.
const CALL_BYTES: usize = 512 << 10;

/// An error of the operating system about one path.
#[track_caller]
pub fn path_error(doing: &str, path: &Path, cause: io::Error) -> Error {
    Error::io(doing, cause).in_file(path.display())
}

/// One open file and the path it was opened by.
///
/// Shape: a file descriptor, closed on drop and on `exec`. Any thread may call anything.
#[derive(Debug)]
pub struct OsFile {
    file: File,
    path: PathBuf,
}

/// Whether [`OsFile::allocate`] got blocks from the file system or had to write zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocated {
    /// The file system gave the blocks: no page of the range can fail for lack of room.
    Blocks,
    /// The file system cannot allocate ahead; only missing bytes at the end were written.
    Zeros,
}

impl OsFile {
    /// Opens a file for reading.
    pub fn open<'a>(place: impl Into<Place<'a>>) -> Result<OsFile> {
        OsFile::open_by(place.into(), OFlags::RDONLY, "open")
    }

    /// Opens a directory; the way to it may lead over symbolic links.
    pub fn open_dir(path: &Path) -> Result<OsFile> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || {
            Ok(retry_on_intr(|| {
                rustix::fs::open(path, flags, Mode::empty())
            })?)
        };
        let opened = patiently(open).and_then(above_streams);
        let opened = opened.map_err(|cause| path_error("open", path, cause))?;
        Ok(OsFile::new(opened, path))
    }

    /// Creates a file for writing, or empties the one that is there.
    pub fn create<'a>(place: impl Into<Place<'a>>) -> Result<OsFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        OsFile::open_by(place.into(), flags, "create")
    }

    /// Creates a file for writing that must not be there yet.
    pub fn create_new<'a>(place: impl Into<Place<'a>>) -> Result<OsFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        OsFile::open_by(place.into(), flags, "create")
    }

    /// Opens a file for reading and writing, creating it if it is missing; bytes stay.
    pub fn open_or_create<'a>(place: impl Into<Place<'a>>) -> Result<OsFile> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        OsFile::open_by(place.into(), flags, "open or create")
    }

    #[track_caller]
    fn open_by(place: Place<'_>, flags: OFlags, doing: &str) -> Result<OsFile> {
        match place.open(flags) {
            Ok(file) => Ok(OsFile::new(file, place.path())),
            Err(cause) => Err(place.error(doing, cause)),
        }
    }

    fn new(file: File, path: &Path) -> OsFile {
        OsFile {
            file,
            path: path.to_owned(),
        }
    }

    /// The descriptor, for calls that exist only there.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path the file was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about this file.
    #[track_caller]
    pub fn error(&self, doing: &str, cause: io::Error) -> Error {
        path_error(doing, &self.path, cause)
    }

    /// Size of the file now, in bytes.
    pub fn size_bytes(&self) -> Result<u64> {
        match self.file.metadata() {
            Ok(metadata) => Ok(metadata.len()),
            Err(cause) => Err(self.error("read the size", cause)),
        }
    }

    /// Fills `buffer` from `offset`; a file that ends before is `Corruption`.
    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|cause| match cause.kind() {
                io::ErrorKind::UnexpectedEof => self.too_short(offset, buffer.len()),
                _ => self.error("read", cause).at_offset(offset),
            })
    }

    /// Appends the `len` bytes from `offset` to `buffer`; a file that ends before is `Corruption`.
    pub fn read_exact_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        let (start, end) = (buffer.len(), buffer.len() + len);
        buffer.reserve(len);
        if buffer.capacity() > end {
            // Into room that is not cleared the system would read as much as there is room for.
            buffer.resize(end, 0);
            return self.read_exact_at(offset, &mut buffer[start..]);
        }
        while buffer.len() < end {
            let at = offset + (buffer.len() - start) as u64;
            match pread(&self.file, spare_capacity(buffer), at) {
                Ok(0) => return Err(self.too_short(offset, len)),
                Ok(_) | Err(Errno::INTR) => {}
                Err(cause) => return Err(self.error("read", cause.into()).at_offset(offset)),
            }
        }
        Ok(())
    }

    #[cold]
    fn too_short(&self, offset: u64, len: usize) -> Error {
        Error::corruption(format!(
            "the file ends before the {len} bytes that should be here"
        ))
        .in_file(self.path.display())
        .at_offset(offset)
    }

    /// Writes all of `bytes` at `offset`, which may lie beyond the end.
    pub fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all_at(bytes, offset)
            .map_err(|cause| self.error("write", cause).at_offset(offset))
    }

    /// Writes all of `pieces`, one behind the other, from `offset` on: in one call, if they are not
    /// more than 512 KiB and the system takes all of it.
    pub fn write_pieces_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()> {
        let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut rest = &mut slices[..];
        let mut at = offset;
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let call = front_of(rest, CALL_BYTES);
            match pwritev(&self.file, &call, at) {
                Ok(0) => {
                    let cause = io::ErrorKind::WriteZero.into();
                    return Err(self.error("write", cause).at_offset(at));
                }
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.error("write", errno.into()).at_offset(at)),
            }
        }
        Ok(())
    }

    /// Gives the file exactly that size: cuts the end off, or adds a hole that reads as zeros.
    pub fn set_size(&self, size_bytes: u64) -> Result<()> {
        self.file
            .set_len(size_bytes)
            .map_err(|cause| self.error("set the size", cause))
    }

    /// As [`OsFile::allocate`] for a new file, but where the file system cannot allocate ahead the
    /// range is a hole: for files whose every byte is written by a call that can fail.
    pub fn allocate_or_size(&self, size_bytes: u64) -> Result<()> {
        match system::allocate(&self.file, 0, size_bytes) {
            Ok(true) => Ok(()),
            Ok(false) => self.set_size(size_bytes),
            Err(errno) => Err(self.error("allocate blocks", errno.into())),
        }
    }

    /// Makes contents and size durable; times and modes may lag.
    pub fn sync_contents(&self) -> Result<()> {
        system::sync_contents(&self.file).map_err(|cause| self.error("sync", cause))
    }

    /// Gives the file room for `size_bytes` from its start, and at least that size. Bytes that
    /// are there stay; new ones read as zeros.
    pub fn allocate(&self, size_bytes: u64) -> Result<Allocated> {
        let present_bytes = self.size_bytes()?;
        let whole_bytes = size_bytes.max(present_bytes);
        if whole_bytes == 0 {
            return Ok(Allocated::Blocks);
        }
        // Over the whole range and not only its new part: a file that came here by way of a
        // copy may have holes.
        match system::allocate(&self.file, present_bytes, whole_bytes) {
            Ok(true) => Ok(Allocated::Blocks),
            Ok(false) => {
                self.write_zeros(present_bytes, whole_bytes)?;
                Ok(Allocated::Zeros)
            }
            Err(errno) => Err(self.error("allocate blocks", errno.into())),
        }
    }

    /// Writes zeros from `start` to `end`, a way to get blocks that every file system has.
    pub fn write_zeros(&self, start: u64, end: u64) -> Result<()> {
        let zeros = vec![0; ZERO_PIECE_BYTES];
        let mut offset = start;
        while offset < end {
            let piece_bytes = usize::try_from(end - offset)
                .unwrap_or(usize::MAX)
                .min(ZERO_PIECE_BYTES);
            self.write_all_at(offset, &zeros[..piece_bytes])?;
            offset += piece_bytes as u64;
        }
        Ok(())
    }

    /// Asks the kernel to read a range ahead. A hint: nothing depends on it.
    pub fn advise_soon(&self, offset: u64, len: u64) {
        if let Some(len) = std::num::NonZeroU64::new(len) {
            system::advise_soon(&self.file, offset, len);
        }
    }

    /// Asks the kernel to begin to write a range to the medium. A hint: nothing depends on it.
    pub fn begin_sync(&self, offset: u64, len: u64) {
        if let Some(len) = std::num::NonZeroU64::new(len) {
            system::begin_sync(&self.file, offset, len);
        }
    }

    /// Asks the kernel to read nothing ahead by itself. A hint: nothing depends on it.
    pub fn advise_random(&self) {
        system::advise_random(&self.file);
    }
}

/// The first `bytes` of `slices`, or all of them if they have fewer.
fn front_of<'a>(slices: &'a [IoSlice<'_>], bytes: usize) -> Vec<IoSlice<'a>> {
    let mut room = bytes;
    let mut front = Vec::with_capacity(slices.len());
    for slice in slices {
        let taken = slice.len().min(room);
        front.push(IoSlice::new(&slice[..taken]));
        room -= taken;
        if room == 0 {
            break;
        }
    }
    front
}

/// A file open for reading.
#[derive(Debug)]
pub struct RealReadFile {
    file: OsFile,
    size_bytes: u64,
}

impl RealReadFile {
    /// Opens a file for reading.
    pub fn open<'a>(place: impl Into<Place<'a>>) -> Result<Arc<dyn ReadFile>> {
        let file = OsFile::open(place)?;
        let size_bytes = file.size_bytes()?;
        Ok(Arc::new(RealReadFile { file, size_bytes }))
    }
}

impl ReadFile for RealReadFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(offset, buffer)
    }

    fn read_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        self.file.read_exact_onto(offset, len, buffer)
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.file.advise_soon(offset, len);
    }

    fn expect_random(&self) {
        self.file.advise_random();
    }

    fn map(&self, word: Unchanging) -> Option<Arc<dyn MappedFile>> {
        // Pages behind the end of a file that was cut since it was opened must not be looked at.
        let is_whole = self
            .file
            .size_bytes()
            .is_ok_and(|now| now == self.size_bytes);
        // What does not fit into the address space is read by calls.
        let len = usize::try_from(self.size_bytes).ok()?;
        if !is_whole || len == 0 {
            return None;
        }
        // So is what the file system does not map.
        let mapped = MappedBytes::map(self.file.file(), len, word).ok()?;
        Some(Arc::new(mapped))
    }
}
