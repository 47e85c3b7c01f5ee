//! Reads of one keyspace at one moment.

use crate::base::options::call::ReadOptions;
use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::cursor::{DbCursor, Source};
use crate::db::database_ref::DatabaseRef;
use crate::db::iterator::Iter;
use crate::db::keyspace::KeyspaceParts;
use crate::db::read_cost::CostMeter;
use crate::flow::read::get::{ReadAt, Valued, contains, expiry, get, get_valued};
use crate::flow::read::multi_get::multi_get;

/// One keyspace at one moment. Made by whatever can be read, for its own use.
pub struct Moment<'a> {
    /// Keeps the database open.
    pub database: &'a DatabaseRef,
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
        let core = self.database.core();
        ReadAt {
            seqno: self.at.unwrap_or_else(|| core.committer.visible()),
            now_unix_s: core.env.clock.unix_seconds(),
            options: self.options,
        }
    }

    /// The value of `key`, if it has one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        let value = get(&view, key, &self.at())?;
        core.statistics.add(Ticker::Gets, 1);
        if value.is_some() {
            core.statistics.add(Ticker::GetsFound, 1);
        }
        Ok(value)
    }

    pub(crate) fn get_valued(&self, key: &[u8]) -> Result<Option<Valued>> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        core.statistics.add(Ticker::Gets, 1);
        let valued = get_valued(&view, key, &self.at())?;
        if valued.is_some() {
            core.statistics.add(Ticker::GetsFound, 1);
        }
        Ok(valued)
    }

    pub(crate) fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.view();
        core.statistics.add(Ticker::Gets, keys.len() as u64);
        multi_get(&view, &keys, &self.at()).into_iter().collect()
    }

    pub(crate) fn contains_key(&self, key: &[u8]) -> Result<bool> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        core.statistics.add(Ticker::Gets, 1);
        contains(&view, key, &self.at())
    }

    pub(crate) fn expiry(&self, key: &[u8]) -> Result<Option<Option<u32>>> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        core.statistics.add(Ticker::Gets, 1);
        expiry(&view, key, &self.at())
    }

    pub(crate) fn iter(&self, range: KeyRange) -> Result<Iter> {
        Ok(Iter::new(self.source(range)?))
    }

    pub(crate) fn first(&self, range: KeyRange) -> Result<Option<(Bytes, Bytes)>> {
        self.iter(range)?.next().transpose()
    }

    pub(crate) fn last(&self, range: KeyRange) -> Result<Option<(Bytes, Bytes)>> {
        self.iter(range)?.next_back().transpose()
    }

    pub(crate) fn cursor(&self, range: KeyRange) -> Result<DbCursor> {
        DbCursor::open(self.source(range)?)
    }

    fn source(&self, range: KeyRange) -> Result<Source> {
        check(self.database.core())?;
        let view = self.parts.current.view();
        let at = self.at();
        let database = self.database.clone();
        let cost_meter = CostMeter::through(&view.parts().levels, &self.parts.read_cost);
        Ok(Source {
            database,
            keyspace: self.parts.id,
            view,
            at,
            range,
            cost_meter,
        })
    }
}

// Whether a read may begin: what a merge operator or an order reads might wait for itself.
#[inline]
fn check(core: &Core) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_read()
}
