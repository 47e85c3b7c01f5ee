//! Clusters of real processes whose leaders are killed, frozen and cut off under their clients.
//!
//! What clients saw is held against what may be seen.

#[allow(dead_code, reason = "the simulated cluster uses more of it than these")]
#[path = "../../../../esker-server/tests/it/whole/linear.rs"]
mod linear;
mod chance;
mod processes;
mod timeline;
mod probes;
mod registers;
mod kills;
mod cut_links;
