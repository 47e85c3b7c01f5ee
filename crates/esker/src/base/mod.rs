//! Ground floor: words and arithmetic.
//!
//! Law: no files, no clocks, no threads, no locks (counters excepted). Everything here can be
//! tested with nothing but its arguments.

pub mod types;
pub mod codec;
pub mod hooks;
pub mod stats;
pub mod options;
