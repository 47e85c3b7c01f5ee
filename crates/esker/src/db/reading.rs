//! Reads of one keyspace at one moment.

use std::sync::Arc;

use crate::base::stats::statistics::Ticker;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::Visibility;
use crate::db::cursor::DbCursor;
use crate::db::iterator::Iter;
use crate::db::keyspace_time::now_unix_ms;
use crate::db::locking;
use crate::db::moment::{Moment, When, check};
use crate::flow::read::get::{ReadAt, Stored, Valued, contains, expiry, get, get_valued, stored};
use crate::flow::read::lasting::get_lasting;
use crate::flow::read::multi_get::multi_get;
use crate::flow::read::view::View;

impl Moment<'_> {
    // Has `read` look for one key. Always: as calls, this and the next took a get 40 instructions.
    #[inline(always)]
    fn read_key<T>(&self, key: &[u8], read: impl Fn(&View, &ReadAt) -> Result<T>) -> Result<T> {
        let core = self.database.core();
        check(core)?;
        core.statistics.add(Ticker::Gets, 1);
        if self.at.transaction().is_some() {
            return self.read_within(&[key], &read);
        }
        let view = self.parts.current.load();
        // Before the number, as in `look`.
        let now_unix_ms = now_unix_ms(core, self.parts);
        read(
            &view,
            &self.read_at(Visibility::at(self.seqno()), now_unix_ms),
        )
    }

    #[cold]
    #[inline(never)]
    fn read_within<T>(
        &self,
        keys: &[&[u8]],
        read: &dyn Fn(&View, &ReadAt) -> Result<T>,
    ) -> Result<T> {
        if let When::Within(transaction) = self.at {
            let core = self.database.core();
            for key in keys {
                locking::before_read(core, transaction, self.parts, key)?;
            }
        }
        let (view, at) = self.look()?;
        read(&view, &at)
    }

    // Looks at what was found, and does not take it: so it is written where the caller wants it.
    #[inline(always)]
    fn count_found<T>(&self, found: &Result<Option<T>>) {
        if let Ok(Some(_)) = found {
            let statistics = &self.database.core().statistics;
            statistics.add(Ticker::GetsFound, 1);
        }
    }

    /// The value of `key`, if it has one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let value = self.read_key(key, |view, at| get(view, key, at));
        self.count_found(&value);
        value
    }

    pub(crate) fn get_valued(&self, key: &[u8]) -> Result<Option<Valued>> {
        let valued = self.read_key(key, |view, at| get_valued(view, key, at));
        self.count_found(&valued);
        valued
    }

    pub(crate) fn get_lasting(&self, key: &[u8]) -> Result<Option<(Valued, Option<Expiry>)>> {
        let lasting = self.read_key(key, |view, at| get_lasting(view, key, at));
        self.count_found(&lasting);
        lasting
    }

    // With the view, which keeps what a pointer leads to.
    pub(crate) fn stored(&self, key: &[u8]) -> Result<(Arc<View>, Option<Stored>)> {
        let (view, at) = self.look()?;
        let stored = stored(&view, key, &at)?;
        Ok((view, stored))
    }

    pub(crate) fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        let core = self.database.core();
        check(core)?;
        core.statistics.add(Ticker::Gets, keys.len() as u64);
        let read = |view: &View, at: &ReadAt| multi_get(view, &keys, at).into_iter().collect();
        if self.at.transaction().is_some() {
            return self.read_within(&keys, &read);
        }
        let (view, at) = self.look()?;
        read(&view, &at)
    }

    pub(crate) fn contains_key(&self, key: &[u8]) -> Result<bool> {
        self.read_key(key, |view, at| contains(view, key, at))
    }

    pub(crate) fn expiry(&self, key: &[u8]) -> Result<Option<Option<Expiry>>> {
        self.read_key(key, |view, at| expiry(view, key, at))
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
