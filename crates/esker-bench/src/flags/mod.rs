//! The command line of db_bench: every flag once, and the two ways of spelling them.

pub mod flag;
pub mod catalog;
pub mod nearest;
pub mod given;
pub mod parse;
