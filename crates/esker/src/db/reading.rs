//! Reads of one keyspace at one moment.

use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::range::KeyRange;
use crate::db::cursor::DbCursor;
use crate::db::iterator::Iter;
use crate::db::moment::{Moment, check};
use crate::flow::read::get::{Valued, contains, expiry, get, get_valued};
use crate::flow::read::multi_get::multi_get;

impl Moment<'_> {
    /// The value of `key`, if it has one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        let value = get(&view, key, &self.read_at())?;
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
        let valued = get_valued(&view, key, &self.read_at())?;
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
        multi_get(&view, &keys, &self.read_at())
            .into_iter()
            .collect()
    }

    pub(crate) fn contains_key(&self, key: &[u8]) -> Result<bool> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        core.statistics.add(Ticker::Gets, 1);
        contains(&view, key, &self.read_at())
    }

    pub(crate) fn expiry(&self, key: &[u8]) -> Result<Option<Option<u32>>> {
        let core = self.database.core();
        check(core)?;
        let view = self.parts.current.load();
        core.statistics.add(Ticker::Gets, 1);
        expiry(&view, key, &self.read_at())
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
}
