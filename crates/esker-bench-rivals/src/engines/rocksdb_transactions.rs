//! RocksDB's two stores for transactions: one that refuses at the commit, and one that locks.

use std::path::Path;

use ::rocksdb::{
    Error, ErrorKind, OptimisticTransactionDB, Options, Transaction, TransactionDB,
    TransactionDBOptions,
};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::Transactions;
use esker_bench::target::store::{Batch, Cursor, Store, WriteHow};

use crate::engines::rocksdb_cursor::{OpenCursor, told};

/// Either store, by what both can do. What it cannot do a workload of transactions does not need.
pub enum OpenForTransactions {
    /// The one that refuses.
    Optimistic(OptimisticTransactionDB),
    /// The one that locks.
    Locking(TransactionDB),
}

impl OpenForTransactions {
    /// What it is called.
    pub fn name(kind: Transactions) -> &'static str {
        match kind {
            Transactions::Optimistic => "OptimisticTransactionDB, get_for_update",
            Transactions::Locking => "TransactionDB, get_for_update",
        }
    }

    /// Opens the store in `room`.
    pub fn open(options: &Options, room: &Path, kind: Transactions) -> Outcome<Self> {
        Ok(match kind {
            Transactions::Optimistic => {
                let db = OptimisticTransactionDB::open(options, room);
                OpenForTransactions::Optimistic(db.map_err(told)?)
            }
            Transactions::Locking => {
                let db = TransactionDB::open(options, &TransactionDBOptions::default(), room);
                OpenForTransactions::Locking(db.map_err(told)?)
            }
        })
    }
}

/// One try.
fn try_once<D>(
    tx: Transaction<'_, D>,
    key: &[u8],
    value: &mut Vec<u8>,
    change: fn(&mut Vec<u8>),
) -> Result<(), Error> {
    value.clear();
    // In the optimistic store it locks nothing: it has the commit look at what was read. A plain
    // read is not looked at, and updates are lost.
    if let Some(found) = tx.get_pinned_for_update(key, true)? {
        value.extend_from_slice(&found);
    }
    change(value);
    tx.put(key, &*value)?;
    tx.commit()
}

/// Whether somebody else was faster, or has the lock.
fn may_try_again(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Busy | ErrorKind::TimedOut | ErrorKind::TryAgain
    )
}

impl Store for OpenForTransactions {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        let _plain = how;
        match self {
            OpenForTransactions::Optimistic(db) => db.put(key, value),
            OpenForTransactions::Locking(db) => db.put(key, value),
        }
        .map_err(told)
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let value = match self {
            OpenForTransactions::Optimistic(db) => db.get_pinned(key),
            OpenForTransactions::Locking(db) => db.get_pinned(key),
        };
        let value = value.map_err(told)?;
        if let Some(value) = &value {
            take(value);
        }
        Ok(value.is_some())
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        let _plain = how;
        match self {
            OpenForTransactions::Optimistic(db) => db.delete(key),
            OpenForTransactions::Locking(db) => db.delete(key),
        }
        .map_err(told)
    }

    fn transact(&self, key: &[u8], value: &mut Vec<u8>, change: fn(&mut Vec<u8>)) -> Outcome {
        loop {
            let tried = match self {
                OpenForTransactions::Optimistic(db) => {
                    try_once(db.transaction(), key, value, change)
                }
                OpenForTransactions::Locking(db) => try_once(db.transaction(), key, value, change),
            };
            match tried {
                Err(error) if may_try_again(&error) => {}
                done => return done.map_err(told),
            }
        }
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Err(unsupported())
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Ok(match self {
            OpenForTransactions::Optimistic(db) => Box::new(OpenCursor(db.raw_iterator())),
            OpenForTransactions::Locking(db) => Box::new(OpenCursor(db.raw_iterator())),
        })
    }

    fn flush(&self) -> Outcome {
        match self {
            OpenForTransactions::Optimistic(db) => db.flush(),
            OpenForTransactions::Locking(db) => db.flush(),
        }
        .map_err(told)
    }

    fn compact(&self) -> Outcome {
        Err(unsupported())
    }

    fn drain(&self) -> Outcome {
        Err(unsupported())
    }

    fn property(&self, name: &str) -> Option<String> {
        let _unused = name;
        None
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(())
    }
}

fn unsupported() -> Failure {
    Failure::unsupported("a store for transactions is not asked for this")
}
