//! Runs a transaction again for as long as others are faster.

use std::time::Duration;

use crate::base::options::call::TransactionOptions;
use crate::base::types::error::{ErrorKind, Result};
use crate::db::core::Core;
use crate::db::handle::Db;
use crate::db::transaction::Transaction;
use crate::env::random::Random;
use crate::env::signal::Signal;

/// How often it is run before the time counts. With each conflict of versions somebody else has got
/// through, so where sixteen contend for one key some dozens are enough.
const RUNS_MAX: u32 = 64;

/// How often it is run again though it has waited for a lock in vain, each time for long.
const TIMEOUTS_MAX: u32 = 4;

/// The first wait is up to so long, and each further one up to twice as long.
const WAIT_FIRST: Duration = Duration::from_micros(20);

/// The longest.
const WAIT_MAX: Duration = Duration::from_millis(5);

impl Db {
    /// Begins a transaction, whose own reads are of the keyspace `default`.
    ///
    /// # Panics
    /// In a merge operator or a comparator.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let mut tx = db.begin();
    /// tx.put(&db, "ship:anna", "in port")?;
    /// tx.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn begin(&self) -> Transaction {
        self.begin_with(TransactionOptions::default())
    }

    /// Begins a transaction as told; otherwise as [`Db::begin`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{ErrorKind, Isolation, TransactionOptions};
    ///
    /// // Of two pilots, one must stay: each may go only while the other is there.
    /// db.batch().put(&db, "pilot:a", "here").put(&db, "pilot:b", "here").commit()?;
    /// let apart = TransactionOptions {
    ///     isolation: Isolation::Serializable,
    ///     ..TransactionOptions::default()
    /// };
    /// let (mut a, mut b) = (db.begin_with(apart), db.begin_with(apart));
    /// if a.contains_key("pilot:b")? {
    ///     a.delete(&db, "pilot:a")?;
    /// }
    /// if b.contains_key("pilot:a")? {
    ///     b.delete(&db, "pilot:b")?;
    /// }
    /// a.commit()?;
    /// assert_eq!(b.commit().unwrap_err().kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    pub fn begin_with(&self, options: TransactionOptions) -> Transaction {
        Transaction::begin(self.database().clone(), self.parts().clone(), options)
    }

    /// Runs `run` in a transaction and commits it; again and again, with a little wait between,
    /// for as long as it meets others: after a `Conflict` until it was run 64 times and
    /// [`lock_timeout`](TransactionOptions::lock_timeout) is over, as what it writes may be locked
    /// for so long; after a `Deadlock` 64 times at most; after a `LockTimeout` for a second, and
    /// four times in any case, since it has waited already. Any other error of `run` ends it, and
    /// nothing is written.
    ///
    /// `run` may be called several times, so whatever it does beside the transaction it must be
    /// able to do again.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// let next = db.transaction(|tx| {
    ///     let last = tx.get("last berth")?;
    ///     let next = last.map_or(1, |last| last[0] + 1);
    ///     tx.put(&db, "last berth", [next])?;
    ///     Ok(next)
    /// })?;
    /// assert_eq!(next, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transaction<T>(&self, run: impl FnMut(&mut Transaction) -> Result<T>) -> Result<T> {
        self.transaction_with(TransactionOptions::default(), run)
    }

    /// As [`Db::transaction`], in transactions as told.
    pub fn transaction_with<T>(
        &self,
        options: TransactionOptions,
        mut run: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let clock = &self.database().core().env.clock;
        let since = clock.monotonic();
        let (mut runs, mut timeouts) = (0, 0);
        loop {
            let mut transaction = self.begin_with(options);
            let number = transaction.number();
            let ended = run(&mut transaction).and_then(|value| {
                transaction.commit()?;
                Ok(value)
            });
            runs += 1;
            let Err(error) = &ended else {
                return ended;
            };
            let lasts_less_than = |time: Duration| clock.monotonic() - since < time;
            let runs_again = match error.kind() {
                // Refused for a lock, nobody need have got through: it is there for its time.
                ErrorKind::Conflict => runs < RUNS_MAX || lasts_less_than(options.lock_timeout),
                ErrorKind::Deadlock => runs < RUNS_MAX,
                ErrorKind::LockTimeout => {
                    timeouts += 1;
                    let is_soon = lasts_less_than(TransactionOptions::LOCK_TIMEOUT);
                    timeouts <= TIMEOUTS_MAX || (runs < RUNS_MAX && is_soon)
                }
                _ => false,
            };
            if !runs_again {
                return ended;
            }
            // Its locks are gone by now: whoever waited for them goes on.
            wait(self.database().core(), number, runs);
        }
    }
}

// Each for another time, so that those who met do not meet again.
fn wait(core: &Core, number: u64, runs: u32) {
    let longest = WAIT_FIRST.saturating_mul(1 << runs.min(16)).min(WAIT_MAX);
    let mut random = Random::new(number ^ u64::from(runs) << 48);
    let nanos = random.below(u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX));
    let nobody = Signal::default();
    core.env.pool.wait(&nobody, 0, Duration::from_nanos(nanos));
}
