//! The named set of counters that the engine keeps.

use std::time::Duration;

use crate::base::stats::counter::Counters;

/// What one step of a counter means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterUnit {
    /// Things that happened.
    Events,
    /// Bytes.
    Bytes,
    /// Nanoseconds; shown in seconds, the base unit of metrics.
    Nanoseconds,
}

// Each counter is told here once: variant, exported name, unit, what it counts.
macro_rules! tickers {
    ($($ticker:ident, $name:literal, $unit:ident, $doc:literal;)+) => {
        /// A counter of the engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Ticker {
            $(#[doc = $doc] $ticker,)+
        }

        impl Ticker {
            /// Every counter, in the order in which reports list them.
            pub const ALL: &'static [Ticker] = &[$(Ticker::$ticker,)+];

            /// The name under which the counter is exported to Prometheus.
            pub fn name(self) -> &'static str {
                match self {
                    $(Ticker::$ticker => $name,)+
                }
            }

            /// What one step of the counter means.
            pub fn unit(self) -> CounterUnit {
                match self {
                    $(Ticker::$ticker => CounterUnit::$unit,)+
                }
            }

            /// What the counter counts, in one sentence.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Ticker::$ticker => $doc,)+
                }
            }
        }
    };
}

tickers! {
    WriteBatches, "esker_write_batches_total", Events,
        "Batches that were committed.";
    WriteEntries, "esker_write_entries_total", Events,
        "Entries in committed batches: puts, deletes, merges and range deletes.";
    TransactionCommits, "esker_transaction_commits_total", Events,
        "Transactions that were committed, those without a write not among them.";
    TransactionConflicts, "esker_transaction_conflicts_total", Events,
        "Refusals of transactions because others wrote to what they depend on.";
    WriteBytes, "esker_write_bytes_total", Bytes,
        "Bytes of committed batches: keys, values and their framing.";
    WalBytes, "esker_wal_bytes_total", Bytes,
        "Bytes appended to the write-ahead log, its framing included.";
    ValueLogBytes, "esker_value_log_bytes_total", Bytes,
        "Bytes of large values that batches brought to the value log.";
    ValueLogMovedBytes, "esker_value_log_moved_bytes_total", Bytes,
        "Bytes of the value log that rewrites wrote, to empty other segments or to lie apart.";
    Gets, "esker_gets_total", Events,
        "Point reads.";
    GetsFound, "esker_gets_found_total", Events,
        "Point reads that found a value.";
    Seeks, "esker_seeks_total", Events,
        "Times an iterator was placed.";
    Steps, "esker_steps_total", Events,
        "Times an iterator moved to its next or previous entry.";
    Passed, "esker_passed_entries_total", Events,
        "Entries that cursors met and did not hand out: deletes, and what they or others hide.";
    MergeFolds, "esker_merge_folds_total", Events,
        "Times merge operands were folded, wherever it happened.";
    Flushes, "esker_flushes_total", Events,
        "Flushes of sealed memtables to sorted files.";
    FlushBytes, "esker_flush_bytes_total", Bytes,
        "Bytes of sorted files written by flushes.";
    FlushNanos, "esker_flush_seconds_total", Nanoseconds,
        "Time spent in flushes.";
    Compactions, "esker_compactions_total", Events,
        "Compactions that rewrote files.";
    CompactionFailures, "esker_compaction_failures_total", Events,
        "Compactions that failed over a file, which is left out for now.";
    TrivialMoves, "esker_trivial_moves_total", Events,
        "Compactions that moved files down a level without rewriting them.";
    CompactionReadBytes, "esker_compaction_read_bytes_total", Bytes,
        "Bytes of sorted files read by compactions.";
    CompactionWrittenBytes, "esker_compaction_written_bytes_total", Bytes,
        "Bytes of sorted files written by compactions.";
    CompactionNanos, "esker_compaction_seconds_total", Nanoseconds,
        "Time from the beginning to the end of each compaction that rewrote files.";
    CompactionDropped, "esker_compaction_dropped_entries_total", Events,
        "Entries that compactions did not write again: hidden, deleted or expired.";
    RetainDropped, "esker_retain_dropped_values_total", Events,
        "Values that retain rules dropped when compactions met them.";
    CompactionVerbatim, "esker_compaction_verbatim_values_total", Events,
        "Values that compactions copied as they were stored, without unpacking them.";
    DictionariesTrained, "esker_dictionaries_trained_total", Events,
        "Phrase dictionaries trained, those among them that did not pay.";
    FilesCreated, "esker_files_created_total", Events,
        "Sorted files that joined the tree.";
    FilesRemoved, "esker_files_removed_total", Events,
        "Files removed because no version and no log replay needs them.";
}

/// A duration as the counters of time take it.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The counters of one database, raised from any thread for about two nanoseconds.
#[derive(Default)]
pub struct Statistics {
    counters: Counters<{ Ticker::ALL.len() }>,
}

impl Statistics {
    /// All counters at zero.
    pub fn new() -> Statistics {
        Statistics::default()
    }

    /// Raises a counter by `amount`, in its unit.
    pub fn add(&self, ticker: Ticker, amount: u64) {
        self.counters.add(ticker as usize, amount);
    }

    /// What a counter stands at.
    pub fn sum(&self, ticker: Ticker) -> u64 {
        self.counters.sum(ticker as usize)
    }

    /// What every counter stands at. Counters are read one after another, not all at one moment.
    pub fn snapshot(&self) -> StatisticsSnapshot {
        StatisticsSnapshot(Ticker::ALL.iter().map(|ticker| self.sum(*ticker)).collect())
    }
}

/// What every counter stood at, or moved by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatisticsSnapshot(Box<[u64]>);

/// One counter of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Which counter.
    pub ticker: Ticker,
    /// Its value, in its unit.
    pub value: u64,
}

impl StatisticsSnapshot {
    /// The value of one counter.
    pub fn get(&self, ticker: Ticker) -> u64 {
        self.0[ticker as usize]
    }

    /// Every counter with its value, in the order of [`Ticker::ALL`].
    pub fn readings(&self) -> impl Iterator<Item = Reading> {
        let values = Ticker::ALL.iter().zip(self.0.iter());
        values.map(|(ticker, value)| Reading {
            ticker: *ticker,
            value: *value,
        })
    }

    /// How far each counter moved from `earlier` to this snapshot. A counter never falls;
    /// snapshots given in the wrong order say 0.
    pub fn since(&self, earlier: &StatisticsSnapshot) -> StatisticsSnapshot {
        let pairs = self.0.iter().zip(earlier.0.iter());
        StatisticsSnapshot(pairs.map(|(now, then)| now.saturating_sub(*then)).collect())
    }
}

#[cfg(test)]
mod tests;
