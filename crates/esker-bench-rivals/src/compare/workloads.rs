//! The workloads of the comparison, in the order in which they run.

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::settings::Transactions;

/// Lines that share a store, which is a new one in each chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chapter {
    /// Keys in order.
    Ordered,
    /// Synced writes, one thread.
    Synced,
    /// Synced writes, four threads.
    SyncedTogether,
    /// Values of 100 KB.
    Large,
    /// Keys in random order, then everything that reads.
    Random,
    /// Random writes over a tree at rest, and at once the merge of all of it.
    Rewritten,
    /// Reads beside writes, on keys that all exist.
    Busy,
    /// Deletes in order.
    DeleteOrdered,
    /// Deletes in random order.
    DeleteRandom,
    /// Counters by merges.
    Merge,
    /// Counters by reading and writing.
    Update,
    /// One key with many operands.
    Operands,
    /// Reads and writes of a key, without transactions.
    GetPut,
    /// The same in transactions that nobody waits for.
    Optimistic,
    /// The same in transactions that lock.
    Locking,
    /// The same by many threads on few keys.
    Contended,
}

/// All chapters, in order.
pub const CHAPTERS: [Chapter; 16] = [
    Chapter::Ordered,
    Chapter::Synced,
    Chapter::SyncedTogether,
    Chapter::Large,
    Chapter::Random,
    Chapter::Rewritten,
    Chapter::Busy,
    Chapter::DeleteOrdered,
    Chapter::DeleteRandom,
    Chapter::Merge,
    Chapter::Update,
    Chapter::Operands,
    Chapter::GetPut,
    Chapter::Optimistic,
    Chapter::Locking,
    Chapter::Contended,
];

/// What a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Puts every key in order.
    FillOrdered,
    /// Puts random keys.
    FillRandom,
    /// Puts random keys with a sync each.
    FillSynced,
    /// Puts random keys with values of 100 KB.
    FillLarge,
    /// Gets random keys of the key space.
    Read,
    /// Gets keys that lie between two that may exist.
    ReadMissing,
    /// Walks over everything.
    Scan {
        /// From the first key on, or from the last one back.
        is_forward: bool,
    },
    /// Seeks a random key and takes some steps.
    Seek {
        /// How many.
        steps: u64,
    },
    /// Waits until no background work is left.
    Settle,
    /// Merges everything.
    Compact,
    /// Gets random keys while another thread puts random keys.
    ReadBeside {
        /// How many a second; without it as many as the engine takes.
        puts_per_s: Option<u64>,
    },
    /// Deletes the first nine tenths of the keys in order.
    DeleteOrdered,
    /// Deletes random keys.
    DeleteRandom,
    /// Merges 1 into random counters, without the log.
    Merge,
    /// Gets a random counter, adds 1, puts it, without the log.
    Update,
    /// Merges 1 into one counter many times.
    MergeOne,
    /// Gets one counter again and again, from the second time on.
    Reread {
        /// The one with many operands, or one that was put.
        is_merged: bool,
    },
    /// Gets a random key, counts in its value, puts it.
    GetPut,
    /// The same in a transaction.
    Transact {
        /// How many keys are drawn from; without it all.
        keys: Option<u64>,
    },
}

impl Chapter {
    /// Whether the store holds every key, and is at rest, before the first workload.
    pub fn begins_full(self) -> bool {
        matches!(
            self,
            Chapter::Rewritten
                | Chapter::Busy
                | Chapter::DeleteOrdered
                | Chapter::DeleteRandom
                | Chapter::GetPut
                | Chapter::Optimistic
                | Chapter::Locking
                | Chapter::Contended
        )
    }

    /// Which transactions its workloads make.
    pub fn transactions(self) -> Option<Transactions> {
        match self {
            Chapter::Optimistic => Some(Transactions::Optimistic),
            Chapter::Locking | Chapter::Contended => Some(Transactions::Locking),
            _ => None,
        }
    }
}

impl Work {
    /// Whether the store is another one afterwards, so that later workloads need it to have run.
    pub fn is_change(self) -> bool {
        !matches!(
            self,
            Work::Read
                | Work::ReadMissing
                | Work::Scan { .. }
                | Work::Seek { .. }
                | Work::Reread { .. }
        )
    }

    /// Whether it is told in seconds, not in operations a second.
    pub fn is_one_piece(self) -> bool {
        matches!(self, Work::Settle | Work::Compact)
    }
}

/// One workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Its name, on the command line and in tables.
    pub name: &'static str,
    /// Where it belongs.
    pub chapter: Chapter,
    /// What it does.
    pub work: Work,
    /// Whether the store is closed, forgotten by the system and opened again just before.
    pub is_cold: bool,
    /// What sets its random keys apart from those of other workloads.
    pub seed: u64,
}

const fn workload(name: &'static str, chapter: Chapter, work: Work, seed: u64) -> Workload {
    Workload {
        name,
        chapter,
        work,
        is_cold: false,
        seed,
    }
}

const fn cold(name: &'static str, work: Work, seed: u64) -> Workload {
    Workload {
        name,
        chapter: Chapter::Random,
        work,
        is_cold: true,
        seed,
    }
}

const FORWARD: Work = Work::Scan { is_forward: true };
const BACKWARD: Work = Work::Scan { is_forward: false };
/// Beside so many puts a second every engine does the same work, and all but redb have time to
/// spare. An early script of RocksDB's for this workload asked for as many.
const BESIDE_PACED: Work = Work::ReadBeside {
    puts_per_s: Some(80_000),
};
const BESIDE_UNTOLD: Work = Work::ReadBeside { puts_per_s: None };
const REREAD_PLAIN: Work = Work::Reread { is_merged: false };
const REREAD_MERGED: Work = Work::Reread { is_merged: true };

/// By one thread: it meets nobody.
const TRANSACT: Work = Work::Transact { keys: None };
/// By as many threads as keys.
const TRANSACT_HOT: Work = Work::Transact { keys: Some(16) };

/// With this workload the load is at an end.
pub const LOAD_END: &str = "compact-settled";

/// All of them.
pub const WORKLOADS: [Workload; 38] = [
    workload("fillseq", Chapter::Ordered, Work::FillOrdered, 1),
    workload("fillsync", Chapter::Synced, Work::FillSynced, 1),
    workload("fillsync-4", Chapter::SyncedTogether, Work::FillSynced, 1),
    workload("fill100K", Chapter::Large, Work::FillLarge, 1),
    workload("fillrandom", Chapter::Random, Work::FillRandom, 1),
    workload("overwrite", Chapter::Random, Work::FillRandom, 2),
    workload("settle", Chapter::Random, Work::Settle, 0),
    cold("readrandom-cold", Work::Read, 3),
    workload("readrandom", Chapter::Random, Work::Read, 4),
    workload("readmissing", Chapter::Random, Work::ReadMissing, 5),
    workload("readseq", Chapter::Random, FORWARD, 0),
    workload("readreverse", Chapter::Random, BACKWARD, 0),
    workload("seekrandom", Chapter::Random, Work::Seek { steps: 0 }, 6),
    workload(
        "seekrandom-10",
        Chapter::Random,
        Work::Seek { steps: 10 },
        7,
    ),
    // Engines that settled thoroughly have nothing left to do here: it is no race.
    workload("compact-settled", Chapter::Random, Work::Compact, 0),
    cold("compacted-readrandom-cold", Work::Read, 3),
    workload("compacted-readrandom", Chapter::Random, Work::Read, 4),
    workload(
        "compacted-readmissing",
        Chapter::Random,
        Work::ReadMissing,
        5,
    ),
    workload("compacted-readseq", Chapter::Random, FORWARD, 0),
    workload("compacted-readreverse", Chapter::Random, BACKWARD, 0),
    workload("rewrite", Chapter::Rewritten, Work::FillRandom, 12),
    workload("compact", Chapter::Rewritten, Work::Compact, 0),
    workload("readalone", Chapter::Busy, Work::Read, 8),
    workload("readwhilewriting-80k", Chapter::Busy, BESIDE_PACED, 13),
    workload("readwhilewriting", Chapter::Busy, BESIDE_UNTOLD, 9),
    workload("deleteseq", Chapter::DeleteOrdered, Work::DeleteOrdered, 0),
    workload("deleteseq-scan", Chapter::DeleteOrdered, FORWARD, 0),
    workload(
        "deleterandom",
        Chapter::DeleteRandom,
        Work::DeleteRandom,
        10,
    ),
    workload("deleterandom-scan", Chapter::DeleteRandom, FORWARD, 0),
    workload("mergerandom", Chapter::Merge, Work::Merge, 11),
    workload("updaterandom", Chapter::Update, Work::Update, 11),
    workload("merge-one", Chapter::Operands, Work::MergeOne, 0),
    workload("get-plain", Chapter::Operands, REREAD_PLAIN, 0),
    workload("get-merged", Chapter::Operands, REREAD_MERGED, 0),
    workload("txn-none", Chapter::GetPut, Work::GetPut, 14),
    workload("txn-optimistic", Chapter::Optimistic, TRANSACT, 14),
    workload("txn-locking", Chapter::Locking, TRANSACT, 14),
    workload("txn-contended-16", Chapter::Contended, TRANSACT_HOT, 15),
];

/// The workloads that load a store and put it in order, and the reads between them, in which an
/// engine may write too: ours and LevelDB merge for readers.
pub fn load() -> impl Iterator<Item = &'static Workload> {
    let end = WORKLOADS
        .iter()
        .position(|workload| workload.name == LOAD_END);
    let until = WORKLOADS.iter().take(end.map_or(0, |end| end + 1));
    until.filter(|workload| workload.chapter == Chapter::Random)
}

/// The workloads named; all if there are no names.
pub fn choose(names: &[String]) -> Outcome<Vec<Workload>> {
    for name in names {
        if !WORKLOADS.iter().any(|workload| workload.name == name) {
            let all: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
            return Err(Failure::usage(format!(
                "there is no workload `{name}`; there is {}",
                all.join(", ")
            )));
        }
    }
    let is_wanted =
        |workload: &&Workload| names.is_empty() || names.iter().any(|name| name == workload.name);
    Ok(WORKLOADS.iter().filter(is_wanted).copied().collect())
}
