//! How long, how many and how much: every bound of the crate by its name.

use std::time::Duration;

/// The longest time for which a voter promises to vote for nobody but its leader.
pub const PROMISE_MAX: Duration = Duration::from_secs(1);

/// Bytes of one entry's payload: a client's write of 1 MiB, and room for several in one entry.
pub const ENTRY_BYTES_MAX: usize = 4 << 20;

/// Bytes of an entry's context, which only changes of the configuration have.
pub const CONTEXT_BYTES_MAX: usize = 4 << 10;

/// Entries of one message; those of a message are bounded by bytes as well, on the sender's side.
pub const MESSAGE_ENTRIES_MAX: usize = 1 << 16;

/// Bytes of one message: what a sender puts in one (1 MiB) and one entry beyond it.
pub const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// Messages of one frame: as many as a turn takes off the inbox.
pub const FRAME_MESSAGES_MAX: usize = 4096;

/// Bytes of entries in one record of the log: one entry that is read must not cost much more.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// Bytes of one frame, but for a single message that is longer.
pub const FRAME_BYTES_MAX: usize = 8 << 20;

/// Bytes of what an image says of itself; its files travel elsewhere.
pub const IMAGE_BYTES_MAX: usize = 256 << 10;

/// Replicas of one group: seven voters are the most that makes sense, and a joint change doubles
/// them.
pub const REPLICAS_MAX: usize = 16;

/// Steps of one change of the configuration.
pub const CHANGE_STEPS_MAX: usize = REPLICAS_MAX;

/// The largest index and the largest term: far from where an addition could overflow.
pub const NUMBER_MAX: u64 = 1 << 62;

/// Messages that one turn takes off the inbox, so that ticks and saves are never far away.
pub const TURN_MESSAGES_MAX: usize = 4096;

/// Messages that wait in an inbox; those beyond are dropped, which Raft endures.
pub const INBOX_MESSAGES_MAX: usize = 1 << 16;

/// Bytes of them: as many as a second of a fast network brings.
pub const INBOX_BYTES_MAX: usize = 128 << 20;

/// Addresses that a group has learned from messages of replicas not in its configuration.
pub const LEARNED_ADDRESSES_MAX: usize = REPLICAS_MAX;

const _: () = assert!(ENTRY_BYTES_MAX < MESSAGE_BYTES_MAX);
const _: () = assert!(CONTEXT_BYTES_MAX <= u16::MAX as usize);
