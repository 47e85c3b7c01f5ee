//! What an image says of itself: its place in the log, the members there, what is in it.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64, little-endian | index of the last entry that the image has in it |
//! | 8 | 8 | u64, little-endian | term of that entry |
//! | 16 | … | configuration | as of that index, as `configuration.rs` has it |
//! | … | 4 | u32, little-endian | length of the contents |
//! | … | … | bytes | contents: whatever lets the other side fetch the image |
//!
//! Valid if and only if index and term are 1 to 2^62, the configuration is valid, not newer than
//! the index and has a voter, and the contents are within `limits.rs`.

use bytes::Bytes;
use raft::eraftpb::Snapshot;

use crate::codec::{DecodeError, Put, Reader};
use crate::configuration::Configuration;
use crate::limits::{IMAGE_BYTES_MAX, NUMBER_MAX};

/// The state of a group as of one index, without the state itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The last entry that the image has in it.
    pub index: u64,
    /// Its term.
    pub term: u64,
    /// The members as of this very index, not those of today.
    pub configuration: Configuration,
    /// What the other side needs to fetch the image: checkpoint, files, sizes, checksums.
    pub contents: Bytes,
}

impl Ticket {
    /// Appends the ticket to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        assert!(self.contents.len() <= IMAGE_BYTES_MAX);
        out.put_u64(self.index);
        out.put_u64(self.term);
        self.configuration.encode(out);
        out.put_bytes(&self.contents);
    }

    /// The ticket that `bytes` are, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Ticket, DecodeError> {
        let mut reader = Reader::new(bytes);
        let ticket = Ticket::read(&mut reader)?;
        reader.end()?;
        Ok(ticket)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Ticket, DecodeError> {
        let index = reader.u64_to(NUMBER_MAX, "index of an image")?;
        let term = reader.u64_to(NUMBER_MAX, "term of an image")?;
        let configuration = Configuration::read(reader)?;
        let is_placed = index > 0 && term > 0 && configuration.version <= index;
        if !is_placed || configuration.voters.is_empty() {
            return Err(reader.refuse("image with its configuration"));
        }
        let contents = reader.bytes(IMAGE_BYTES_MAX, "contents of an image")?;
        Ok(Ticket {
            index,
            term,
            configuration,
            contents: contents.to_vec().into(),
        })
    }

    /// As `raft` carries it.
    pub(crate) fn to_raft(&self) -> Snapshot {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        let mut snapshot = Snapshot {
            data: bytes.into(),
            ..Snapshot::default()
        };
        let metadata = snapshot.mut_metadata();
        metadata.index = self.index;
        metadata.term = self.term;
        metadata.set_conf_state(self.configuration.conf_state());
        snapshot
    }

    /// What `raft` gives back of [`Ticket::to_raft`].
    ///
    /// # Panics
    ///
    /// On anything else: a snapshot comes into `raft` by way of a ticket only.
    pub(crate) fn of_raft(snapshot: &Snapshot) -> Ticket {
        Ticket::decode(&snapshot.data).expect("this crate wrote the ticket")
    }
}
