//! Reads of one keyspace at one moment: what `Db`, `Keyspace` and `Snapshot` share.

use std::ops::RangeBounds;

use crate::base::options::call::ReadOptions;
use crate::base::stats::board::Tick;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::iterator::{DbCursor, Iter, Source};
use crate::db::keyspace::KeyspaceParts;
use crate::db::lease::Lease;
use crate::db::toll::Passage;
use crate::flow::read::get::{ReadAt, Valued, contains, expiry, get, get_valued};
use crate::flow::read::multi_get::multi_get;

/// What can be read: a keyspace as it is now, or as it was when a snapshot was taken.
pub trait Readable {
    /// Where and at which moment reads happen.
    fn moment(&self) -> Moment<'_>;

    /// The value of `key`, if it has one.
    fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Bytes>> {
        self.moment().get(key.as_ref())
    }

    /// The value of `key` and when it ends, if it has one.
    fn get_valued(&self, key: impl AsRef<[u8]>) -> Result<Option<Valued>> {
        self.moment().get_valued(key.as_ref())
    }

    /// The unix second from which the value of `key` is gone, if it has one; `Some(None)` when it
    /// stays. The value is not read.
    fn expiry(&self, key: impl AsRef<[u8]>) -> Result<Option<Option<u32>>> {
        self.moment().expiry(key.as_ref())
    }

    /// The values of several keys, in their order; cheaper than one after the other.
    fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        self.moment().multi_get(&keys)
    }

    /// Whether `key` has a value; cheaper than reading it.
    fn contains_key(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.moment().contains_key(key.as_ref())
    }

    /// The entries with keys in `bounds`, in order, from both ends.
    fn range<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<Iter> {
        Ok(Iter::new(self.moment().source(KeyRange::new(bounds))?))
    }

    /// The entries whose keys begin with `prefix`, in order, from both ends. For keyspaces in
    /// the bytewise order.
    fn prefix(&self, prefix: impl AsRef<[u8]>) -> Result<Iter> {
        Ok(Iter::new(
            self.moment().source(KeyRange::prefix(prefix.as_ref()))?,
        ))
    }

    /// All entries, in order, from both ends.
    fn iter(&self) -> Result<Iter> {
        Ok(Iter::new(self.moment().source(KeyRange::ALL)?))
    }

    /// A cursor over the entries with keys in `bounds`, which stands nowhere yet.
    fn cursor_in<K: AsRef<[u8]>>(&self, bounds: impl RangeBounds<K>) -> Result<DbCursor> {
        DbCursor::open(self.moment().source(KeyRange::new(bounds))?)
    }

    /// A cursor over all entries, which stands nowhere yet.
    fn cursor(&self) -> Result<DbCursor> {
        DbCursor::open(self.moment().source(KeyRange::ALL)?)
    }
}

/// One keyspace at one moment. Made by [`Readable`] things for their own use.
pub struct Moment<'a> {
    /// Keeps the database open.
    pub lease: &'a Lease,
    /// The keyspace.
    pub parts: &'a KeyspaceParts,
    /// The moment; `None` is now.
    pub at: Option<SeqNo>,
    /// How to read.
    pub options: ReadOptions,
}

impl Moment<'_> {
    // To be taken after the view: what the view lacks was written later, so what the reader
    // sees is a prefix of the writes either way.
    fn at(&self) -> ReadAt {
        let core = self.lease.core();
        ReadAt {
            seqno: self.at.unwrap_or_else(|| core.committer.visible()),
            now_unix_s: core.env.clock.unix_seconds(),
            options: self.options,
        }
    }

    /// The value of `key`, if it has one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let core = self.lease.core();
        check(core)?;
        let view = self.parts.current.load();
        let value = get(&view, key, &self.at())?;
        core.board.add(Tick::Gets, 1);
        if value.is_some() {
            core.board.add(Tick::GetsFound, 1);
        }
        Ok(value)
    }

    fn get_valued(&self, key: &[u8]) -> Result<Option<Valued>> {
        let core = self.lease.core();
        core.gate.check_read()?;
        let view = self.parts.current.load();
        core.board.add(Tick::Gets, 1);
        let valued = get_valued(&view, key, &self.at())?;
        if valued.is_some() {
            core.board.add(Tick::GetsFound, 1);
        }
        Ok(valued)
    }

    fn multi_get(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        let core = self.lease.core();
        check(core)?;
        let view = self.parts.current.view();
        core.board.add(Tick::Gets, keys.len() as u64);
        multi_get(&view, keys, &self.at()).into_iter().collect()
    }

    fn contains_key(&self, key: &[u8]) -> Result<bool> {
        let core = self.lease.core();
        check(core)?;
        let view = self.parts.current.load();
        core.board.add(Tick::Gets, 1);
        contains(&view, key, &self.at())
    }

    fn expiry(&self, key: &[u8]) -> Result<Option<Option<u32>>> {
        let core = self.lease.core();
        check(core)?;
        let view = self.parts.current.load();
        core.board.add(Tick::Gets, 1);
        expiry(&view, key, &self.at())
    }

    pub(crate) fn source(&self, range: KeyRange) -> Result<Source> {
        check(self.lease.core())?;
        let view = self.parts.current.view();
        let at = self.at();
        let lease = self.lease.clone();
        let passage = Passage::through(&view.parts().levels, &self.parts.toll);
        Ok(Source {
            lease,
            keyspace: self.parts.id,
            view,
            at,
            range,
            passage,
        })
    }
}

// Whether a read may begin: what a merge operator or an order reads might wait for itself.
#[inline]
fn check(core: &Core) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_read()
}
