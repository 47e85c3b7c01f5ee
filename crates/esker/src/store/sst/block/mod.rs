//! The unit of reading: some thousand bytes of entries, in order.
//!
//! Law: what is inside a block is believed only after its checksum was right, and even then
//! every length is held against the block's end: no bytes make a reader panic or turn in circles.

pub mod format;
pub mod builder;
pub mod writer;
pub mod checked;
pub mod search;
pub mod gather;
pub mod cursor;
pub mod point;
pub mod readahead;
pub mod around;
pub mod uncompressed;
pub mod buffers;
pub mod announcer;
pub mod fetch;
pub mod stray;
