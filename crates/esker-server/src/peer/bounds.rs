//! How much a door for other nodes takes, as plain values.

use std::time::Duration;

use crate::front::bounds::PERMIT_BYTES;

/// Bounds of one door for other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerBounds {
    /// Connections at a time: a node dials another once, and a cluster has dozens of nodes.
    pub connections_max: usize,
    /// Of these, connections of those who have no number: they ask for one and leave.
    pub nameless_max: usize,
    /// Of these, connections of one node; another ends its oldest. A node has one, and may have
    /// left some half open.
    pub of_node_max: usize,
    /// How long a greeting may take to come.
    pub greeting_max: Duration,
    /// How long one without a number may stay.
    pub nameless_life_max: Duration,
    /// How long a node may say nothing: it says each second that it is alive.
    pub silence_max: Duration,
    /// How often this end says so while the other's bytes come. Half of what the other end's
    /// second is, so that its question is answered.
    pub alive_every: Duration,
    /// How long a frame may take to come, or an answer to be read, beyond what `pace_bytes_s_min`
    /// grants it.
    pub stall_max: Duration,
    /// Bytes a second at which a connection takes no time of that.
    pub pace_bytes_s_min: usize,
    /// Bytes that asks of one connection stand for until their answers are written, as a client's
    /// connection has it; further ones are answered `ERR_BUSY`. Reading never pauses: frames of
    /// raft may be next.
    pub in_flight_bytes_max: usize,
    /// Bytes of answers that wait to be written to one connection before it is closed.
    pub unread_bytes_max: usize,
    /// Bytes of frames of raft that the service holds, of all connections; further ones are
    /// dropped, which raft endures.
    pub raft_bytes_max: usize,
}

impl Default for PeerBounds {
    fn default() -> PeerBounds {
        PeerBounds {
            connections_max: 256,
            nameless_max: 16,
            of_node_max: 4,
            greeting_max: Duration::from_secs(2),
            nameless_life_max: Duration::from_secs(30),
            silence_max: Duration::from_secs(5),
            alive_every: Duration::from_millis(500),
            stall_max: Duration::from_secs(10),
            pace_bytes_s_min: 64 << 10,
            in_flight_bytes_max: 64 << 20,
            unread_bytes_max: 256 << 20,
            raft_bytes_max: 128 << 20,
        }
    }
}

impl PeerBounds {
    pub(crate) fn ask_permits(&self) -> usize {
        self.in_flight_bytes_max / PERMIT_BYTES
    }

    pub(crate) fn raft_permits(&self) -> usize {
        self.raft_bytes_max / PERMIT_BYTES
    }
}

/// Permits of such bounds that so many bytes take; at most all of them.
pub(crate) fn permits_of_bytes(bytes: usize, permits_max: usize) -> u32 {
    let permits = bytes.div_ceil(PERMIT_BYTES).clamp(1, permits_max.max(1));
    u32::try_from(permits).unwrap_or(u32::MAX)
}
