//! The doors for clients: sockets, bounds and frames of the wire.
//!
//! A door takes connections of one kind of address, reads requests from them, gives each to a
//! `Service` with a `Responder`, and writes what comes back. `bind` says where a door may listen,
//! `shortage` what to do where the machine gives no connection, `service` is who answers, `bounds`
//! how much a door takes, `counters` what it has refused. `http` reads the one line of HTTP that a
//! door takes, and writes the page that comes back. `outbox` holds what a connection has yet to
//! write, `writing` writes it, `pace` says whether bytes go fast enough, `dispatch` takes a request
//! apart, `door` is what all connections of one address share, `connection` serves one socket and
//! `listener` accepts them.
//!
//! Law: everything that a stranger can make grow has a bound; a bound that is reached is a typed
//! refusal, a pause in reading, or a close that is counted and logged. What nobody knows the
//! outcome of is never refused as undone.
//!
//! Not here: what a call means, and who leads the partition.

pub mod bind;
pub(crate) mod shortage;
pub mod http;
pub mod service;
pub mod bounds;
pub mod counters;
pub(crate) mod pace;
pub(crate) mod outbox;
pub(crate) mod writing;
mod dispatch;
mod door;
mod connection;
pub mod listener;

pub use bind::{NotLoopback, bind as listen, check_loopback};
pub use bounds::Bounds;
pub use counters::{Cause, Counters};
pub use door::DoorKind;
pub use http::Page;
pub use listener::{Front, Opening};
pub use service::{Caller, KeysCall, Service};
