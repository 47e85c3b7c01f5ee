//! Texts as phrases: short codes for what a family of texts has in common.
//!
//! A dictionary of up to 2^18 phrases of at most 15 bytes is trained from a sample. A record is
//! cut into the phrases that cost least, and each has a static prefix code, optionally in the
//! context of the class of the phrase before. Nothing of a record depends on another, so one is
//! unpacked in about the time that a cache miss or two take, and can be copied as it is to
//! wherever the same dictionary is known.
//!
//! Law: decoding never panics and never takes longer than linear in a text's length, whatever
//! bytes it gets. A dictionary follows from sample and wish alone, on every machine.
//!
//! Not here: checksums of records, which are the business of whoever stores them.

pub mod text;
pub mod bits;
pub mod shifting;
pub mod log2;
pub mod prefix;
pub mod trie;
pub mod format;
pub mod parse;
pub mod sample;
pub mod code;
pub mod decode;
pub mod dictionary;
pub mod encoder;
pub mod count;
pub mod grow;
pub mod classes;
pub mod train;
#[cfg(test)]
pub mod corpus;

pub use dictionary::Dictionary;
pub use encoder::Encoder;
pub use parse::Effort;
pub use sample::Sample;
pub use train::{Trainer, Wish};
