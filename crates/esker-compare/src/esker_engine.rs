//! Esker under measurement.

use std::path::Path;

use esker::{Db, Readable};

use crate::Fault;
use crate::engine::{Engine, Kind, Met, Setup};

/// Memtables at the same time: one live, one being flushed, one sealed meanwhile.
const MEMTABLES: usize = 3;

/// Esker.
pub const ESKER: Kind = Kind {
    name: "esker",
    open: |dir, setup| Ok(Box::new(EskerEngine::open(dir, setup)?)),
};

struct EskerEngine(Db);

impl EskerEngine {
    // One limit covers everything here: what the cache gets is the limit less the memtables,
    // and less filters and indexes, which the rival holds beside its cache.
    fn open(dir: &Path, setup: &Setup) -> Result<EskerEngine, Fault> {
        let limit = setup.cache_bytes + MEMTABLES * setup.buffer_bytes;
        let compression = if setup.is_packed { "snappy" } else { "none" };
        let mut builder = Db::builder(dir)
            .set("memory_limit", &limit.to_string())?
            .set("memtable.size", &setup.buffer_bytes.to_string())?
            .set("compression", compression)?
            .set("sst.filter_bits", &setup.bloom_bits.to_string())?;
        for (name, text) in &setup.esker {
            builder = builder.set(name, text)?;
        }
        Ok(EskerEngine(builder.open()?))
    }
}

impl Engine for EskerEngine {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Fault> {
        Ok(self.0.put(key, value)?)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<usize>, Fault> {
        Ok(self.0.get(key)?.map(|value| value.len()))
    }

    fn scan_forward(&mut self) -> Result<Met, Fault> {
        let mut met = Met::default();
        let mut cursor = self.0.cursor()?;
        let mut is_valid = cursor.seek_to_first()?;
        while is_valid {
            met.count += 1;
            met.bytes += entry_bytes(cursor.key(), cursor.value());
            is_valid = cursor.next()?;
        }
        Ok(met)
    }

    fn scan_backward(&mut self) -> Result<Met, Fault> {
        let mut met = Met::default();
        let mut cursor = self.0.cursor()?;
        let mut is_valid = cursor.seek_to_last()?;
        while is_valid {
            met.count += 1;
            met.bytes += entry_bytes(cursor.key(), cursor.value());
            is_valid = cursor.prev()?;
        }
        Ok(met)
    }

    fn compact(&mut self) -> Result<(), Fault> {
        Ok(self.0.compact::<&[u8]>(..)?)
    }
}

impl Drop for EskerEngine {
    fn drop(&mut self) {
        if let Err(error) = self.0.close() {
            eprintln!("esker: close: {error}");
        }
    }
}

fn entry_bytes(key: Option<&[u8]>, value: Option<&[u8]>) -> u64 {
    let bytes = key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len);
    bytes as u64
}
