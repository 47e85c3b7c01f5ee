//! How much a door takes, as plain values.

use std::time::Duration;

use esker_rpc::message::data::KeyCall;
use esker_rpc::rules::limits::WRITE_BODY_BYTES_MAX;

/// What one permit of a connection's bound stands for.
pub(crate) const PERMIT_BYTES: usize = 16 << 10;

/// Bounds of one door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at a time; further ones are closed at once.
    pub connections_max: usize,
    /// Bytes of one request's body; a longer one is stepped over and answered `ERR_INVALID_DATA`.
    pub body_bytes_max: usize,
    /// Bytes that calls of one connection stand for until their replies are written: 16 KiB for a
    /// call on a row, 1 MiB for one that may return many, and twice its own bytes for one that is
    /// longer than that. Reading pauses beyond it.
    pub in_flight_bytes_max: usize,
    /// The same for all connections of a door; a call beyond it is answered `ERR_BUSY`.
    pub door_bytes_max: usize,
    /// Bytes of replies that wait to be written to one connection before it is closed: somebody
    /// who asks and does not read. Reading pauses above half of it.
    pub unread_bytes_max: usize,
    /// How long a connection may say nothing. Clients of Pegasus open one to each server that they
    /// know of, and the one in Go dials an address at most once a minute: so it is long.
    pub idle_max: Duration,
    /// How long a request that has begun may take to be there, beyond what `pace_bytes_s_min`
    /// grants it.
    pub half_request_max: Duration,
    /// How long a peer may take to read what is written to it at once, beyond the same.
    pub slow_reader_max: Duration,
    /// Bytes a second at which a connection takes no time of these bounds: a byte now and then is
    /// no excuse for the room that a request or its reply holds.
    pub pace_bytes_s_min: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections_max: 4096,
            body_bytes_max: WRITE_BODY_BYTES_MAX,
            in_flight_bytes_max: 64 << 20,
            door_bytes_max: 1 << 30,
            unread_bytes_max: 256 << 20,
            idle_max: Duration::from_secs(3600),
            half_request_max: Duration::from_secs(30),
            slow_reader_max: Duration::from_secs(30),
            pace_bytes_s_min: 64 << 10,
        }
    }
}

impl Bounds {
    pub(crate) fn connection_permits(&self) -> usize {
        (self.in_flight_bytes_max / PERMIT_BYTES).max(many_permits())
    }

    pub(crate) fn door_permits(&self) -> usize {
        (self.door_bytes_max / PERMIT_BYTES).max(many_permits())
    }
}

/// Permits that a call takes whose arguments have so many bytes, of a bound of `permits_max`: for
/// what it may answer, or for its arguments, which are kept as they came and taken apart. One that
/// is larger than the bound takes all of it, and goes alone. Its real answer may be larger: what
/// has come of that is held against `unread_bytes_max`.
pub(crate) fn permits_of(name: &str, arguments_bytes: usize, permits_max: usize) -> u32 {
    const MANY: [&str; 4] = [
        "RPC_RRDB_RRDB_MULTI_GET",
        "RPC_RRDB_RRDB_BATCH_GET",
        "RPC_RRDB_RRDB_GET_SCANNER",
        "RPC_RRDB_RRDB_SCAN",
    ];
    debug_assert!(
        MANY.iter()
            .all(|many| KeyCall::ROWS.iter().any(|row| row.name == *many))
    );
    let answered = match MANY.contains(&name) {
        true => many_permits(),
        false => 1,
    };
    let asked = (2 * arguments_bytes).div_ceil(PERMIT_BYTES);
    u32::try_from(answered.max(asked).min(permits_max)).unwrap_or(u32::MAX)
}

/// Permits that a page takes of a door that has so many: some would be megabytes.
pub(crate) fn page_permits(permits_max: usize) -> u32 {
    u32::try_from((4 * many_permits()).min(permits_max)).unwrap_or(u32::MAX)
}

fn many_permits() -> usize {
    (1 << 20) / PERMIT_BYTES
}
