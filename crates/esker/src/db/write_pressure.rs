//! What a write to a keyspace would meet now: for who must not wait, and admits work by it.

use crate::db::core::Core;
use crate::db::flushing::memtable_bytes;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::rate_limiter::RATE_UNLIMITED;

/// What a write to a keyspace would meet now. Cheap to ask for: it reads what the background has
/// set, and waits for no writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePressure {
    /// Whether it would wait, or be refused.
    pub state: WriteState,
    /// Bytes that compactions have yet to move before the keyspace's levels have their shape, as of
    /// its last flush or compaction.
    pub debt_bytes: u64,
    /// Bytes of its memtables, which are in no file.
    pub unflushed_bytes: u64,
    /// Whether a flush of it waits until the user's own log is durable ([`OwnLog`](crate::OwnLog)).
    pub is_parked: bool,
}

/// Whether a write would wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// It is written at once.
    Open,
    /// It may have to wait for the keyspace's rate: compactions are behind.
    Slowed {
        /// Bytes that may be written in a second.
        bytes_per_s: u64,
        /// Why.
        reason: String,
    },
    /// It waits until there is memory, or is refused.
    Stopped {
        /// Why.
        reason: String,
    },
}

/// What a write to that keyspace would meet.
pub fn of(core: &Core, parts: &KeyspaceParts) -> WritePressure {
    let (rate, debt_bytes, hindrance) = core.write_controller.pressure(parts.id);
    let state = match (
        core.gate.check_write(),
        core.write_controller.memory_shortage(),
    ) {
        (Err(error), _) => WriteState::Stopped {
            reason: error.to_string(),
        },
        (Ok(()), Some(reason)) => WriteState::Stopped { reason },
        (Ok(()), None) if rate != RATE_UNLIMITED => WriteState::Slowed {
            bytes_per_s: rate,
            reason: match hindrance {
                Some(what) => format!("compaction is behind, since {what}"),
                None => "compaction is behind".into(),
            },
        },
        _ => WriteState::Open,
    };
    let hold = parts.hold.as_ref();
    WritePressure {
        state,
        debt_bytes,
        unflushed_bytes: memtable_bytes(&parts.current.view()),
        is_parked: hold.is_some_and(|hold| hold.is_parked(core.env.clock.monotonic())),
    }
}

#[cfg(test)]
mod tests;
