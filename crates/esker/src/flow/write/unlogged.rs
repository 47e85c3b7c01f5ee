//! Keyspaces that are kept out of the log: what may be written to them, and their marks.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::KeyspaceId;
use crate::env::clock::Clock;
use crate::flow::write::active::Active;

/// A mark that comes with a batch.
#[derive(Clone, Debug)]
pub struct NewMark {
    /// Whose mark it is.
    pub keyspace: KeyspaceId,
    /// 1 to [`MARK_BYTES_MAX`](crate::base::types::limits::MARK_BYTES_MAX) bytes.
    pub bytes: Bytes,
    /// What time it is from then on, in unix milliseconds; only of a keyspace with a clock of its
    /// own, which never goes back.
    pub unix_ms: Option<u64>,
}

impl Active {
    /// Refuses a batch over `keyspaces` that would be logged though one of them is unlogged, and
    /// one with a mark of a keyspace that is logged or is not the one that is written to. Under
    /// the lock of all writers, in the one write path: so no writer can forget it.
    ///
    /// Errors: `Invalid`, also for a keyspace that was dropped.
    pub fn check_unlogged(
        &self,
        keyspaces: &[KeyspaceId],
        mark: Option<&NewMark>,
        is_logged: bool,
    ) -> Result<()> {
        for &keyspace in keyspaces {
            if self.table(keyspace)?.is_unlogged() && is_logged {
                return Err(logged_write(None, keyspaces.len()));
            }
        }
        let Some(mark) = mark else {
            return Ok(());
        };
        if !self.table(mark.keyspace)?.is_unlogged() {
            return Err(marked_log(None));
        }
        if let Some(other) = keyspaces.iter().find(|id| **id != mark.keyspace) {
            self.table(*other)?;
            return Err(logged_write(None, keyspaces.len() + 1));
        }
        Ok(())
    }

    /// Prepares these keyspaces for the entries of a batch that is in no log, which come next, and
    /// takes its mark. Before them: a memtable that the batch fills is sealed with the mark up to
    /// which it holds everything.
    pub fn begin_unlogged(
        &mut self,
        keyspaces: &[KeyspaceId],
        mark: Option<&NewMark>,
    ) -> Result<()> {
        for &keyspace in keyspaces {
            self.table(keyspace)?.writer.table().note_unlogged();
        }
        if let Some(mark) = mark {
            let table = self.table_mut(mark.keyspace)?;
            table.mark = Some(mark.bytes.clone());
            table.is_mark_new = true;
            if let (Some(clock), Some(unix_ms)) = (&table.clock, mark.unix_ms) {
                clock.tell(unix_ms);
            }
        }
        Ok(())
    }

    /// What time it is for who writes to these keyspaces: by the machine's clock, or by its own
    /// where that is one that has it, which a batch writes to alone.
    pub fn now_unix_ms(&self, keyspaces: &[KeyspaceId], machine: &dyn Clock) -> u64 {
        let only = match keyspaces {
            [only] => self.table(*only).ok(),
            _ => None,
        };
        let told = only.and_then(|table| table.clock.as_ref());
        told.map_or_else(|| machine.unix_millis(), |clock| clock.unix_ms())
    }

    /// Refuses a transaction that touches these keyspaces if it cannot be prepared: one of them is
    /// unlogged, or gone. Errors: `Invalid`.
    pub fn check_preparable<'a>(
        &self,
        keyspaces: impl Iterator<Item = &'a KeyspaceId>,
    ) -> Result<()> {
        for &keyspace in keyspaces {
            if self.table(keyspace)?.is_unlogged() {
                return Err(prepared_write(None));
            }
        }
        Ok(())
    }
}

/// Why a batch over so many keyspaces is refused, of which the one with that name is unlogged.
#[cold]
pub fn logged_write(name: Option<&str>, keyspace_count: usize) -> Error {
    let which = name.map_or_else(
        || "a keyspace".to_owned(),
        |name| format!("keyspace {name:?}"),
    );
    let message = match keyspace_count {
        0 | 1 => format!(
            "{which} is unlogged, and the write asks for more than durability `memory`, which only \
             the log can give; ask for no durability, or write to a keyspace that is logged"
        ),
        _ => format!(
            "{which} is unlogged, and the batch writes to others beside it: only the log could \
             bring back all of it or nothing; write one batch for each keyspace"
        ),
    };
    Error::invalid(message)
}

/// Why a mark is refused of the keyspace with that name.
#[cold]
pub fn marked_log(name: Option<&str>) -> Error {
    let which = name.map_or_else(
        || "a keyspace".to_owned(),
        |name| format!("keyspace {name:?}"),
    );
    Error::invalid(format!(
        "{which} is logged, and has no mark: after a crash it holds what the log does, which is \
         not what a mark in memory or in the files would say; create the keyspace `unlogged`"
    ))
}

/// Why a mark is refused that brings the time, of the keyspace with that name.
#[cold]
pub fn machine_time(name: &str) -> Error {
    Error::invalid(format!(
        "keyspace {name:?} goes by the machine's clock, and is not told the time; create it with \
         `own_clock`, or give the mark without a time"
    ))
}

/// Why a transaction is not prepared that writes to the keyspace with that name, or depends on it.
#[cold]
pub fn prepared_write(name: Option<&str>) -> Error {
    let which = name.map_or_else(
        || "a keyspace".to_owned(),
        |name| format!("keyspace {name:?}"),
    );
    Error::invalid(format!(
        "the transaction touches {which}, which is unlogged: what is prepared lies in the log; \
         prepare what it does to other keyspaces, or commit it as it is"
    ))
}
