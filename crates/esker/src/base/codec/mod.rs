//! Numbers and blocks to bytes, and back from bytes that may be damaged.
//!
//! Law: nothing here panics on any input; what cannot be read is `None` or `Corruption`.

pub mod fixed;
pub mod varint;
pub mod reader;
pub mod short_crc;
pub mod checksum;
pub mod compress;
pub mod frames;
