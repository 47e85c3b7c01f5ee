//! An entry that was compressed by itself, as the cache keeps it.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::key::{self, Trailer};

/// A raw value with its internal key: uncompressed, and known to be right.
#[derive(Clone, Debug)]
pub struct Uncompressed {
    /// The value, and behind it the internal key.
    bytes: Arc<Vec<u8>>,
    value_len: u32,
}

impl Uncompressed {
    /// The entry with that raw value, in whose memory it stays.
    ///
    /// # Panics
    /// When the value has 4 GiB.
    pub fn new(mut value: Vec<u8>, user_key: &[u8], trailer: Trailer) -> Uncompressed {
        let value_len = u32::try_from(value.len()).expect("values are far shorter");
        // Not as much again as there is: it would stay in the cache for nothing.
        value.reserve_exact(user_key.len() + size_of::<Trailer>());
        key::encode_into(&mut value, user_key, trailer);
        Uncompressed {
            bytes: Arc::new(value),
            value_len,
        }
    }

    /// The raw value, without copying.
    #[inline]
    pub fn value(&self) -> Bytes {
        Bytes::slice_of(&self.bytes, 0..self.value_len as usize)
    }

    /// The user key, and the entry's sequence number and kind.
    #[inline]
    pub fn key(&self) -> (&[u8], Trailer) {
        key::split(&self.bytes[self.value_len as usize..])
    }

    /// Bytes of memory behind the handle.
    pub fn size_bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<Vec<u8>>()
    }

    /// Whether another handle onto its bytes is there.
    pub fn is_held_elsewhere(&self) -> bool {
        Arc::strong_count(&self.bytes) > 1
    }
}
