//! The words every floor speaks.
//!
//! Law: plain values and pure functions; nothing here performs I/O, takes a lock or allocates
//! behind the caller's back.
//!
//! Not here: how numbers become bytes (`base/codec`), settings (`base/options`).

pub mod error;
pub mod limits;
pub mod ids;
pub mod id_map;
pub mod bytes;
pub mod spare;
pub mod seqno;
pub mod kind;
pub mod shown_key;
pub mod user_code;
pub mod comparator;
pub mod key;
pub mod expiry;
pub mod entry;
pub mod range;
pub mod range_delete;
pub mod prefix;
pub mod chunk_writer;
pub mod entry_chunk;
pub mod cursor;
