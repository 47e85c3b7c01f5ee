//! Mappings: a stretch of a file to write, a whole file to read, and memory of our own.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;

use crate::env::fs::{MappedFile, Unchanging};
use crate::env::pages::{Pages, Piece};
use crate::env::real::bus_errors::Guarded;

/// A mapping of our own, given back when dropped.
#[derive(Debug)]
struct Mapping {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; the address stays valid until the
// one owner drops it, and only the owner hands it out.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of `file` from `start`, which must be a multiple of the page size.
    fn of_file(file: &File, start: u64, len: usize, protection: ProtFlags) -> io::Result<Mapping> {
        assert!(len > 0);
        let flags = MapFlags::SHARED;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let address = unsafe { mmap(ptr::null_mut(), len, protection, flags, file, start)? };
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| io::Error::other("the kernel mapped a file at address zero"))?;
        // A read is anywhere, and room for a log is not to be read ahead: the system would do
        // that in pieces that grow to 256 KiB, a store makes such a piece dirty as a whole, and
        // each sync writes all of it for the few bytes that were stored (experiment 0115).
        // SAFETY: the range is the mapping's own, and the advice changes no byte of it.
        // A refused hint changes nothing but speed, so its error has no reader.
        let _ = unsafe { madvise(address.as_ptr().cast(), len, Advice::Random) };
        Ok(Mapping { address, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.address.as_ptr().cast();
        // SAFETY: address and len are those of our own mapping, which nobody uses any more.
        if unsafe { munmap(start, self.len) }.is_err() {
            // The kernel may refuse: it keeps neighbouring mappings as one, and to cut a piece out
            // takes a mapping more, of which a process may have so many only (vm.max_map_count).
            // Then the addresses are lost, and the memory goes back all the same.
            #[cfg(target_os = "linux")]
            // SAFETY: as above. Where even that is refused nothing is left to be done.
            let _ = unsafe { madvise(start, self.len, Advice::LinuxDontNeed) };
        }
    }
}

/// Part of a file in memory: what is copied in is in the page cache at once.
///
/// Shape: `len` bytes from `start` of the file. Owned by one writer (`&mut`); the kernel keeps
/// the file alive while it is mapped. Nothing is ever read through the mapping, so no Rust
/// reference to its bytes exists, and others may read or write the same file by system calls.
///
/// A store to a page that the kernel cannot provide is an error, by way of a handler for the signal
/// that it is (`env/real/bus_errors.rs`).
#[derive(Debug)]
pub struct MappedWindow {
    // Before the mapping, so that it is dropped first.
    guarded: Guarded,
    mapping: Mapping,
    start: u64,
}

/// The kernel had no page for a store: there is no room, the disk failed, or the file was cut.
#[derive(Clone, Copy, Debug)]
pub struct StoreFailed;

impl MappedWindow {
    /// Maps `len` bytes of `file` from `start`, which must be a multiple of the page size. The
    /// caller has made sure that the file has all those bytes, and blocks beneath them.
    pub fn map(file: &File, start: u64, len: usize) -> io::Result<MappedWindow> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let mapping = Mapping::of_file(file, start, len, protection)?;
        let mapped_len = len.next_multiple_of(page_size());
        // SAFETY: whole pages of a mapping that nobody reads and that is dropped behind the guard.
        let guarded = unsafe { Guarded::new(mapping.address, mapped_len) };
        let guarded =
            guarded.ok_or_else(|| io::Error::other("too many windows are mapped already"))?;
        Ok(MappedWindow {
            guarded,
            mapping,
            start,
        })
    }

    /// How many of the file's bytes from `offset` lie in the window; 0 if `offset` is outside.
    pub fn room_from(&self, offset: u64) -> usize {
        match offset.checked_sub(self.start).map(usize::try_from) {
            Some(Ok(inner)) => self.mapping.len.saturating_sub(inner),
            _ => 0,
        }
    }

    /// Copies `bytes` to `offset` of the file. After an error any part of them may be in the file,
    /// what was written before is, and the window is of no more use.
    ///
    /// # Panics
    /// When the range is not inside the window.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), StoreFailed> {
        assert!(bytes.len() <= self.room_from(offset));
        let inner = usize::try_from(offset - self.start).expect("room_from has checked it");
        // SAFETY: inner + bytes.len() <= len by the assert, so source and target are valid
        // for bytes.len() bytes; `bytes` is a Rust slice and the mapping is never lent out as
        // one, so they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.mapping.address.as_ptr().add(inner),
                bytes.len(),
            );
        }
        match self.guarded.has_failed() {
            false => Ok(()),
            true => Err(StoreFailed),
        }
    }
}

/// A whole file in memory, to be read.
///
/// Shape: its first `len` bytes. The kernel keeps the file alive while it is mapped, whatever
/// becomes of its name.
///
/// What can go wrong: a page that the disk refuses, or that lies behind the end of a file that
/// somebody cut, ends the process with SIGBUS.
#[derive(Debug)]
pub struct MappedBytes(Mapping);

impl MappedBytes {
    /// Maps the first `len` bytes of `file`, which has them and which nobody writes to any more.
    pub fn map(file: &File, len: usize, _word: Unchanging) -> io::Result<MappedBytes> {
        let mapping = Mapping::of_file(file, 0, len, ProtFlags::READ)?;
        Ok(MappedBytes(mapping))
    }
}

impl MappedFile for MappedBytes {
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(len)?;
        if end > self.0.len {
            return None;
        }
        // SAFETY: start + len is at most the mapping's, so the range lies in it, and it lives
        // as long as `self`. Who mapped it gave the word that nobody changes the file: the engine
        // gives it for finished files only, writes to none of them again, and the lock of the
        // directory keeps other processes' engines away.
        Some(unsafe { slice::from_raw_parts(self.0.address.as_ptr().add(start), len) })
    }
}

/// Memory straight from the kernel, and straight back.
///
/// Shape: each piece is a mapping of its own, whole pages that read as zeros.
#[derive(Clone, Copy, Debug, Default)]
pub struct MappedPages;

struct MappedPiece(Mapping);

// SAFETY: a private mapping at an address of the kernel's choice overlaps nothing, begins at a
// page, has `len` bytes, and stays until `drop`.
unsafe impl Piece for MappedPiece {
    fn address(&self) -> NonNull<u8> {
        self.0.address
    }

    fn size_bytes(&self) -> usize {
        self.0.len
    }
}

/// Pieces in which the top of a heap is taken: below the size that is mapped by itself, which is
/// 128 KiB at first.
const TOP_PIECE_BYTES: usize = 64 << 10;

/// Most of it that is taken: the largest heap that the C library gives a thread.
const TOP_BYTES_MAX: u64 = 64 << 20;

impl Pages for MappedPages {
    fn take(&self, bytes: usize) -> Option<Box<dyn Piece>> {
        assert!(bytes > 0);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let address =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, MapFlags::PRIVATE) };
        let address = NonNull::new(address.ok()?.cast::<u8>())?;
        Some(Box::new(MappedPiece(Mapping {
            address,
            len: bytes,
        })))
    }

    // Each thread frees into the arena it took from, and only the top of an arena goes back by
    // itself: what a background thread leaves there stays resident, unused by all others.
    //
    // And of an arena that is not the first one, `malloc_trim` leaves the top alone; the top
    // shrinks only when it is larger than a threshold, which grows to twice the largest piece that
    // was ever freed (measured: 12 MiB free and resident under a limit of 16 after a training). So
    // the top is taken in pieces, and freed below one that stays: then it is among what goes back.
    fn trim_heap(&self, used_bytes: u64) {
        let pieces = used_bytes.min(TOP_BYTES_MAX) / TOP_PIECE_BYTES as u64;
        let below: Vec<Vec<u8>> = (0..pieces)
            .map(|_| Vec::with_capacity(TOP_PIECE_BYTES))
            .collect();
        let above: Vec<u8> = Vec::with_capacity(TOP_PIECE_BYTES);
        drop(std::hint::black_box(below));
        #[cfg(target_env = "gnu")]
        // SAFETY: takes the heap's own locks, and touches only what is free.
        let _was_any_given_back = unsafe { malloc_trim(0) };
        drop(std::hint::black_box(above));
    }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// Gives free pages of every arena of the C library's heap back, less `pad` bytes at its top.
    fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

#[cfg(test)]
mod tests;
