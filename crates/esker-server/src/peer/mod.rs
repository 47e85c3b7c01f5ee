//! What nodes say to one another, on a port of their own.
//!
//! A node dials each node that it has something to say to: frames of raft, and asks with their
//! answers go over the connection that the asker dialled. `format` has the frames, `ask` what is
//! asked, `registry` who holds which identity. `link` is the dialler's end and keeps itself up,
//! `listener` the other end, `links` has a link to each node whose address is known.
//!
//! Law: bytes of strangers are held against a bound before room is made for them, and against a
//! checksum before anybody reads them. Frames of raft that find no room are dropped, which raft
//! endures; an ask that finds none is refused, and one that was sent and not answered is unknown.
//!
//! Not here: encryption (addresses are loopback), and what an ask means.

pub mod format;
pub mod ask;
pub mod registry;
pub mod link;
pub mod listener;
pub mod links;
