//! Files that are searched while they are compressed: every record is uncompressed by itself.
//!
//! A point read looks into one key page, which is small enough to stay in memory, and reads one
//! record; nothing else is uncompressed. Keys stand in the pages only as far as they must to be
//! told apart, and go on in their records.
//!
//! Law: a record is believed only after its checksum was right, which covers its key; a reader
//! keeps its key index, properties and range deletes in memory, and asks for pages by block and
//! for records by place.
//!
//! Not here: which level gets such files, and what is done about separated values.

pub mod format;
pub mod compressed;
pub mod page;
pub mod page_builder;
pub mod keys;
pub mod dictionary;
pub mod tail;
pub mod records;
pub mod window;
pub mod builder;
pub mod reader;
pub mod rank;
pub mod cursor;
pub mod verify;
pub mod salvage;
