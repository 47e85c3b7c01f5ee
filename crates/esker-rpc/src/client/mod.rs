//! Who asks: a client of any cluster that speaks this wire.
//!
//! `connection` is one socket with many calls in flight, `pool` has one to each server. `metas`
//! asks whichever meta server leads, `route` keeps which data server leads which partition, and
//! `sending` brings a call to its partition. `table` has the calls a program makes, `scanner` goes
//! over many rows, `admin` creates and lists tables, and `places` says what nodes and replicas do.
//!
//! Law: a write that may have reached a server is not sent again, unless twice is as once and the
//! caller asked for it; its caller is told that nobody knows what became of it. Every wait ends at
//! the deadline of its call.
//!
//! Needs a runtime of tokio. Not here: what a server does with a call.

pub mod settings;
pub mod failure;
mod connection;
mod pool;
mod metas;
mod route;
mod sending;
pub mod table;
pub mod scanner;
pub mod admin;
mod places;

pub use crate::client::admin::{Admin, NewTable};
pub use crate::client::failure::{ClientError, Result};
pub use crate::client::scanner::{ScanRow, ScanSettings, Scanner};
pub use crate::client::settings::{CallSettings, ClientSettings};
pub use crate::client::table::{Checked, Client, MultiGet, Rows, Table};
