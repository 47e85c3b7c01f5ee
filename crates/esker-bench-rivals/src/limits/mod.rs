//! What the disk and the memory can do without any engine: no line can beat these.

pub mod forget;
pub mod raw;
