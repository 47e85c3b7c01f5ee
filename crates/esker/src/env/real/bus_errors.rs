//! Stores into mapped files that the system cannot make: noted here instead of ending the process.
//!
//! # What happens
//! A store to a page that the file system cannot provide is a SIGBUS to the thread that stores. The
//! handler here looks whether the address lies in a [`Guarded`] stretch. If so it puts memory of no
//! file in the place of the whole stretch, notes that, and returns: the store is made again, into
//! that memory, and whoever copied asks [`Guarded::has_failed`] behind it. Any other SIGBUS goes on
//! to the handler that was there before, as if there were none of ours: Rust's own, which looks for
//! overflown stacks, that of a Java machine or a reporter of crashes, or the system's,
//! which ends the process. Why a handler and not a call ahead of each store:
//! docs/decisions/0013-a-store-that-fails.md.
//!
//! The handler stays installed. One that is installed later and does not pass on what it does not
//! know takes this away again: then a failed store ends the process, and harms nothing else.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};

use libc::{SA_ONSTACK, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, sigaction, siginfo_t};
use rustix::mm::{ProtFlags, mmap_anonymous};

use crate::env::real::system::REPLACING;

// One for each log that is being written through a map, which is one for each open database. What
// finds none is not mapped. 32 KiB that no memory is taken for until they are used.
const SLOTS: usize = 1_024;

static GUARDED: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

// What handled the signal before; null until the handler is installed.
static BEFORE: AtomicPtr<sigaction> = AtomicPtr::new(ptr::null_mut());

#[derive(Debug)]
struct Slot {
    is_taken: AtomicBool,
    has_failed: AtomicBool,
    /// Address; 0 while there is nothing to guard.
    start: AtomicUsize,
    len: AtomicUsize,
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            is_taken: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
        }
    }

    // Whether the slot guards the address. Only whoever owns the stretch stores into it, and only
    // while it is guarded: so the slot that is looked for does not change meanwhile, and one that
    // does is another one.
    fn has(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        let len = self.len.load(Ordering::Relaxed);
        // Read again, so that an old start never goes with a new length.
        let is_same = self.start.load(Ordering::Acquire) == start;
        start != 0 && is_same && address.wrapping_sub(start) < len
    }
}

/// A mapped stretch of memory, into which a store may fail.
///
/// Owned by the one who stores into it, from one thread at a time.
#[derive(Debug)]
pub struct Guarded {
    slot: &'static Slot,
}

impl Guarded {
    /// Guards `len` bytes from `start`; `None` where so many are guarded that there is no place for
    /// one more, or the system does not let the signal be handled.
    ///
    /// # Safety
    /// They are whole pages of a mapping of the caller's own, which stays until the value is
    /// dropped. Nobody reads them: after a failed store they are no longer the file's.
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> Option<Guarded> {
        if !is_installed() {
            return None;
        }
        let take = |slot: &&Slot| {
            // Acquire pairs with the Release in `drop`: what the owner before did is over.
            let (free, taken) = (Ordering::Relaxed, Ordering::Acquire);
            !slot.is_taken.load(free)
                && (slot.is_taken)
                    .compare_exchange(false, true, taken, free)
                    .is_ok()
        };
        let slot = GUARDED.iter().find(take)?;
        slot.has_failed.store(false, Ordering::Relaxed);
        slot.len.store(len, Ordering::Relaxed);
        // Release: who sees the start sees the length that belongs to it.
        slot.start.store(start.as_ptr().addr(), Ordering::Release);
        Some(Guarded { slot })
    }

    /// Whether a store failed since the stretch was guarded; to be asked by the thread that stored.
    #[inline]
    pub fn has_failed(&self) -> bool {
        // The handler runs in the middle of a store, which the compiler must not move behind this.
        compiler_fence(Ordering::SeqCst);
        // Relaxed: it was set by a handler in this same thread.
        self.slot.has_failed.load(Ordering::Relaxed)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.slot.start.store(0, Ordering::Release);
        self.slot.is_taken.store(false, Ordering::Release);
    }
}

fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(install)
}

// Known before ours is there, so that ours never runs without knowing what was.
fn install() -> bool {
    let mut before = MaybeUninit::<sigaction>::uninit();
    // SAFETY: asks only, and fills in `before` if it succeeds.
    if unsafe { libc::sigaction(SIGBUS, ptr::null(), before.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: it succeeded. A signal may come at any time from now on, so it is never given back.
    let before = Box::leak(Box::new(unsafe { before.assume_init() }));
    // The mask of signals that wait meanwhile is the one before: no others than for that handler.
    let mut ours = *before;
    ours.sa_sigaction = on_sigbus as *const () as usize;
    // Threads of others may have small stacks, and one for signals beside.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    BEFORE.store(ptr::from_mut(before), Ordering::Release);
    // SAFETY: `on_sigbus` has the signature that SA_SIGINFO asks for, and does only what a handler
    // may: it looks at atomics and makes calls of the system.
    unsafe { libc::sigaction(SIGBUS, &raw const ours, ptr::null_mut()) == 0 }
}

extern "C" fn on_sigbus(signal: c_int, told: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a whole siginfo_t; it has an address if the signal is a store's.
    let address = unsafe {
        match (*told).si_code {
            libc::BUS_ADRERR => Some((*told).si_addr().addr()),
            _ => None,
        }
    };
    let slot = address.and_then(|address| GUARDED.iter().find(|slot| slot.has(address)));
    match slot {
        Some(slot) if replace(slot) => slot.has_failed.store(true, Ordering::Relaxed),
        // SAFETY: what the kernel handed us is handed on.
        _ => unsafe { pass_on(signal, told, context) },
    }
}

// Puts memory of no file in the place of the stretch. What was stored before is the file's already.
fn replace(slot: &Slot) -> bool {
    let start = slot.start.load(Ordering::Relaxed);
    let len = slot.len.load(Ordering::Relaxed);
    let start = ptr::with_exposed_provenance_mut(start);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the stretch is a mapping of whoever guards it, who is in the middle of a store into
    // it, reads nothing from it, and gives it back by the same call.
    unsafe { mmap_anonymous(start, len, protection, REPLACING).is_ok() }
}

// # Safety: with what the kernel handed to a handler, and in it.
unsafe fn pass_on(signal: c_int, told: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: set before the handler was installed, and never given back or changed.
    let before = unsafe { &*BEFORE.load(Ordering::Acquire) };
    match before.sa_sigaction {
        SIG_DFL | SIG_IGN => {
            // SAFETY: as above. What a process sent (a code of 0 or below) may be ignored; what a
            // store met may not, since it would be met again for ever.
            let is_sent = unsafe { (*told).si_code } <= 0;
            if is_sent && before.sa_sigaction == SIG_IGN {
                return;
            }
            // SAFETY: all zeros is a valid action: the system's own, with no flags and no mask.
            let mut default: sigaction = unsafe { mem::zeroed() };
            default.sa_sigaction = SIG_DFL;
            // SAFETY: a store that is made again ends the process now; for a signal that was sent
            // another one is, which waits until this handler has returned.
            unsafe {
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if is_sent {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & SA_SIGINFO != 0 => {
            // SAFETY: a handler that was installed with SA_SIGINFO has this signature.
            let handler = unsafe {
                mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler)
            };
            handler(signal, told, context);
        }
        handler => {
            // SAFETY: a handler that was installed without SA_SIGINFO has this one.
            let handler = unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests;
