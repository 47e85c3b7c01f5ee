//! New ends of values in a batch: looked up and written by its commit, with all else that it has.
//!
//! A batch is filled without a look at what is there. So its commit reads the values, outside of
//! any lock, puts them again into a copy of the batch, and writes that under the condition that
//! nobody wrote to their keys since and that none of them has ended; where that does not hold it
//! begins again, as `atomic_change` does, and in the end with the keyspaces locked. The copy can be
//! read (`txn/own_writes`): what stands earlier in the batch counts.

use std::sync::Arc;

use crate::base::options::call::{ReadOptions, TransactionOptions, WriteOptions};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::seqno::SeqNo;
use crate::db::claims;
use crate::db::core::Core;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::moment::{Moment, When};
use crate::db::other_end::put_again;
use crate::db::snapshots::SnapshotOwner;
use crate::db::txn::locks::owned_locks::OwnedLocks;
use crate::db::txn::own_writes::OwnWrites;
use crate::db::writing::{self, Heed, Terms, Written};
use crate::flow::read::get::{ReadAt, stored};
use crate::flow::read::newest::Target;
use crate::flow::write::unlogged::NewMark;
use crate::flow::write::validation::Unchanged;
use crate::store::batch::writer::{Batch, BatchMark};

/// How often the values are read again because somebody was faster. Then others wait: who writes to
/// one of many keys all the time would else have it begin anew for ever.
const TRIES_MAX: u32 = 8;

/// An end that a value is given, whatever it is when the batch is written.
pub struct NewEnd {
    /// The place in the batch, which takes effect in its order.
    pub at: BatchMark,
    /// The keyspace.
    pub parts: Arc<KeyspaceParts>,
    /// The key.
    pub key: Vec<u8>,
    /// The end; `None` to stay.
    pub expiry: Option<Expiry>,
}

/// A batch that has new ends among its writes.
pub struct BatchWithEnds<'a> {
    /// The other writes.
    pub batch: &'a Batch<'static>,
    /// The ends, in the order of their places.
    pub ends: &'a [NewEnd],
    /// The mark that comes with it.
    pub mark: Option<&'a NewMark>,
}

impl BatchWithEnds<'_> {
    /// Writes all of it. Errors: those of [`writing::write`] and of reading; nothing was written
    /// then, unless it is `Faulted`.
    pub fn write(&self, database: &DatabaseRef, options: WriteOptions) -> Result<()> {
        let core = database.core();
        let times = (core.env.clock.monotonic(), TransactionOptions::LOCK_TIMEOUT);
        for tries in 0.. {
            let locks = match tries < TRIES_MAX {
                true => None,
                false => Some(self.lock(core, options)?),
            };
            // Compaction keeps the trace of every later write while this lives; and the reads may
            // see more than `seen`: a write between the two is found then.
            let now = core.env.clock.monotonic();
            let visible = core.committer.visible();
            let owner = SnapshotOwner::AtomicChange;
            let _traces = core.snapshots.pin(visible, now, owner);
            let seen = core.committer.visible();
            let mut filled = self.filled(database)?;
            let terms = Terms {
                unchanged: &self.conditions(seen),
                alive_until: filled.alive_until(),
                heed: locks.as_ref().map_or(Heed::Wait, |_| Heed::Hold),
                mark: self.mark,
            };
            match writing::write(core, filled.batch(), options, terms) {
                Ok(Written::Done) => return Ok(()),
                // A prepared transaction claims a key, and may want one that is locked here.
                Err(error) if error.kind() == ErrorKind::Conflict && locks.is_some() => {
                    drop(locks);
                    let patience = (options.no_wait, times);
                    writing::wait_unclaimed(core, filled.batch(), patience, &error)?;
                }
                other => drop(other?),
            }
        }
        unreachable!("it is tried until it is done")
    }

    // Locks all keyspaces of the batch: who writes to them waits until it is written.
    fn lock(&self, core: &Core, options: WriteOptions) -> Result<OwnedLocks> {
        let ends = self.ends.iter().map(|end| end.parts.id);
        let keyspaces = ends.chain(self.batch.keyspaces().iter().copied()).collect();
        claims::hold_keyspaces(core, &keyspaces, options.no_wait)
    }

    fn conditions(&self, seen: SeqNo) -> Vec<Unchanged<'_>> {
        let conditions = self.ends.iter().map(|end| Unchanged {
            keyspace: end.parts.id,
            current: &end.parts.current,
            target: Target::Key(&end.key),
            seen,
        });
        conditions.collect()
    }

    // The batch with what gives each value its new end in the place of that.
    fn filled(&self, database: &DatabaseRef) -> Result<OwnWrites> {
        let core = database.core();
        let mut own = OwnWrites::default();
        for id in self.batch.keyspaces() {
            let parts = core.keyspaces.by_id(*id);
            own.batch_for(&parts.ok_or_else(|| Error::invalid("the keyspace was dropped"))?);
        }
        let mut done = BatchMark::START;
        for end in self.ends {
            own.batch().append_part(self.batch, &done..&end.at)?;
            done = end.at;
            put_end(database, core, &mut own, end)?;
        }
        own.batch()
            .append_part(self.batch, &done..&self.batch.mark())?;
        Ok(own)
    }
}

// Nothing where there is no value, or it ends then already; who else may be written to in the same
// batch is as if there were one.
fn put_end(database: &DatabaseRef, core: &Core, own: &mut OwnWrites, end: &NewEnd) -> Result<()> {
    own.batch_for(&end.parts).touch(end.parts.id);
    let moment = Moment {
        database,
        parts: &end.parts,
        at: When::Now,
        options: ReadOptions::default(),
    };
    // The view is kept until the segment of the value is held.
    let (view, at) = moment.look()?;
    let (view, visibility) = own.in_front_of(&end.parts, view, at.visibility.committed())?;
    let stored = stored(&view, &end.key, &ReadAt { visibility, ..at })?;
    let Some(stored) = stored.filter(|stored| !stored.ends_at(end.expiry)) else {
        return Ok(());
    };
    let alive_until = stored.alive_until();
    let batch = own.batch_for(&end.parts);
    let held = put_again(core, batch, &end.parts, &end.key, stored, end.expiry)?;
    if let Some(held) = held {
        own.hold(held.number, held.pending);
    }
    if let Some(alive_until) = alive_until {
        own.goes_on(alive_until);
    }
    Ok(())
}
