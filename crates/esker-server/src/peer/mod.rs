//! What nodes say to one another, on a port of their own.
//!
//! A node dials each node that it has something to say to: frames of raft, and asks with their
//! answers go over the connection that the asker dialled. `format` has the frames, `ask` what is
//! asked, `registry` who holds which identity, `cause` why nodes do not speak, `bounds` how much a
//! listener takes and `places` which connections it has. `link` is the dialler's end and keeps
//! itself up: `outgoing` is what it has yet to send, `dialling` its task. `listener` is the other
//! end, and `links` has a link to each node whose address is known.
//!
//! Law: bytes of strangers are held against a bound before room is made for them, and against a
//! checksum before anybody reads them. Frames of raft that find no room are dropped, which raft
//! endures; an ask that finds none is refused, and one that was sent and not answered is unknown.
//! Nobody waits for anything but bytes while frames may come, and silence is death.
//!
//! What is believed: whoever can reach a door of this kind says who it is, and is believed. One
//! that invents ten thousand numbers, or says a node's number with the greatest incarnation, shuts
//! real nodes out until those that heard it are started again. Only this machine can reach a door.
//!
//! Not here: encryption (addresses are loopback), and what an ask means.

pub mod format;
pub mod ask;
pub mod registry;
pub mod cause;
pub mod bounds;
pub(crate) mod places;
pub(crate) mod outgoing;
pub(crate) mod dialling;
pub mod link;
pub mod listener;
pub mod links;
