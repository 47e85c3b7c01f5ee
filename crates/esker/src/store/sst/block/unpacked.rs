//! A record that was packed by itself, as the cache keeps it.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;

/// A raw value and the part of its key that is stored beside it: unpacked, and known to be right.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// The value, and behind it the part of the key.
    bytes: Arc<Vec<u8>>,
    value_len: u32,
}

impl Unpacked {
    /// The record with that raw value, in whose memory it stays, and that part of its key.
    ///
    /// # Panics
    /// When the value has 4 GiB.
    pub fn new(mut value: Vec<u8>, key_part: &[u8]) -> Unpacked {
        let value_len = u32::try_from(value.len()).expect("values are far shorter");
        // Not as much again as there is: it would stay in the cache for nothing.
        value.reserve_exact(key_part.len());
        value.extend_from_slice(key_part);
        Unpacked {
            bytes: Arc::new(value),
            value_len,
        }
    }

    /// The raw value, without copying.
    #[inline]
    pub fn value(&self) -> Bytes {
        Bytes::slice_of(&self.bytes, 0..self.value_len as usize)
    }

    /// The part of the key.
    #[inline]
    pub fn key_part(&self) -> &[u8] {
        &self.bytes[self.value_len as usize..]
    }

    /// Bytes of memory behind the handle.
    pub fn size_bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<Vec<u8>>()
    }
}
