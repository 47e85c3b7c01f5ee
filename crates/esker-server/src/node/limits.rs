//! How many, how much and how long: every bound of a node by its name.

use std::time::Duration;

/// Bytes of the writes that become one entry. No bound of an entry: one write alone may be longer.
pub const ENTRY_BYTES_WISHED: usize = 1 << 20;

/// How long a request waits for a group that elects: a vote among nodes that are near takes less.
pub const HOLD_MAX: Duration = Duration::from_millis(200);

/// How long a write waits for its entry where its group is led elsewhere by now, or by nobody: what
/// became of it may be known here in a moment, or once nodes are back that are away for days.
pub const UNSURE_MAX: Duration = Duration::from_secs(10);

/// Ticks for which a replica may stand still before those are answered who wait for what it is to
/// apply: two rounds of those who hand over what does not go on.
pub const STALLED_TICKS_MAX: u32 = 20;

/// Requests of one group that wait to be proposed, or for a leader.
pub const QUEUED_MAX: usize = 4096;

/// Bytes of all writes that wait for their entry, and of all entries that wait to be applied.
pub const WAITING_BYTES_MAX: usize = 256 << 20;

/// The same of the entries of one group that wait to be applied.
pub const GROUP_WAITING_BYTES_MAX: usize = 32 << 20;

/// Entries that are kept though nobody lacks them: `raft` 0.7.0 lets an answer that comes late
/// lower what a leader takes a follower to have, and near the compacted end it asks for an image
/// that nobody needs.
pub const KEPT_ENTRIES: u64 = 64;

/// Entries of one replica that are applied before another one has its turn.
pub const ENTRIES_AT_ONCE: usize = 32;

/// Bytes of rows in one page of an image: clients wait behind the reading of one.
pub const IMAGE_PAGE_BYTES: usize = 256 << 10;

/// Ticks after which an image that nobody reads is let go of: whoever fetches it asks for the next
/// page at once, and what a snapshot holds is held for all keyspaces.
pub const IMAGE_TICKS_MAX: u64 = 600;

/// The same once all have it who fetched it: another one that was told of it a moment ago may be
/// about to ask for its first page. One that has many others to fetch first comes too late, and is
/// offered another one.
pub const IMAGE_TICKS_SPARE: u64 = 30;

/// Rounds of upkeep for which groups may keep the oldest segment of a log that is too long before
/// what they keep is written anew.
pub const PIN_ROUNDS_MAX: u32 = 20;

/// Earlier processes of a directory that are remembered: a node that was opened more often since a
/// peer saw it last cannot be held against what that peer saw.
pub const LINEAGE: usize = 16;
