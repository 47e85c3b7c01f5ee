//! The disk without any engine: what it can do, what lies on it, what the system caches of it.
//!
//! Law: nothing here knows an engine. No line of a benchmark can beat the limits measured here.

pub mod advice;
pub mod space;
pub mod forget;
pub mod raw;
