//! A shared immutable byte string, cheap to clone and to slice.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Longest string kept inside the handle itself: fills the handle's 32 bytes, and holds a
/// counter or a short key without an allocation.
const INLINE_BYTES_MAX: usize = 30;

/// A part of shared memory that is smaller than all of it divided by this is copied out of it by
/// [`Bytes::of_shared`]. So the handle never keeps more than eight times its own length in memory.
const PINNED_DIVISOR: usize = 8;

/// A shared immutable byte string.
///
/// Shape: 32 bytes; up to 30 bytes lie inside the handle, longer strings are a range of a shared
/// buffer that lives as long as its last handle. A value of an eighth of what it lies in or more is
/// such a range: reading it copies nothing, and it stays valid however long it is kept. A smaller
/// one is copied where much is kept so, that who keeps it does not keep all around it.
#[derive(Clone)]
pub struct Bytes(Repr);

#[derive(Clone)]
enum Repr {
    Inline {
        len: u8,
        bytes: [u8; INLINE_BYTES_MAX],
    },
    /// Of a buffer that somebody filled as it grew.
    Shared {
        buffer: Arc<Vec<u8>>,
        start: u32,
        len: u32,
    },
    /// Of shared memory, whose bytes lie right behind the count of their holders.
    Counted {
        memory: Arc<[u8]>,
        start: u32,
        len: u32,
    },
}

const _: () = assert!(std::mem::size_of::<Bytes>() == 32);

impl Bytes {
    /// The empty string.
    pub const EMPTY: Bytes = Bytes(Repr::Inline {
        len: 0,
        bytes: [0; INLINE_BYTES_MAX],
    });

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Bytes {
        Bytes::inline(bytes).unwrap_or_else(|| Bytes::alone(bytes))
    }

    /// The part `range` of a shared buffer, without copying (short parts are copied inline).
    ///
    /// # Panics
    /// When the range lies outside the buffer or beyond 4 GiB.
    pub fn slice_of(buffer: &Arc<Vec<u8>>, range: Range<usize>) -> Bytes {
        let part = &buffer[range.clone()];
        if let Some(inline) = Bytes::inline(part) {
            return inline;
        }
        let (start, len) = narrow(&range);
        Bytes(Repr::Shared {
            buffer: Arc::clone(buffer),
            start,
            len,
        })
    }

    /// The part `range` of shared memory: a part of it, or a copy where the part is less than an
    /// eighth.
    ///
    /// # Panics
    /// When the range lies outside or beyond 4 GiB.
    pub fn of_shared(memory: &Arc<[u8]>, range: Range<usize>) -> Bytes {
        let part = &memory[range.clone()];
        if let Some(inline) = Bytes::inline(part) {
            return inline;
        }
        if part.len() < memory.len() / PINNED_DIVISOR {
            return Bytes::alone(part);
        }
        Bytes::pinning(memory, range)
    }

    /// The part `range` of shared memory, without copying (short parts are copied inline).
    ///
    /// # Panics
    /// As [`Bytes::of_shared`].
    pub fn pinning(memory: &Arc<[u8]>, range: Range<usize>) -> Bytes {
        let part = &memory[range.clone()];
        if let Some(inline) = Bytes::inline(part) {
            return inline;
        }
        let (start, len) = narrow(&range);
        Bytes(Repr::Counted {
            memory: Arc::clone(memory),
            start,
            len,
        })
    }

    /// The part `range` of this string, sharing its buffer or copied out of it as in
    /// [`Bytes::of_shared`].
    ///
    /// # Panics
    /// When the range lies outside the string.
    pub fn slice(&self, range: Range<usize>) -> Bytes {
        match &self.0 {
            Repr::Inline { .. } => Bytes::copy_of(&self[range]),
            Repr::Shared { buffer, start, len } => {
                assert!(range.end <= *len as usize);
                let base = *start as usize;
                Bytes::slice_of(buffer, base + range.start..base + range.end)
            }
            Repr::Counted { memory, start, len } => {
                assert!(range.end <= *len as usize);
                let base = *start as usize;
                Bytes::of_shared(memory, base + range.start..base + range.end)
            }
        }
    }

    /// Bytes of memory that this handle keeps alive beyond itself.
    pub fn pinned_bytes(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => 0,
            Repr::Shared { buffer, .. } => buffer.len(),
            Repr::Counted { memory, .. } => memory.len(),
        }
    }

    // With memory of its own, in one piece.
    fn alone(part: &[u8]) -> Bytes {
        let (start, len) = narrow(&(0..part.len()));
        Bytes(Repr::Counted {
            memory: Arc::from(part),
            start,
            len,
        })
    }

    fn inline(part: &[u8]) -> Option<Bytes> {
        let len = u8::try_from(part.len()).ok()?;
        let mut bytes = [0; INLINE_BYTES_MAX];
        bytes.get_mut(..part.len())?.copy_from_slice(part);
        Some(Bytes(Repr::Inline { len, bytes }))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared { buffer, start, len } => {
                &buffer[*start as usize..*start as usize + *len as usize]
            }
            Repr::Counted { memory, start, len } => {
                &memory[*start as usize..*start as usize + *len as usize]
            }
        }
    }
}

fn narrow(range: &Range<usize>) -> (u32, u32) {
    let narrow = |number| u32::try_from(number).expect("buffers are shorter than 4 GiB");
    (narrow(range.start), narrow(range.len()))
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        let len = bytes.len();
        Bytes::slice_of(&Arc::new(bytes), 0..len)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes::copy_of(bytes)
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Vec<u8> {
        bytes.to_vec()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::EMPTY
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Bytes {
    fn eq(&self, other: &T) -> bool {
        self[..] == *other.as_ref()
    }
}

impl Eq for Bytes {}

impl PartialOrd for Bytes {
    fn partial_cmp(&self, other: &Bytes) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    fn cmp(&self, other: &Bytes) -> std::cmp::Ordering {
        self[..].cmp(&other[..])
    }
}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests;
