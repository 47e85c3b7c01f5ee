//! The bytes of one simulated file: what processes see, and what the disk has.

use std::collections::BTreeMap;

use crate::env::random::Random;
use crate::env::sim::crash::Survival;
use crate::env::sim::sparse::{PAGE_SECTORS, SECTOR_BYTES, Sector, SparseBytes};

// Between two syncs a log may rewrite one sector hundreds of times; a power cut can catch any
// of them, but a few recent ones make the same stories and keep memory small.
const VERSIONS_MAX: usize = 8;

/// The bytes of one file.
///
/// Shape: `now` is what every process sees. `durable` is what is on the medium for certain.
/// Between them lie, for each unsynced sector, its last versions with the numbers of the calls
/// that wrote them; the sizes the file had; and a truncation that may not have happened yet.
#[derive(Clone, Debug, Default)]
pub struct Content {
    now: SparseBytes,
    durable: SparseBytes,
    unsynced: BTreeMap<u64, Vec<Version>>,
    sizes: Vec<(u64, u64)>,
    cut: Option<Cut>,
}

#[derive(Clone, Debug)]
struct Version {
    call: u64,
    sector: Box<Sector>,
}

// An unsynced truncation, and what the medium had before it.
#[derive(Clone, Debug)]
struct Cut {
    call: u64,
    before: SparseBytes,
}

impl Content {
    /// A file whose bytes are all durable.
    pub fn durable(bytes: SparseBytes) -> Content {
        Content {
            now: bytes.clone(),
            durable: bytes,
            ..Content::default()
        }
    }

    /// What processes see.
    pub fn now(&self) -> &SparseBytes {
        &self.now
    }

    /// Writes at `offset`, growing the file as needed.
    pub fn write(&mut self, call: u64, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let old_len = self.now.len();
        self.now.write(offset, bytes);
        if self.now.len() > old_len {
            self.sizes.push((call, self.now.len()));
        }
        let last = offset + bytes.len() as u64 - 1;
        for index in offset / SECTOR_BYTES as u64..=last / SECTOR_BYTES as u64 {
            let versions = self.unsynced.entry(index).or_default();
            if versions.len() == VERSIONS_MAX {
                versions.remove(0);
            }
            let sector = Box::new(self.now.sector(index));
            versions.push(Version { call, sector });
        }
    }

    /// Adds zeros at the end up to `len`; nothing if the file is as long already.
    pub fn grow(&mut self, call: u64, len: u64) {
        if len > self.now.len() {
            self.now.resize(len);
            self.sizes.push((call, len));
        }
    }

    /// Cuts the end off; the file is longer.
    pub fn trim(&mut self, call: u64, len: u64) {
        self.now.resize(len);
        self.sizes.push((call, len));
    }

    /// Empties the file. Until synced, the medium has either all of the old or the new.
    pub fn truncate(&mut self, call: u64) {
        let before = std::mem::take(&mut self.durable);
        if self.cut.is_none() && !before.is_empty() {
            self.cut = Some(Cut { call, before });
        }
        self.now = SparseBytes::default();
        self.unsynced.clear();
        self.sizes.clear();
    }

    /// Makes bytes and size durable.
    pub fn sync(&mut self) {
        self.durable.resize(self.now.len());
        for index in std::mem::take(&mut self.unsynced).into_keys() {
            self.durable.set_sector(index, &self.now.sector(index));
        }
        self.sizes.clear();
        self.cut = None;
    }

    /// What a failed sync does: some sectors reach the medium, the others are *marked clean*,
    /// so that processes still see them but no later sync writes them.
    pub fn fail_sync(&mut self, random: &mut Random) {
        for (index, versions) in std::mem::take(&mut self.unsynced) {
            let in_durable = (index + 1) * SECTOR_BYTES as u64 <= self.durable.len();
            if let Some(version) = versions.last()
                && in_durable
                && random.one_in(2)
            {
                self.durable.set_sector(index, &version.sector);
            }
        }
    }

    /// What the medium has after a power cut.
    pub fn image(&self, survival: &mut Survival) -> SparseBytes {
        if let Some(cut) = &self.cut
            && survival.limit(&[cut.call]) < cut.call
        {
            return cut.before.clone();
        }
        let mut image = self.durable.clone();
        let size_calls: Vec<u64> = self.sizes.iter().map(|(call, _)| *call).collect();
        let size_limit = survival.limit(&size_calls);
        let seen_size = self
            .sizes
            .iter()
            .rev()
            .find(|(call, _)| *call <= size_limit);
        if let Some((_, len)) = seen_size {
            image.resize(*len);
        }
        for (_, sectors) in self.units(survival.is_by_page()) {
            let mut calls: Vec<u64> = sectors
                .iter()
                .flat_map(|(_, versions)| versions.iter().map(|version| version.call))
                .collect();
            calls.sort_unstable();
            let limit = survival.limit(&calls);
            for (index, versions) in sectors {
                let seen = versions.iter().rev().find(|version| version.call <= limit);
                if let Some(version) = seen {
                    image.set_sector(index, &version.sector);
                }
            }
        }
        image
    }

    // The unsynced sectors, grouped by what survives together.
    fn units(&self, is_by_page: bool) -> BTreeMap<u64, Vec<(u64, &[Version])>> {
        let mut units: BTreeMap<u64, Vec<(u64, &[Version])>> = BTreeMap::new();
        for (index, versions) in &self.unsynced {
            let unit = if is_by_page {
                index / PAGE_SECTORS
            } else {
                *index
            };
            units.entry(unit).or_default().push((*index, versions));
        }
        units
    }
}

#[cfg(test)]
mod tests;
