//! A durable queue: jobs survive a crash, each goes to one worker, and a failed one comes again.
//!
//! `cargo run --release -p esker --example queue`

#![allow(
    clippy::disallowed_methods,
    reason = "a program of a user's, on threads of its own"
)]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use esker::{Db, Durability, ErrorKind, Result, WriteOptions};

/// What a job's value begins with.
const WAITING: u8 = b'w';
const TAKEN: u8 = b't';

/// Jobs by number, big-endian, so that the order of keys is the order of arrival.
struct Queue {
    db: Db,
    next: AtomicU64,
}

impl Queue {
    fn open(path: impl AsRef<Path>) -> Result<Queue> {
        // A job that was accepted must survive a power cut.
        let db = Db::builder(path).durability(Durability::Sync).open()?;
        // Whoever had taken a job is gone: all wait again, by one batch.
        let mut batch = db.batch();
        let mut next = 0;
        for entry in db.iter()? {
            let (key, job) = entry?;
            if job[0] == TAKEN {
                batch.put(&db, &key, with_state(WAITING, &job[1..]));
            }
            next = number_of(&key) + 1;
        }
        batch.commit()?;
        Ok(Queue {
            db,
            next: AtomicU64::new(next),
        })
    }

    fn push(&self, job: &str) -> Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.db
            .put(number.to_be_bytes(), with_state(WAITING, job.as_bytes()))
    }

    /// The oldest job that nobody has. Of several workers at the same one, one gets it.
    fn take(&self) -> Result<Option<(u64, String)>> {
        for entry in self.db.iter()? {
            let (key, value) = entry?;
            let job = &value[1..];
            let is_mine = value[0] == WAITING
                && self
                    .db
                    .compare_and_swap(&key, Some(&value), Some(&with_state(TAKEN, job)))?;
            if is_mine {
                return Ok(Some((
                    number_of(&key),
                    String::from_utf8_lossy(job).into_owned(),
                )));
            }
        }
        Ok(None)
    }

    fn done(&self, number: u64) -> Result<()> {
        // If this is lost the job is done twice, so it need not wait for the disk.
        let lazily = WriteOptions {
            durability: Some(Durability::Buffered),
            no_wait: false,
        };
        self.db.with_write(lazily).delete(number.to_be_bytes())
    }
}

fn with_state(state: u8, job: &[u8]) -> Vec<u8> {
    [&[state], job].concat()
}

fn number_of(key: &[u8]) -> u64 {
    u64::from_be_bytes(key.try_into().expect("keys are made here"))
}

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("queue");
    let queue = Queue::open(&path)?;
    for number in 0..20 {
        queue.push(&format!("send letter {number}"))?;
    }
    // One worker takes a job and is never heard of again.
    let (lost, job) = queue.take()?.expect("there are twenty");
    queue.db.close()?;
    let late = queue.push("too late").map_err(|error| error.kind());
    assert_eq!(late, Err(ErrorKind::Closed));

    let queue = Queue::open(&path)?;
    let work = || {
        let mut count = 0;
        while let Some((number, _job)) = queue.take()? {
            queue.done(number)?;
            count += 1;
        }
        Ok(count)
    };
    let counts = thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        let counts = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        counts.collect::<Result<Vec<u64>>>()
    })?;
    println!("job {lost}, `{job}`, came again; three workers did {counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 20);
    queue.db.close()
}
