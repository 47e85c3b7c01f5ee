//! Calls on keys that are for no partition of a table that is here, counted and told.

use esker_rpc::error::ErrorCode;

use crate::front::KeysCall;
use crate::log_lines::{Level, LogLines, Seldom};

/// Why a call is for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misdirection {
    /// The node knows no such table, or it was dropped.
    NoTable,
    /// The table has fewer partitions.
    NoPartition,
    /// The key belongs to another partition by its hash.
    OtherHash,
}

impl Misdirection {
    /// Each with its name in metrics and the sentence that is logged for it.
    const ALL: [(Misdirection, &str, &str); 3] = [
        (
            Misdirection::NoTable,
            "no_table",
            "refused a call on a table that is not there",
        ),
        (
            Misdirection::NoPartition,
            "no_partition",
            "refused a call on a partition that its table does not have",
        ),
        (
            Misdirection::OtherHash,
            "other_hash",
            "refused a call on a key that belongs to another partition",
        ),
    ];

    /// What a client is told.
    pub(crate) fn code(self) -> ErrorCode {
        match self {
            Misdirection::NoTable | Misdirection::NoPartition => ErrorCode::ObjectNotFound,
            Misdirection::OtherHash => ErrorCode::ParentPartitionMisused,
        }
    }

    fn index(self) -> usize {
        let found = Misdirection::ALL.iter().position(|row| row.0 == self);
        found.expect("every reason is in the list")
    }
}

/// How often each has happened on a node. Any thread may count.
#[derive(Debug)]
pub(crate) struct Misdirected {
    counts: [Seldom; Misdirection::ALL.len()],
    log: LogLines,
}

impl Misdirected {
    pub(crate) fn new(log: LogLines) -> Misdirected {
        Misdirected {
            counts: Default::default(),
            log,
        }
    }

    /// One more; seldom a line says which.
    pub(crate) fn count(&self, why: Misdirection, call: &KeysCall) {
        if let Some(count) = self.counts[why.index()].count() {
            let (_, _, sentence) = Misdirection::ALL[why.index()];
            let line = format!(
                "{sentence}: {} of table {}, partition {}, hash {:016x}, from {} ({count} so far)",
                call.call.row().name,
                call.gpid.app_id,
                call.gpid.partition_index,
                call.partition_hash,
                call.caller
            );
            self.log.write(Level::Warning, &line);
        }
    }

    /// The reasons by their names in metrics, and how often each was one.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let rows = Misdirection::ALL.iter();
        rows.map(|row| (row.1, self.counts[row.0.index()].total()))
    }
}
