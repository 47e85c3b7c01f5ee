//! Standard error: lines for people, with nothing in them that a terminal would obey.

use std::io::{self, Write};

use crate::text::tame;

/// Writes a line as `eprintln!` would.
macro_rules! remark {
    ($($part:tt)*) => { $crate::remark::say(&format!($($part)*)) };
}

/// Writes a line on standard error.
pub fn say(line: &str) {
    let line = format!("{}\n", tame(line));
    // Where nobody listens nothing can be told; what the command does goes on, and so does its
    // exit code.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
