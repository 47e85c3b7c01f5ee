//! fjall, a log-structured merge tree in Rust.

use std::ops::Bound;
use std::path::Path;

use ::fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use ::fjall::{
    CompressionType, Database, Iter, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
    Readable, Slice, Snapshot,
};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::counters::Counters;
use esker_bench::target::settings::{Matched, Packing, StoreSettings};
use esker_bench::target::store::{Batch, Cursor, Engine, Opened, Store, WriteHow};

use crate::engines::room::{self, wait_until_quiet};
use crate::engines::sheet::Sheet;

/// fjall.
#[derive(Clone, Copy, Debug)]
pub struct Fjall;

/// The keyspace that holds everything.
const KEYSPACE: &str = "default";

impl Engine for Fjall {
    fn name(&self) -> &str {
        "fjall"
    }

    fn version(&self) -> String {
        crate::engines::lockfile::locked_version("fjall")
    }

    fn is_there(&self, dir: &Path) -> bool {
        room::room(dir, "fjall").is_dir()
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let room = room::room(dir, "fjall");
        let mut sheet = Sheet::new(settings);
        let mut builder = Database::builder(&room);
        if let Some(bytes) = settings.cache_bytes {
            builder = builder.cache_size(bytes);
            sheet.given("cache_bytes", format!("cache_size={bytes}"));
        }
        if let Some(count) = settings.background_threads {
            let count = usize::try_from(count).unwrap_or(usize::MAX).max(1);
            builder = builder.worker_threads(count);
            sheet.given("background_threads", format!("worker_threads={count}"));
        }
        let db = builder.open().map_err(told)?;
        let options = keyspace_options(settings, &mut sheet);
        let keyspace = db.keyspace(KEYSPACE, || options).map_err(told)?;
        Ok(Opened {
            store: Box::new(Open {
                db,
                keyspace,
                is_synced: settings.sync,
            }),
            matched: finish(settings, sheet),
        })
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        room::clear(&room::room(dir, "fjall"))
    }
}

fn keyspace_options(settings: &StoreSettings, sheet: &mut Sheet) -> KeyspaceCreateOptions {
    let mut options = KeyspaceCreateOptions::default();
    if let Some(bytes) = settings.write_buffer_bytes {
        options = options.max_memtable_size(bytes);
        sheet.given("write_buffer_bytes", format!("max_memtable_size={bytes}"));
    }
    if let Some(bits) = settings.filter_bits {
        let entry = match bits > 0.0 {
            // The nearest number that it can hold.
            true => FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits as f32)),
            false => FilterPolicyEntry::None,
        };
        options = options.filter_policy(FilterPolicy::all(entry));
        sheet.given(
            "filter_bits",
            format!("filter_policy={bits} bits, all levels"),
        );
    }
    if let Some(packing) = settings.packing {
        let (kind, name) = match packing {
            Packing::None => (CompressionType::None, "none"),
            _ => (CompressionType::Lz4, "lz4"),
        };
        options = options.data_block_compression_policy(CompressionPolicy::all(kind));
        let note = match packing {
            Packing::None | Packing::Lz4 => "",
            _ => "the engine packs with lz4 or not at all",
        };
        sheet.told("packing", format!("compression={name}"), note);
    }
    if let Some(bytes) = settings.block_bytes {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        options = options.data_block_size_policy(BlockSizePolicy::all(bytes));
        sheet.given("block_bytes", format!("data_block_size={bytes}"));
    }
    options
}

fn finish(settings: &StoreSettings, mut sheet: Sheet) -> Vec<Matched> {
    let persist = if settings.sync { "SyncData" } else { "Buffer" };
    sheet.given("sync", format!("persist={persist} after each write"));
    sheet.rows()
}

fn told(error: ::fjall::Error) -> Failure {
    Failure::failed(format!("fjall: {error}"))
}

/// An open fjall.
struct Open {
    db: Database,
    keyspace: Keyspace,
    is_synced: bool,
}

impl Open {
    // Each write reaches the page cache by itself.
    fn settle(&self, how: WriteHow) -> Outcome {
        match self.is_synced || how.sync {
            true => self.db.persist(PersistMode::SyncData).map_err(told),
            false => Ok(()),
        }
    }
}

impl Store for Open {
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome {
        self.keyspace.insert(key, value).map_err(told)?;
        self.settle(how)
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let value = self.keyspace.get(key).map_err(told)?;
        if let Some(value) = &value {
            take(value);
        }
        Ok(value.is_some())
    }

    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome {
        self.keyspace.remove(key).map_err(told)?;
        self.settle(how)
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Ok(Box::new(OpenBatch {
            batch: self.db.batch(),
            store: self,
        }))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Ok(Box::new(OpenCursor {
            keyspace: &self.keyspace,
            snapshot: self.db.snapshot(),
            walk: None,
            at: None,
        }))
    }

    fn flush(&self) -> Outcome {
        self.keyspace.rotate_memtable_and_wait().map_err(told)
    }

    // It compacts files only: what is in memory goes there first, as elsewhere.
    fn compact(&self) -> Outcome {
        self.flush()?;
        self.keyspace.major_compact().map_err(told)
    }

    fn drain(&self) -> Outcome {
        wait_until_quiet(|| {
            let jobs = self.db.active_compactions() + self.db.outstanding_flushes();
            Ok(jobs > 0 || self.keyspace.sealed_memtable_count() > 0)
        })
    }

    fn property(&self, _name: &str) -> Option<String> {
        None
    }

    fn counters(&self) -> Counters {
        Counters {
            live_bytes: Some(self.keyspace.disk_space()),
            memory_bytes: Some(self.db.cache_size() + self.db.write_buffer_size()),
            ..Counters::default()
        }
    }

    fn close(self: Box<Self>) -> Outcome {
        self.db.persist(PersistMode::SyncAll).map_err(told)
    }
}

struct OpenBatch<'a> {
    batch: OwnedWriteBatch,
    store: &'a Open,
}

impl Batch for OpenBatch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.batch.insert(&self.store.keyspace, key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.batch.remove(&self.store.keyspace, key);
        Ok(())
    }

    fn merge(&mut self, _key: &[u8], _operand: &[u8]) -> Outcome {
        Err(Failure::unsupported("fjall has no merge operators"))
    }

    fn commit(&mut self, how: WriteHow) -> Outcome {
        let full = std::mem::replace(&mut self.batch, self.store.db.batch());
        full.commit().map_err(told)?;
        self.store.settle(how)
    }
}

/// An iterator that is made anew where the direction changes.
struct OpenCursor<'a> {
    keyspace: &'a Keyspace,
    snapshot: Snapshot,
    /// Whether it goes forward, and what is left.
    walk: Option<(bool, Iter)>,
    at: Option<(Slice, Slice)>,
}

impl OpenCursor<'_> {
    fn forward_from(&mut self, start: Bound<&[u8]>) -> Outcome<bool> {
        let iter = self
            .snapshot
            .range::<&[u8], _>(self.keyspace, (start, Bound::Unbounded));
        self.walk = Some((true, iter));
        self.step()
    }

    fn backward_from(&mut self, end: Bound<&[u8]>) -> Outcome<bool> {
        let iter = self
            .snapshot
            .range::<&[u8], _>(self.keyspace, (Bound::Unbounded, end));
        self.walk = Some((false, iter));
        self.step()
    }

    #[inline]
    fn step(&mut self) -> Outcome<bool> {
        let guard = match &mut self.walk {
            Some((true, iter)) => iter.next(),
            Some((false, iter)) => iter.next_back(),
            None => None,
        };
        self.at = guard
            .map(|guard| guard.into_inner())
            .transpose()
            .map_err(told)?;
        Ok(self.at.is_some())
    }
}

impl Cursor for OpenCursor<'_> {
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
                let key = key.clone();
                self.forward_from(Bound::Excluded(&key))
            }
            _ => self.step(),
        }
    }

    fn prev(&mut self) -> Outcome<bool> {
        match (&self.walk, &self.at) {
            (Some((true, _)), Some((key, _))) => {
                let key = key.clone();
                self.backward_from(Bound::Excluded(&key))
            }
            _ => self.step(),
        }
    }

    fn key(&self) -> &[u8] {
        self.at.as_ref().map_or(&[], |(key, _)| key)
    }

    fn value(&self) -> &[u8] {
        self.at.as_ref().map_or(&[], |(_, value)| value)
    }
}
