//! Threads, sockets and clocks around the stages of a node, and its configuration.
//!
//! `quantity` reads bytes and durations, `settings` is what a node may be told, `catalog` tells
//! each setting once, `config` reads files and words by it and says where each value came from;
//! `descriptors` lets them fit what the process may have.
//! `opening` is what comes before the parts of a node, and `launch` starts them: `raft_thread` with
//! the side of meta (`brain`, and what it leans on: `surroundings`), `log_thread`, `apply_thread`,
//! `read_threads`, `image_thread`, `compact_thread`; `inbox` and `pending` are how others speak to
//! them, `known` is what all of them know (`meta_watch` says whether anybody leads meta), `delays`
//! is who waits for a limit, `quick_reads` says which reads need no thread of their own, `slow_log`
//! keeps calls that took long, `pages` is what a node shows over HTTP (`metrics_text`), `service`
//! is the node as clients see it and `submitting` its calls on keys (`misdirected` counts those for
//! nobody), `peer_service` is the node as other nodes see it, `first_start` makes a directory a
//! node's, `other_cluster` tells one that is out of place, and `running` is what whoever started it
//! holds. `recovering` is the deed upon a node that is stopped, and `living` says whether the
//! others are against it.
//!
//! Law: a setting that nobody knows is refused with a hint; whatever starts here ends here.
//!
//! Not here: what a node does with a message.

pub mod quantity;
pub mod settings;
pub mod catalog;
pub mod config;
mod disk_size;
mod descriptors;
mod moments;
mod fault;
mod threads;
mod inbox;
mod meta_watch;
mod known;
mod metrics_text;
mod slow_log;
mod pending;
mod delays;
mod quick_reads;
mod read_threads;
mod log_thread;
mod complaints;
mod apply_thread;
mod image_thread;
mod compact_thread;
mod repeats;
mod surroundings;
mod brain;
mod shortage;
mod raft_thread;
mod misdirected;
mod pages;
mod service;
mod submitting;
mod peer_service;
mod other_cluster;
mod first_start;
mod opening;
mod place;
pub mod launch;
pub mod running;
pub mod recovering;
pub mod living;

pub use place::Place;
pub use recovering::{MetaFound, look_at_meta, recover_meta};
pub use running::{Node, StartError};
