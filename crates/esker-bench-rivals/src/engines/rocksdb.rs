//! RocksDB, current release, built from source.

use std::path::Path;

use ::rocksdb::{
    Cache, CompactOptions, DB, FlushOptions, Options, ReadOptions, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::StoreSettings;
use esker_bench::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};

use crate::engines::lockfile::locked_version;
use crate::engines::rocksdb_cursor::{OpenCursor, told};
use crate::engines::rocksdb_options::{Translated, translate};
use crate::engines::rocksdb_transactions::OpenForTransactions;
use crate::engines::sheet::Sheet;

/// RocksDB.
#[derive(Clone, Copy, Debug)]
pub struct RocksDb;

impl Engine for RocksDb {
    fn name(&self) -> &str {
        "RocksDB"
    }

    fn version(&self) -> String {
        // The crate of the C++ sources carries their version behind a plus.
        let version = locked_version("librocksdb-sys");
        let own = version.split_once('+').map(|(_, own)| own.to_owned());
        own.unwrap_or(version)
    }

    fn is_there(&self, dir: &Path) -> bool {
        room(dir).join("CURRENT").is_file()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let mut sheet = Sheet::new(settings);
        let Translated {
            options,
            cache,
            has_merge,
        } = translate(settings, &mut sheet);
        if let Some(kind) = settings.transactions {
            sheet.given("transactions", OpenForTransactions::name(kind));
            return Ok(Opened {
                store: Box::new(OpenForTransactions::open(&options, &room(dir), kind)?),
                matched: sheet.rows(),
            });
        }
        let db = DB::open(&options, room(dir)).map_err(told)?;
        Ok(Opened {
            store: Box::new(Open {
                db,
                cache,
                has_merge,
                ways: Ways::new(settings.sync),
                read: ReadOptions::default(),
            }),
            matched: sheet.rows(),
        })
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        match self.is_there(dir) {
            true => {
                DB::destroy(&Options::default(), room(dir)).map_err(told)?;
                crate::engines::room::clear(&room(dir))
            }
            false => Ok(()),
        }
    }
}

fn room(dir: &Path) -> std::path::PathBuf {
    crate::engines::room::room(dir, "rocksdb")
}

/// Each way of writing, made once.
struct Ways {
    plain: WriteOptions,
    synced: WriteOptions,
    unlogged: WriteOptions,
}

impl Ways {
    fn new(is_synced: bool) -> Ways {
        let mut ways = Ways {
            plain: WriteOptions::default(),
            synced: WriteOptions::default(),
            unlogged: WriteOptions::default(),
        };
        ways.plain.set_sync(is_synced);
        ways.synced.set_sync(true);
        ways.unlogged.disable_wal(true);
        ways
    }

    fn of(&self, how: WriteHow) -> &WriteOptions {
        match (how.sync, how.no_log) {
            (true, _) => &self.synced,
            (false, true) => &self.unlogged,
            (false, false) => &self.plain,
        }
    }
}

/// An open RocksDB.
struct Open {
    db: DB,
    cache: Option<Cache>,
    has_merge: bool,
    ways: Ways,
    read: ReadOptions,
}

impl Open {
    fn number(&self, name: &str) -> Option<u64> {
        self.db.property_int_value(name).ok().flatten()
    }

    fn check_merge(&self) -> Outcome {
        match self.has_merge {
            true => Ok(()),
            false => Err(Failure::unsupported("no merge operator was set")),
        }
    }
}

impl Store for Open {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        self.db.put_opt(key, value, self.ways.of(how)).map_err(told)
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let value = self.db.get_pinned_opt(key, &self.read).map_err(told)?;
        if let Some(value) = &value {
            take(value);
        }
        Ok(value.is_some())
    }

    fn multi_get(&self, keys: &[&[u8]], take: &mut dyn FnMut(usize, &[u8])) -> Outcome<usize> {
        let mut found = 0;
        for (place, value) in self
            .db
            .multi_get_opt(keys, &self.read)
            .into_iter()
            .enumerate()
        {
            if let Some(value) = value.map_err(told)? {
                take(place, &value);
                found += 1;
            }
        }
        Ok(found)
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        self.db.delete_opt(key, self.ways.of(how)).map_err(told)
    }

    fn merge(&self, key: &[u8], operand: &[u8], how: WriteHow) -> Outcome {
        self.check_merge()?;
        self.db
            .merge_opt(key, operand, self.ways.of(how))
            .map_err(told)
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Ok(Box::new(OpenBatch {
            batch: WriteBatch::default(),
            store: self,
        }))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Ok(Box::new(OpenCursor(self.db.raw_iterator())))
    }

    fn flush(&self) -> Outcome {
        self.db.flush_opt(&FlushOptions::default()).map_err(told)
    }

    fn compact(&self) -> Outcome {
        let options = CompactOptions::default();
        self.db
            .compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
        Ok(())
    }

    fn drain(&self) -> Outcome {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        self.db.wait_for_compact(&options).map_err(told)
    }

    fn property(&self, name: &str) -> Option<String> {
        self.db
            .property_value(&format!("rocksdb.{name}"))
            .ok()
            .flatten()
    }

    fn counters(&self) -> Counters {
        let cached = self
            .cache
            .as_ref()
            .map_or(0, |cache| cache.get_usage() as u64);
        let tables = self.number("rocksdb.cur-size-all-mem-tables");
        Counters {
            debt_bytes: self.number("rocksdb.estimate-pending-compaction-bytes"),
            live_bytes: self.number("rocksdb.total-sst-files-size"),
            memory_bytes: tables.map(|tables| tables + cached),
            ..Counters::default()
        }
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(())
    }
}

struct OpenBatch<'a> {
    batch: WriteBatch,
    store: &'a Open,
}

impl Batch for OpenBatch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.batch.put(key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.batch.delete(key);
        Ok(())
    }

    fn merge(&mut self, key: &[u8], operand: &[u8]) -> Outcome {
        self.store.check_merge()?;
        self.batch.merge(key, operand);
        Ok(())
    }

    fn commit(&mut self, how: WriteHow) -> Outcome {
        let how = self.store.ways.of(how);
        let full = std::mem::take(&mut self.batch);
        self.store.db.write_opt(full, how).map_err(told)
    }
}
