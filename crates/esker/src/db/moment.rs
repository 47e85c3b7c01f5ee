//! One keyspace at one moment, and what a cursor has of it.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::{Error, Result};
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::database_ref::DatabaseRef;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_time::now_unix_ms;
use crate::db::locking;
use crate::db::read_cost::CostMeter;
use crate::db::txn::read_set::ScanRecorder;
use crate::db::txn::state::TransactionState;
use crate::flow::read::get::ReadAt;
use crate::flow::read::view::View;

/// One keyspace at one moment. Made by whatever can be read, for its own use.
pub struct Moment<'a> {
    /// Keeps the database open.
    pub database: &'a DatabaseRef,
    /// The keyspace.
    pub parts: &'a Arc<KeyspaceParts>,
    /// The moment.
    pub at: When<'a>,
    /// How to read.
    pub options: ReadOptions,
}

/// As of when a keyspace is read.
#[derive(Clone, Copy)]
pub enum When<'a> {
    /// All that is committed.
    Now,
    /// As it was at that number.
    At(SeqNo),
    /// What a transaction sees, its own writes among it.
    Within(&'a TransactionState),
    /// All that is committed, whatever the transaction's snapshot, and its own writes.
    Latest(&'a TransactionState),
}

/// What a cursor reads.
#[derive(Clone)]
pub struct Source {
    /// Keeps the database open.
    pub database: DatabaseRef,
    /// The keyspace that is read.
    pub parts: Arc<KeyspaceParts>,
    /// The memtables and files.
    pub view: Arc<View>,
    /// The moment, and how to read.
    pub at: ReadAt,
    /// The keys.
    pub range: KeyRange,
    /// How it goes past level 0; `None` where that is empty.
    pub cost_meter: Option<CostMeter>,
    /// Whether it is what a transaction sees.
    pub is_within: bool,
    /// Is told which keys it comes through.
    pub recorder: Option<Box<ScanRecorder>>,
}

impl<'a> When<'a> {
    /// The transaction whose own writes are read.
    #[inline]
    pub fn transaction(self) -> Option<&'a TransactionState> {
        match self {
            When::Within(transaction) | When::Latest(transaction) => Some(transaction),
            When::Now | When::At(_) => None,
        }
    }
}

impl Moment<'_> {
    /// The number at which is read. To be taken after the view: what the view lacks was written
    /// later, so what the reader sees is a prefix of the writes either way.
    #[inline]
    pub fn seqno(&self) -> SeqNo {
        match self.at {
            When::At(seqno) => seqno,
            When::Now | When::Within(_) | When::Latest(_) => {
                self.database.core().committer.visible()
            }
        }
    }

    /// When and how somebody reads who sees that.
    #[inline]
    pub fn read_at(&self, visibility: Visibility, now_unix_ms: u64) -> ReadAt {
        ReadAt {
            visibility,
            now_unix_ms,
            options: self.options,
        }
    }

    /// What a cursor over `range` would read.
    pub fn source(&self, range: KeyRange) -> Result<Source> {
        if let When::Within(transaction) = self.at {
            locking::before_scan(self.database.core(), transaction, self.parts)?;
        }
        let (view, at) = self.look()?;
        Ok(self.source_of(view, at, range))
    }

    /// The memtables and files that are read, and then when.
    pub fn look(&self) -> Result<(Arc<View>, ReadAt)> {
        let core = self.database.core();
        check(core)?;
        match self.at {
            When::Within(transaction) => locking::take_snapshot(core, transaction),
            When::Latest(transaction) => transaction.check_latest()?,
            When::Now | When::At(_) => {}
        }
        let view = self.parts.current.view();
        // Before the number: what ended in between may have been given another end.
        let now_unix_ms = now_unix_ms(core, self.parts);
        let seqno = self.seqno();
        let (view, visibility) = match self.at {
            When::Within(transaction) => {
                transaction.view(self.parts, view, transaction.reads_at(seqno))?
            }
            When::Latest(transaction) => transaction.view(self.parts, view, seqno)?,
            When::Now | When::At(_) => (view, Visibility::at(seqno)),
        };
        Ok((view, self.read_at(visibility, now_unix_ms)))
    }

    /// What a cursor over `range` reads of what was looked at.
    pub fn source_of(&self, view: Arc<View>, at: ReadAt, range: KeyRange) -> Source {
        Source {
            database: self.database.clone(),
            parts: Arc::clone(self.parts),
            cost_meter: CostMeter::through(&view.parts().levels, &self.parts.read_cost),
            view,
            at,
            is_within: self.at.transaction().is_some(),
            recorder: match self.at {
                When::Within(transaction) => {
                    let recorder = transaction.reads_range(self.parts, &range);
                    recorder.map(Box::new)
                }
                When::Now | When::At(_) | When::Latest(_) => None,
            },
            range,
        }
    }
}

impl Source {
    /// The same keys as they are now.
    ///
    /// Errors: as of a read; `Invalid` for what a transaction sees: it has no other moment.
    pub fn now(&self) -> Result<Source> {
        if self.is_within {
            return Err(not_refreshed());
        }
        let now = Moment {
            database: &self.database,
            parts: &self.parts,
            at: When::Now,
            options: self.at.options,
        };
        let (view, at) = now.look()?;
        Ok(now.source_of(view, at, self.range.clone()))
    }

    /// Whether the same is seen in the same memtables and files, but for what expires meanwhile.
    pub fn sees_as(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.view, &other.view) && self.at.visibility == other.at.visibility
    }
}

/// Why a cursor or an iterator of a transaction is not refreshed.
pub fn not_refreshed() -> Error {
    Error::invalid(
        "a cursor or an iterator of a transaction is not refreshed; have the transaction make \
         another one",
    )
}

/// Whether a read may begin: what a merge operator or an order reads might wait for itself.
#[inline]
pub fn check(core: &Core) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_read()
}
