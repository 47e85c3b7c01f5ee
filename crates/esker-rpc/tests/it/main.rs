//! The client against a table in memory, over loopback.
#![allow(
    clippy::disallowed_methods,
    reason = "tests of sockets stand in the real world"
)]
#![allow(
    clippy::unwrap_used,
    reason = "what these functions do is what tests do"
)]

mod memory;
mod fixture;
mod calls;
mod scans;
mod seen;
mod lost_scans;
mod routing;
mod faults;
mod metas;
mod wire;
