//! Our engine in process, through its public API.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use esker::internals::store::names::FileName;
use esker::{
    Db, DbCursor, Durability, Isolation, Keyspace, Stats, TransactionMode, TransactionOptions,
    WriteBatch, WriteOptions,
};

use crate::fail::{Failure, Outcome};
use crate::target::counters::Counters;
use crate::target::division::division;
use crate::target::settings::{StoreSettings, Transactions};
use crate::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};
use crate::target::translate::translate;

/// How long a drain waits before it looks again; short against what it waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Looks in a row that must find nothing to do: between two jobs the books are empty for a moment.
const QUIET_LOOKS: u32 = 5;

/// Our engine.
#[derive(Clone, Copy, Debug)]
pub struct Esker;

impl Engine for Esker {
    fn name(&self) -> &str {
        "Esker"
    }

    fn version(&self) -> String {
        // All crates of the workspace carry one version.
        env!("CARGO_PKG_VERSION").into()
    }

    fn is_there(&self, dir: &Path) -> bool {
        dir.join("CURRENT").is_file()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let (pairs, matched) = translate(settings);
        let mut builder = Db::builder(dir);
        for (name, text) in &pairs {
            builder = builder.set(name, text)?;
        }
        let db = builder.open()?;
        let ways = Ways::new(&db);
        Ok(Opened {
            store: Box::new(Embedded {
                db,
                ways,
                transactions: settings.transactions,
            }),
            matched,
        })
    }

    fn division(&self, dir: &Path) -> Outcome<Vec<(String, u64)>> {
        division(dir)
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        let told = |error| Failure::system(format!("cannot empty {}", dir.display()), &error);
        // First, so that a kill in between leaves no database rather than a damaged one.
        match fs::remove_file(dir.join(FileName::Current.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(told(error)),
            _ => {}
        }
        for entry in fs::read_dir(dir).map_err(told)? {
            let entry = entry.map_err(told)?;
            let is_ours = entry
                .file_name()
                .to_str()
                .is_some_and(|name| FileName::parse(name).is_some());
            if is_ours {
                fs::remove_file(entry.path()).map_err(told)?;
            }
        }
        Ok(())
    }
}

/// The keyspace as each way of writing wants it: a handle is made once, not for each write.
struct Ways {
    plain: Keyspace,
    synced: Keyspace,
    unlogged: Keyspace,
}

impl Ways {
    fn new(db: &Db) -> Ways {
        let way = |how: WriteHow| db.default_keyspace().with_write(write_options(how));
        Ways {
            plain: way(WriteHow::default()),
            synced: way(WriteHow {
                sync: true,
                no_log: false,
            }),
            unlogged: way(WriteHow {
                sync: false,
                no_log: true,
            }),
        }
    }

    fn of(&self, how: WriteHow) -> &Keyspace {
        match (how.sync, how.no_log) {
            (true, _) => &self.synced,
            (false, true) => &self.unlogged,
            (false, false) => &self.plain,
        }
    }
}

fn write_options(how: WriteHow) -> WriteOptions {
    let durability = match (how.sync, how.no_log) {
        (true, _) => Some(Durability::Sync),
        (false, true) => Some(Durability::Memory),
        // What the database was opened with.
        (false, false) => None,
    };
    WriteOptions {
        durability,
        ..WriteOptions::default()
    }
}

/// Either way no update is lost.
fn transaction_options(kind: Transactions) -> TransactionOptions {
    match kind {
        Transactions::Optimistic => TransactionOptions::default(),
        Transactions::Locking => TransactionOptions {
            mode: TransactionMode::Locking,
            // What is locked before it is read needs no snapshot; rivals take none either.
            isolation: Isolation::ReadCommitted,
            ..TransactionOptions::default()
        },
    }
}

struct Embedded {
    db: Db,
    ways: Ways,
    transactions: Option<Transactions>,
}

impl Embedded {
    fn way(&self, how: WriteHow) -> &Keyspace {
        self.ways.of(how)
    }
}

impl Store for Embedded {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        Ok(self.way(how).put(key, value)?)
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let value = self.db.get(key)?;
        if let Some(value) = &value {
            take(value);
        }
        Ok(value.is_some())
    }

    fn multi_get(&self, keys: &[&[u8]], take: &mut dyn FnMut(usize, &[u8])) -> Outcome<usize> {
        let values = self.db.multi_get(keys)?;
        let mut found = 0;
        for (place, value) in values.iter().enumerate() {
            if let Some(value) = value {
                take(place, value);
                found += 1;
            }
        }
        Ok(found)
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        Ok(self.way(how).delete(key)?)
    }

    fn merge(&self, key: &[u8], operand: &[u8], how: WriteHow) -> Outcome {
        Ok(self.way(how).merge(key, operand)?)
    }

    fn transact(&self, key: &[u8], value: &mut Vec<u8>, change: fn(&mut Vec<u8>)) -> Outcome {
        let Some(kind) = self.transactions else {
            return Err(Failure::unsupported("no transactions were set"));
        };
        let options = transaction_options(kind);
        let db = &self.db;
        Ok(db.transaction_with(options, |tx| {
            let before = match kind {
                Transactions::Optimistic => tx.get(key)?,
                Transactions::Locking => tx.get_for_update(db, key)?,
            };
            value.clear();
            value.extend_from_slice(before.as_deref().unwrap_or_default());
            change(value);
            tx.put(db, key, &*value)
        })?)
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Ok(Box::new(EmbeddedBatch {
            batch: self.db.batch(),
            store: self,
        }))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Ok(Box::new(EmbeddedCursor(self.db.cursor()?)))
    }

    fn flush(&self) -> Outcome {
        Ok(self.db.flush()?)
    }

    fn compact(&self) -> Outcome {
        Ok(self.db.compact::<&[u8]>(..)?)
    }

    fn drain(&self) -> Outcome {
        self.db.flush()?;
        let mut quiet_looks = 0;
        while quiet_looks < QUIET_LOOKS {
            let stats = self.db.stats();
            let is_due = |keyspace: &esker::KeyspaceStats| {
                // What nobody compacts stays full.
                let is_full =
                    keyspace.is_automatic && keyspace.levels.iter().any(|level| level.score >= 1.0);
                keyspace.sealed_count > 0 || is_full
            };
            let is_busy = stats.job_count > 0 || stats.keyspaces.iter().any(is_due);
            if let Some(failure) = stats.failures.last() {
                return Err(Failure::failed(failure.clone()));
            }
            quiet_looks = if is_busy { 0 } else { quiet_looks + 1 };
            std::thread::park_timeout(LOOK_AGAIN);
        }
        Ok(())
    }

    fn property(&self, name: &str) -> Option<String> {
        // The engine knows the words of LevelDB and RocksDB; where they mean different texts the
        // caller names the dialect.
        match name.contains('.') {
            true => self.db.property(name),
            false => self.db.property(&format!("esker.{name}")),
        }
    }

    fn counters(&self) -> Counters {
        counters(&self.db.stats())
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(self.db.close()?)
    }
}

/// What our engine tells in its statistics, in the words of no engine.
pub fn counters(stats: &Stats) -> Counters {
    let value = |wanted: &str| {
        let found = stats.counters.iter().find(|(name, _, _)| *name == wanted);
        found.map_or(0, |(_, _, value)| *value)
    };
    let levels = stats.keyspaces.iter().flat_map(|keyspace| &keyspace.levels);
    let logged = value("esker_wal_bytes_total");
    let compacted = value("esker_compaction_written_bytes_total");
    let flushed = value("esker_flush_bytes_total");
    let apart = value("esker_value_log_bytes_total") + value("esker_value_log_moved_bytes_total");
    Counters {
        user_bytes: Some(value("esker_write_bytes_total")),
        written_bytes: Some(logged + flushed + compacted + apart),
        stall: Some(stats.stalled),
        debt_bytes: Some(stats.keyspaces.iter().map(|one| one.debt_bytes).sum()),
        live_bytes: Some(live_bytes(stats)),
        memory_bytes: Some(stats.memory.iter().map(|(_, bytes)| bytes).sum()),
        file_count: levels.map(|level| level.file_count as u64).sum(),
        own: stats
            .counters
            .iter()
            .map(|(name, _, value)| ((*name).to_owned(), *value))
            .collect(),
    }
}

/// Bytes of sorted files and of the value log, and of the log what no sorted file holds yet: that
/// is in memtables too. Its segments are laid out ahead and used again, so that their size says
/// nothing of what lives.
fn live_bytes(stats: &Stats) -> u64 {
    let of_keyspace = |keyspace: &esker::KeyspaceStats| {
        let files: u64 = keyspace.levels.iter().map(|level| level.size_bytes).sum();
        files + keyspace.memtable_bytes
    };
    let in_the_tree: u64 = stats.keyspaces.iter().map(of_keyspace).sum();
    in_the_tree + stats.values.size_bytes
}

struct EmbeddedBatch<'a> {
    batch: WriteBatch,
    store: &'a Embedded,
}

impl Batch for EmbeddedBatch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.batch.put(&self.store.ways.plain, key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.batch.delete(&self.store.ways.plain, key);
        Ok(())
    }

    fn merge(&mut self, key: &[u8], operand: &[u8]) -> Outcome {
        self.batch.merge(&self.store.ways.plain, key, operand);
        Ok(())
    }

    fn commit(&mut self, how: WriteHow) -> Outcome {
        Ok(self.batch.commit_with(write_options(how))?)
    }
}

struct EmbeddedCursor(DbCursor);

impl EmbeddedCursor {
    // Reads a value that lies apart, so that what goes wrong then is what the move returns.
    fn arrived(&self, is_on: bool) -> Outcome<bool> {
        self.0.value()?;
        Ok(is_on)
    }
}

impl Cursor for EmbeddedCursor {
    fn seek_to_first(&mut self) -> Outcome<bool> {
        let is_on = self.0.seek_to_first()?;
        self.arrived(is_on)
    }

    fn seek_to_last(&mut self) -> Outcome<bool> {
        let is_on = self.0.seek_to_last()?;
        self.arrived(is_on)
    }

    fn seek(&mut self, key: &[u8]) -> Outcome<bool> {
        let is_on = self.0.seek(key)?;
        self.arrived(is_on)
    }

    fn next(&mut self) -> Outcome<bool> {
        let is_on = self.0.next()?;
        self.arrived(is_on)
    }

    fn prev(&mut self) -> Outcome<bool> {
        let is_on = self.0.prev()?;
        self.arrived(is_on)
    }

    fn key(&self) -> &[u8] {
        self.0.key().unwrap_or_default()
    }

    fn value(&self) -> &[u8] {
        // Read by the move already.
        self.0.value().ok().flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
