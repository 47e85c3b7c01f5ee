//! Index blocks: which block may hold a key.
//!
//! Law: an index block knows separators and handles, and not what the handles point to: data
//! blocks, or further index blocks.

pub mod block;
pub mod builder;
