//! Short texts packed one by one: as phrases of a dictionary that was trained from a sample.
//!
//! A dictionary of up to 2^18 phrases of at most 15 bytes is trained from a sample. A record is
//! cut into the phrases that cost least, and each has a static prefix code, optionally in the
//! context of the class of the phrase before. Nothing of a record depends on another, so one is
//! unpacked in about the time that a cache miss or two take, and can be copied as it is to
//! wherever the same dictionary is known. Prose packs to about a third.
//!
//! ```
//! use std::sync::Arc;
//! use esker_phrase::{Dictionary, Effort, Encoder, Sample, Wish};
//!
//! # fn main() -> esker_phrase::Result<()> {
//! let reviews: Vec<String> = (0..2000)
//!     .map(|n| format!("I have seen this film {n} times, and it never gets old"))
//!     .collect();
//! let sample = Sample::of(reviews.iter().map(String::as_bytes));
//! let wish = Wish { phrase_count: 1000, class_count: 1 };
//! let dictionary = Arc::new(Dictionary::train(&sample, wish));
//!
//! let mut encoder = Encoder::new(&dictionary, Effort::Best);
//! let mut record = Vec::new();
//! encoder.encode(reviews[7].as_bytes(), &mut record);
//! assert!(record.len() * 3 < reviews[7].len());
//!
//! // The dictionary is kept once, the records wherever you like.
//! let dictionary = Dictionary::from_bytes(&dictionary.to_bytes())?;
//! let mut text = Vec::new();
//! dictionary.decode(&record, 1000, &mut text)?;
//! assert_eq!(text, reviews[7].as_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! Law: decoding never panics and never takes longer than linear in a text's length, whatever
//! bytes it gets. A dictionary follows from sample and wish alone, on every machine.
//!
//! The byte layouts are in `src/format.rs`. Not here: checksums of records, which are the business
//! of whoever stores them.

mod error;
mod id;
mod bytes;
mod text;
mod bits;
mod shifting;
mod log2;
mod prefix;
mod trie;
mod format;
mod parse;
mod sample;
mod code;
mod decode;
mod dictionary;
mod encoder;
mod count;
mod grow;
mod classes;
mod train;
#[cfg(any(test, feature = "corpus"))]
#[doc(hidden)]
pub mod corpus;

pub use dictionary::Dictionary;
pub use encoder::Encoder;
pub use error::{Error, Result};
pub use format::TEXT_BYTES_MAX;
pub use id::DictionaryId;
pub use parse::Effort;
pub use sample::Sample;
pub use train::{Trainer, Wish};
