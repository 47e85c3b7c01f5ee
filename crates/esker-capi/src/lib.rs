//! libesker: the C interface of the engine, as `esker/c.h` declares it.
//!
//! From the ground up: how a call answers, what a write or a read is asked for by flags, numbers
//! of a page of metrics, and the border to C, the only room with unsafe code. There is no logic of
//! storage here: each function checks what it was given, calls what the Rust interface has, and
//! answers. Decision 0034 says why it is made as it is.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests start threads")
)]

pub mod answer;
pub mod flags;
pub mod samples;
pub mod abi;
