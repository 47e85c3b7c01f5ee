//! The library as a C programmer meets it: installed, compiled against, linked and run.
#![allow(clippy::disallowed_methods, reason = "a test stands in the real world")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod installed;
mod programs;
mod headers;
mod signatures;
mod beside_rust;
