//! Mappings: a stretch of a file to write, a whole file to read, and memory of our own.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use crate::env::fs::{MappedFile, Unchanging};
use crate::env::pages::{Pages, Piece};

/// Part of a file in memory: what is copied in is in the page cache at once.
///
/// Shape: `len` bytes from `start` of the file. Owned by one writer (`&mut`); the kernel keeps
/// the file alive while it is mapped. Nothing is ever read through the mapping, so no Rust
/// reference to its bytes exists, and others may read or write the same file by system calls.
///
/// What can still go wrong: a store to a page that the kernel cannot provide ends the process
/// with SIGBUS instead of an error. See `env/real/log.rs` for how that is prevented, and for
/// the rest that cannot be.
#[derive(Debug)]
pub struct MappedWindow {
    address: NonNull<u8>,
    start: u64,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; the address stays valid until
// the one owner drops it, and storing through it takes `&mut self`.
unsafe impl Send for MappedWindow {}

impl MappedWindow {
    /// Maps `len` bytes of `file` from `start`, which must be a multiple of the page size. The
    /// caller has made sure that the file has all those bytes, and blocks beneath them.
    pub fn map(file: &File, start: u64, len: usize) -> io::Result<MappedWindow> {
        assert!(len > 0);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let address = unsafe {
            mmap(
                ptr::null_mut(),
                len,
                protection,
                MapFlags::SHARED,
                file,
                start,
            )?
        };
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| io::Error::other("the kernel mapped a file at address zero"))?;
        Ok(MappedWindow {
            address,
            start,
            len,
        })
    }

    /// How many of the file's bytes from `offset` lie in the window; 0 if `offset` is outside.
    pub fn room_from(&self, offset: u64) -> usize {
        match offset.checked_sub(self.start).map(usize::try_from) {
            Some(Ok(inner)) => self.len.saturating_sub(inner),
            _ => 0,
        }
    }

    /// Copies `bytes` to `offset` of the file.
    ///
    /// # Panics
    /// When the range is not inside the window.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        assert!(bytes.len() <= self.room_from(offset));
        let inner = usize::try_from(offset - self.start).expect("room_from has checked it");
        // SAFETY: inner + bytes.len() <= self.len by the assert, so source and target are valid
        // for bytes.len() bytes; `bytes` is a Rust slice and the mapping is never lent out as
        // one, so they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.address.as_ptr().add(inner),
                bytes.len(),
            );
        }
    }
}

impl Drop for MappedWindow {
    fn drop(&mut self) {
        // SAFETY: address and len are those of our own mapping, which nobody uses any more.
        let unmapped = unsafe { munmap(self.address.as_ptr().cast(), self.len) };
        // Unmapping a whole mapping of our own fails only if the address is wrong: our bug.
        assert!(unmapped.is_ok(), "munmap of our own mapping: {unmapped:?}");
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
pub struct MappedBytes {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; nothing is written through it.
unsafe impl Send for MappedBytes {}
// SAFETY: as above.
unsafe impl Sync for MappedBytes {}

impl MappedBytes {
    /// Maps the first `len` bytes of `file`, which has them and which nobody writes to any more.
    pub fn map(file: &File, len: usize, _word: Unchanging) -> io::Result<MappedBytes> {
        assert!(len > 0);
        let flags = MapFlags::SHARED;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let address = unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, flags, file, 0)? };
        let Some(address) = NonNull::new(address.cast::<u8>()) else {
            return Err(io::Error::other("the kernel mapped a file at address zero"));
        };
        let mapped = MappedBytes { address, len };
        // SAFETY: the range is the mapping's own, and the advice changes no byte of it.
        // A refused hint changes nothing but speed, so its error has no reader.
        let _ = unsafe { madvise(address.as_ptr().cast(), len, Advice::Random) };
        Ok(mapped)
    }
}

impl MappedFile for MappedBytes {
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(len)?;
        if end > self.len {
            return None;
        }
        // SAFETY: start + len <= self.len, so the range lies in the mapping, which lives as long
        // as `self`. Who mapped it gave the word that nobody changes the file: the engine gives it
        // for finished files only, writes to none of them again, and the lock of the directory
        // keeps other processes' engines away.
        Some(unsafe { slice::from_raw_parts(self.address.as_ptr().add(start), len) })
    }
}

impl Drop for MappedBytes {
    fn drop(&mut self) {
        // SAFETY: address and len are those of our own mapping; no slice of it outlives `self`.
        let unmapped = unsafe { munmap(self.address.as_ptr().cast(), self.len) };
        // Unmapping a whole mapping of our own fails only if the address is wrong: our bug.
        assert!(unmapped.is_ok(), "munmap of our own mapping: {unmapped:?}");
    }
}

/// Memory straight from the kernel, and straight back.
///
/// Shape: each piece is a mapping of its own, whole pages that read as zeros.
#[derive(Clone, Copy, Debug, Default)]
pub struct MappedPages;

struct MappedPiece {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; the address stays valid until the
// one owner drops it, and is only handed out here.
unsafe impl Send for MappedPiece {}
// SAFETY: as above.
unsafe impl Sync for MappedPiece {}

// SAFETY: a private mapping at an address of the kernel's choice overlaps nothing, begins at a
// page, has `len` bytes, and stays until `drop`.
unsafe impl Piece for MappedPiece {
    fn address(&self) -> NonNull<u8> {
        self.address
    }

    fn size_bytes(&self) -> usize {
        self.len
    }
}

impl Pages for MappedPages {
    fn take(&self, bytes: usize) -> Option<Box<dyn Piece>> {
        assert!(bytes > 0);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let address =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, MapFlags::PRIVATE) };
        let address = NonNull::new(address.ok()?.cast::<u8>())?;
        Some(Box::new(MappedPiece {
            address,
            len: bytes,
        }))
    }

    // Each thread frees into the arena it took from, and only the top of an arena goes back by
    // itself: what a background thread leaves there stays resident, unused by all others.
    fn trim_heap(&self) {
        #[cfg(target_env = "gnu")]
        // SAFETY: takes the heap's own locks, and touches only what is free.
        let _was_any_given_back = unsafe { malloc_trim(0) };
    }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// Gives free pages of every arena of the C library's heap back, less `pad` bytes at its top.
    fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

impl Drop for MappedPiece {
    fn drop(&mut self) {
        // SAFETY: address and len are those of our own mapping, which nobody uses any more.
        let unmapped = unsafe { munmap(self.address.as_ptr().cast(), self.len) };
        // Unmapping a whole mapping of our own fails only if the address is wrong: our bug.
        assert!(unmapped.is_ok(), "munmap of our own mapping: {unmapped:?}");
    }
}
