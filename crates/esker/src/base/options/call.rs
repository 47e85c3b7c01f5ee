//! Settings of one read or one write.

use std::time::Duration;

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// Nothing: the write is in memory only until the next flush. (A batch over several keyspaces
    /// is logged all the same: flushes are by keyspace, and must not bring half of it.)
    Memory,
    /// A killed process: the write is in the kernel's page cache.
    #[default]
    Buffered,
    /// A power cut: the write is on the medium.
    Sync,
}

impl Durability {
    /// Every level, as settings spell it.
    pub const NAMES: [(&str, Durability); 3] = [
        ("memory", Durability::Memory),
        ("buffered", Durability::Buffered),
        ("sync", Durability::Sync),
    ];

    /// The level as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Durability::Memory => "memory",
            Durability::Buffered => "buffered",
            Durability::Sync => "sync",
        }
    }
}

/// How one write is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// What the write must survive; `None` takes the database's default.
    pub durability: Option<Durability>,
    /// Answer `Busy` instead of waiting where writes are slowed down or stopped, or somebody has
    /// locked what is written.
    pub no_wait: bool,
}

/// How far a transaction is kept apart from what others commit while it is under way.
///
/// | | what it reads | what write of others makes its commit fail |
/// |---|---|---|
/// | `ReadCommitted` | each read: what is committed by then | one to what `get_for_update` read |
/// | `Snapshot` | all as of its beginning | one to a key that it writes |
/// | `Serializable` | all as of its beginning | one to what it reads or writes |
///
/// A `ReadCommitted` one may choose one moment for several reads
/// ([`set_snapshot`](crate::Transaction::set_snapshot)).
///
/// All three see their own writes, and nobody sees those before they are committed. The beginning
/// of a [locking](TransactionMode::Locking) one is its first read or write, once it has its lock.
/// An [optimistic](TransactionMode::Optimistic) one also fails, under all three, while somebody has
/// locked what it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Each read sees what is committed by then: two reads of a key may differ, and what was read
    /// may be gone when the writes come. What SQL servers offer under this name.
    ReadCommitted,
    /// All reads see the database as it was when the transaction began, and of two transactions
    /// that write to one key the second to commit is refused. Two may each read what the other
    /// writes ("write skew").
    #[default]
    Snapshot,
    /// As if transactions had come one after the other: what was read, keys and ranges, may not
    /// have changed until the commit.
    Serializable,
}

impl Isolation {
    /// The name as pages spell it.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "read_committed",
            Isolation::Snapshot => "snapshot",
            Isolation::Serializable => "serializable",
        }
    }
}

/// What keeps transactions apart that touch the same.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// # let db = esker::Db::open(dir.path())?;
/// use std::time::Duration;
/// use esker::{ErrorKind, TransactionMode, TransactionOptions};
///
/// let locking = TransactionOptions {
///     mode: TransactionMode::Locking,
///     lock_timeout: Duration::ZERO,
///     ..TransactionOptions::default()
/// };
/// let (mut first, mut second) = (db.begin_with(locking), db.begin_with(locking));
/// first.put(&db, "berth:3", "anna")?;
/// let refused = second.put(&db, "berth:3", "bela").unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::LockTimeout);
/// second.put(&db, "berth:4", "bela")?; // Instead.
/// first.commit()?;
/// second.commit()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionMode {
    /// Nobody waits: the commit looks whether others came before, or have locked what it writes,
    /// and is refused if so. For transactions that seldom meet.
    #[default]
    Optimistic,
    /// What is written, or read to be written, is locked until the end, and under
    /// [`Serializable`](Isolation::Serializable) all that is read; others wait for it. For
    /// transactions that meet often, or are dear to run again.
    Locking,
}

impl TransactionMode {
    /// The name as pages spell it.
    pub fn name(self) -> &'static str {
        match self {
            TransactionMode::Optimistic => "optimistic",
            TransactionMode::Locking => "locking",
        }
    }
}

/// How one transaction is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionOptions {
    /// How far it is kept apart from others.
    pub isolation: Isolation,
    /// By what.
    pub mode: TransactionMode,
    /// How long a [locking](TransactionMode::Locking) one waits for a lock, each time; zero is not
    /// to wait.
    pub lock_timeout: Duration,
}

impl TransactionOptions {
    /// Wait for a lock unless told, as RocksDB does: far longer than a transaction should take.
    /// Writes outside of transactions wait as long.
    pub const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
}

impl Default for TransactionOptions {
    fn default() -> TransactionOptions {
        TransactionOptions {
            isolation: Isolation::default(),
            mode: TransactionMode::default(),
            lock_timeout: TransactionOptions::LOCK_TIMEOUT,
        }
    }
}

/// How one read is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether blocks that are read are kept in the block cache.
    pub fill_cache: bool,
    /// Bytes that a scan may read ahead in each of the runs it merges, and so holds in memory.
    pub readahead_bytes_max: usize,
}

impl ReadOptions {
    /// Read ahead unless told: larger pieces than 256 KiB gain nothing.
    pub const READAHEAD_BYTES: usize = 256 << 10;
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            fill_cache: true,
            readahead_bytes_max: ReadOptions::READAHEAD_BYTES,
        }
    }
}
