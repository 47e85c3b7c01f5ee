//! Records from files of text: lines of any input, packed or not, and review records.
//!
//! A source gives lines, a parser makes records of them or says what is wrong and where. No input
//! makes a parser panic.
//!
//! Not here: the other formats that the tool loads, which only it needs.

pub mod lines;
pub mod source;
pub mod record;
pub mod snap;
