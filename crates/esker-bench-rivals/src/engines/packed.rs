//! An engine with one packing: the same engine with another is another contender.

use std::path::Path;

use esker_bench::fail::Outcome;
use esker_bench::target::settings::{Packing, StoreSettings};
use esker_bench::target::store::{Engine, Opened};

/// Bytes of a block before packing: RocksDB's advice where space matters.
const BLOCK_BYTES: u64 = 16 << 10;

/// An engine that packs blocks of 16 KiB in one way and reads its files through memory maps.
pub struct Packed {
    name: String,
    packing: Packing,
    inner: Box<dyn Engine>,
}

impl Packed {
    /// `inner` with that packing, which its name tells.
    pub fn new(inner: Box<dyn Engine>, packing: Packing) -> Packed {
        Packed {
            name: format!("{} {}", inner.name(), packing.name()),
            packing,
            inner,
        }
    }
}

impl Engine for Packed {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        self.inner.version()
    }

    fn is_there(&self, dir: &Path) -> bool {
        self.inner.is_there(dir)
    }

    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened> {
        let settings = StoreSettings {
            packing: Some(self.packing),
            block_bytes: Some(BLOCK_BYTES),
            mapped_reads: Some(true),
            // Those are of ours.
            own: Vec::new(),
            ..settings.clone()
        };
        self.inner.open(dir, &settings)
    }

    fn division(&self, dir: &Path) -> Outcome<Vec<(String, u64)>> {
        self.inner.division(dir)
    }

    fn destroy(&self, dir: &Path) -> Outcome {
        self.inner.destroy(dir)
    }
}
