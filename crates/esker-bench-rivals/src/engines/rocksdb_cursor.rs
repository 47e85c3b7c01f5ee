//! RocksDB's iterator as a cursor, and its errors as ours.

use ::rocksdb::{DBAccess, DBRawIteratorWithThreadMode, Error};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::store::Cursor;

/// An error of RocksDB's as a failure of the run.
pub fn told(error: Error) -> Failure {
    Failure::failed(format!("RocksDB: {error}"))
}

/// A cursor over any of its stores.
pub struct OpenCursor<'a, D: DBAccess>(pub DBRawIteratorWithThreadMode<'a, D>);

impl<D: DBAccess> OpenCursor<'_, D> {
    #[inline]
    fn moved(&self) -> Outcome<bool> {
        match self.0.valid() {
            true => Ok(true),
            false => self.0.status().map(|()| false).map_err(told),
        }
    }
}

impl<D: DBAccess> Cursor for OpenCursor<'_, D> {
    fn seek_to_first(&mut self) -> Outcome<bool> {
        self.0.seek_to_first();
        self.moved()
    }

    fn seek_to_last(&mut self) -> Outcome<bool> {
        self.0.seek_to_last();
        self.moved()
    }

    fn seek(&mut self, key: &[u8]) -> Outcome<bool> {
        self.0.seek(key);
        self.moved()
    }

    fn next(&mut self) -> Outcome<bool> {
        self.0.next();
        self.moved()
    }

    fn prev(&mut self) -> Outcome<bool> {
        self.0.prev();
        self.moved()
    }

    fn key(&self) -> &[u8] {
        self.0.key().unwrap_or_default()
    }

    fn value(&self) -> &[u8] {
        self.0.value().unwrap_or_default()
    }
}
