//! Many Raft groups on one machine: message, tick or proposal in; save, send, apply out.
//!
//! A [`Shard`] has the groups of one thread. Its owner gives it what happened (messages, a tick,
//! what the disk and the state machines have done, what callers ask) and takes a turn; the
//! [`Output`] says what to do: records for the log of all groups, messages by destination,
//! committed entries to apply, reads that may be served. The consensus core is the crate `raft`;
//! what it leaves to its user is here.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//! use std::time::Duration;
//! use esker_raft::*;
//!
//! // A log that nobody reads: what a few turns append is in memory.
//! struct Unread;
//! impl LogRead for Unread {
//!     fn entries(
//!         &self, _: GroupId, _: u64, _: u64, _: u64,
//!     ) -> Result<Vec<entry::Entry>, ReadError> {
//!         Err(ReadError::Unavailable)
//!     }
//!     fn term(&self, _: GroupId, _: u64) -> Result<u64, ReadError> {
//!         Err(ReadError::Unavailable)
//!     }
//! }
//!
//! let (group, replica, node) = (GroupId(7), ReplicaId(1), NodeId(1));
//! let member = Member { group, replica };
//! let mut shard = Shard::new(node, Options::default(), Arc::new(Unread), BTreeMap::new());
//! shard.start(group, replica, Start::First(vec![(replica, node)])).expect("a new group");
//! let mut applied = Vec::new();
//! for turn in 0..30 {
//!     if turn == 25 {
//!         shard.propose(group, Token(1), "a write".into()).expect("the only voter leads");
//!     }
//!     let output = shard.turn(true, Duration::from_millis(100 * turn));
//!     shard.durable(output.save.number);
//!     for apply in output.applies {
//!         applied.extend(apply.entries.iter().filter_map(|entry| entry.token));
//!         shard.applied(member, apply.entries.last().expect("never empty").index);
//!     }
//! }
//! assert_eq!(applied, [Token(1)]);
//! ```
//!
//! Law: no file, clock, socket, thread or lock; the same calls give the same answers.
//!
//! Not here: the log on a disk, checkpoints and their transfer, connections, state machines, and
//! who decides which replica goes where.

mod limits;
mod ids;
pub mod codec;
mod configuration;
mod change;
pub mod entry;
mod ticket;
mod message;
mod record;
mod log;
mod cache;
mod image;
mod store;
mod timeout;
mod proposals;
mod membership;
mod lease;
mod read;
mod output;
mod options;
mod start;
mod screen;
mod leaving;
mod alone;
mod group;
mod farewell;
mod answers;
mod step;
mod asks;
mod going_alone;
mod collect;
mod shard;

pub use change::{Change, ChangeStep};
pub use codec::DecodeError;
pub use collect::Keep;
pub use configuration::Configuration;
pub use group::{Refusal, Status};
pub use ids::{GroupId, Member, NodeId, Point, ReplicaId, SaveNumber, Token};
pub use lease::Lease;
pub use limits::PROMISE_MAX;
pub use log::{LogRead, LogState, ReadError, Save};
pub use membership::ChangeRefusal;
pub use message::{Body, Envelope, Step, decode_frame, encode_frame, encode_frames};
pub use options::Options;
pub use output::{Apply, Committed, Effect, Event, Install, Output, ServedRead};
pub use proposals::Outcome;
pub use record::{HardState, Record};
pub use shard::{InboxFull, Shard};
pub use start::{FIRST, Mark, Start, StartError};
pub use ticket::Ticket;
