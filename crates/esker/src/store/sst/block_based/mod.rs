//! Files made of blocks, which are uncompressed one at a time.
//!
//! Law: a file is written in one pass, front to back; a reader keeps its footer, top index,
//! filter, properties and range deletes in memory, and asks for everything else by block.

pub mod index;
pub mod builder;
pub mod reader;
pub mod rank;
pub mod cursor;
pub mod verify;
pub mod salvage;
