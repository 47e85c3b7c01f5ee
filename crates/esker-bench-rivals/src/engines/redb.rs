//! redb, a copy-on-write B-tree in Rust.

use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use ::redb::{
    AccessGuard, Database, Durability, Range, ReadOnlyTable, ReadableDatabase, TableDefinition,
    TableError, WriteTransaction,
};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::StoreSettings;
use esker_bench::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};

use crate::engines::held::HeldBatch;
use crate::engines::room;
use crate::engines::sheet::Sheet;

/// redb.
#[derive(Clone, Copy, Debug)]
pub struct Redb;

type Bytes = &'static [u8];
type Table = ReadOnlyTable<Bytes, Bytes>;

/// The table that holds everything.
const TABLE: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("default");

/// Name of its one file.
const FILE: &str = "store.redb";

impl Engine for Redb {
    fn name(&self) -> &str {
        "redb"
    }

    fn version(&self) -> String {
        crate::engines::lockfile::locked_version("redb")
    }

    fn is_there(&self, dir: &Path) -> bool {
        room::room(dir, "redb").join(FILE).is_file()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let room = room::room(dir, "redb");
        room::make(&room)?;
        let mut sheet = Sheet::new(settings);
        let mut builder = Database::builder();
        // One cache holds pages that were read and pages that were written.
        let buffers = settings.write_buffer_bytes.unwrap_or(0);
        if let Some(bytes) = settings.cache_bytes {
            let all = bytes + buffers;
            builder.set_cache_size(usize::try_from(all).unwrap_or(usize::MAX));
            let note = "one cache for pages read and pages written";
            sheet.told("cache_bytes", format!("cache_size={all}"), note);
            sheet.told("write_buffer_bytes", "in cache_size", note);
        }
        sheet.told("packing", "", "pages are never packed");
        sheet.told("filter_bits", "", "a B-tree has no filters");
        match settings.sync {
            true => sheet.given("sync", "durability=Immediate"),
            false => sheet.told(
                "sync",
                "durability=None",
                "weaker than asked: writes are lost with the process; it has nothing between",
            ),
        }
        let db = builder.create(room.join(FILE)).map_err(told)?;
        let store = Open {
            db,
            is_synced: settings.sync,
            version: AtomicU64::new(0),
            reader: RwLock::new(None),
        };
        store.write(WriteHow::default(), |_| Ok(()))?;
        Ok(Opened {
            store: Box::new(store),
            matched: sheet.rows(),
        })
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        room::clear(&room::room(dir, "redb"))
    }
}

fn told(error: impl Into<::redb::Error>) -> Failure {
    Failure::failed(format!("redb: {}", error.into()))
}

/// An open redb.
struct Open {
    db: Database,
    is_synced: bool,
    /// Commits so far.
    version: AtomicU64,
    /// A table as of some commit, for reads until the next one: a transaction for each read would
    /// cost several times the read.
    reader: RwLock<Option<(u64, Arc<Table>)>>,
}

impl Open {
    fn write(
        &self,
        how: WriteHow,
        work: impl FnOnce(&mut ::redb::Table<'_, Bytes, Bytes>) -> Outcome,
    ) -> Outcome {
        self.release();
        let transaction = self.begin(how)?;
        {
            let mut table = transaction.open_table(TABLE).map_err(told)?;
            work(&mut table)?;
        }
        transaction.commit().map_err(told)?;
        // Readers must not take an older table from here on.
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn begin(&self, how: WriteHow) -> Outcome<WriteTransaction> {
        let mut transaction = self.db.begin_write().map_err(told)?;
        let durability = match self.is_synced || how.sync {
            true => Durability::Immediate,
            false => Durability::None,
        };
        transaction
            .set_durability(durability)
            .map_err(|error| Failure::failed(format!("redb: {error}")))?;
        Ok(transaction)
    }

    // An open reader keeps pages from being used again.
    fn release(&self) {
        let is_held = self.reader.read().is_ok_and(|reader| reader.is_some());
        if is_held {
            *self.reader.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn table(&self) -> Outcome<Arc<Table>> {
        let version = self.version.load(Ordering::SeqCst);
        {
            let reader = self.reader.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, table)) = reader.as_ref().filter(|(of, _)| *of == version) {
                return Ok(Arc::clone(table));
            }
        }
        let table = Arc::new(self.fresh_table()?);
        let mut reader = self.reader.write().unwrap_or_else(PoisonError::into_inner);
        *reader = Some((version, Arc::clone(&table)));
        Ok(table)
    }

    fn fresh_table(&self) -> Outcome<Table> {
        let transaction = self.db.begin_read().map_err(told)?;
        transaction
            .open_table(TABLE)
            .map_err(|error: TableError| told(error))
    }
}

impl Store for Open {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        self.write(how, |table| {
            table.insert(key, value).map_err(told)?;
            Ok(())
        })
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let value = self.table()?.get(key).map_err(told)?;
        if let Some(value) = &value {
            take(value.value());
        }
        Ok(value.is_some())
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        self.write(how, |table| {
            table.remove(key).map_err(told)?;
            Ok(())
        })
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Ok(Box::new(HeldBatch::new("redb", |writes, how| {
            self.write(how, |table| {
                for (key, value) in writes {
                    match value {
                        Some(value) => drop(table.insert(&key[..], &value[..]).map_err(told)?),
                        None => drop(table.remove(&key[..]).map_err(told)?),
                    }
                }
                Ok(())
            })
        })))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Ok(Box::new(OpenCursor {
            table: self.table()?,
            walk: None,
            at: None,
        }))
    }

    // The one way to put on disk what lies in memory.
    fn flush(&self) -> Outcome {
        let how = WriteHow {
            sync: true,
            no_log: false,
        };
        self.write(how, |_| Ok(()))
    }

    // It has no levels to merge; what it calls compaction moves pages, for space only.
    fn compact(&self) -> Outcome {
        self.flush()
    }

    fn drain(&self) -> Outcome {
        Ok(())
    }

    fn property(&self, _name: &str) -> Option<String> {
        None
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn close(self: Box<Self>) -> Outcome {
        self.flush()
    }
}

type Entry = (AccessGuard<'static, Bytes>, AccessGuard<'static, Bytes>);

/// A range that is made anew where the direction changes.
struct OpenCursor {
    table: Arc<Table>,
    /// Whether it goes forward, and what is left.
    walk: Option<(bool, Range<'static, Bytes, Bytes>)>,
    at: Option<Entry>,
}

impl OpenCursor {
    fn forward_from(&mut self, start: Bound<&[u8]>) -> Outcome<bool> {
        let range = self.table.range::<&[u8]>((start, Bound::Unbounded));
        self.walk = Some((true, range.map_err(told)?));
        self.step()
    }

    fn backward_from(&mut self, end: Bound<&[u8]>) -> Outcome<bool> {
        let range = self.table.range::<&[u8]>((Bound::Unbounded, end));
        self.walk = Some((false, range.map_err(told)?));
        self.step()
    }

    #[inline]
    fn step(&mut self) -> Outcome<bool> {
        let entry = match &mut self.walk {
            Some((true, range)) => range.next(),
            Some((false, range)) => range.next_back(),
            None => None,
        };
        self.at = entry.transpose().map_err(told)?;
        Ok(self.at.is_some())
    }
}

impl Cursor for OpenCursor {
    fn seek_to_first(&mut self) -> Outcome<bool> {
        self.forward_from(Bound::Unbounded)
    }

    fn seek_to_last(&mut self) -> Outcome<bool> {
        self.backward_from(Bound::Unbounded)
    }

    fn seek(&mut self, key: &[u8]) -> Outcome<bool> {
        self.forward_from(Bound::Included(key))
    }

    fn next(&mut self) -> Outcome<bool> {
        match (&self.walk, &self.at) {
            (Some((false, _)), Some((key, _))) => {
                let key = key.value().to_vec();
                self.forward_from(Bound::Excluded(&key))
            }
            _ => self.step(),
        }
    }

    fn prev(&mut self) -> Outcome<bool> {
        match (&self.walk, &self.at) {
            (Some((true, _)), Some((key, _))) => {
                let key = key.value().to_vec();
                self.backward_from(Bound::Excluded(&key))
            }
            _ => self.step(),
        }
    }

    fn key(&self) -> &[u8] {
        self.at.as_ref().map_or(&[], |(key, _)| key.value())
    }

    fn value(&self) -> &[u8] {
        self.at.as_ref().map_or(&[], |(_, value)| value.value())
    }
}
