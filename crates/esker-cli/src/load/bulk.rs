//! Loads by sorted files: outside of the database, and taken in when all of them are there.
//!
//! Each keyspace has a spool, which makes runs of its entries; of a key that comes twice the last
//! value counts. The database is not touched before the end, so whatever stops a load leaves
//! nothing of it there.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::ErrorKind as Os;
use std::path::{Path, PathBuf};

use esker::internals::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX, check_len};
use esker::{Db, Expiry, Keyspace};

use crate::fail::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::load::spool::{Spool, moved};

/// The file that says that a directory is of a bulk load.
const MARK: &str = "BULK-LOAD";

/// When an entry ends.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    /// Then, or never.
    At(Option<Expiry>),
    /// After as long as its keyspace says, from now on.
    AsTheKeyspaceSays,
}

/// Sorted files in the making, for some keyspaces.
pub struct Bulk {
    /// Beside the database, so that files can become its own by second names.
    dir: PathBuf,
    memory_bytes: usize,
    held_bytes: usize,
    spools: BTreeMap<String, Spool>,
}

impl Bulk {
    /// Nothing yet, for the database in `database`, which this process has open; what a load that
    /// was stopped left is removed. At most so much memory holds entries at a time.
    pub fn begin(database: &Path, memory_bytes: usize) -> Outcome<Bulk> {
        let dir = beside(database)?;
        remove(&dir)?;
        let made = std::fs::create_dir(&dir).and_then(|()| std::fs::write(dir.join(MARK), ""));
        let doing = || format!("cannot write to {}", dir.display());
        made.map_err(|error| Failure::system(doing(), &error))?;
        Ok(Bulk {
            dir,
            memory_bytes,
            held_bytes: 0,
            spools: BTreeMap::new(),
        })
    }

    /// Takes an entry for a keyspace. An error inside is about this entry; any other failure ends
    /// the load.
    pub fn put(
        &mut self,
        keyspace: &Keyspace,
        key: &[u8],
        value: &[u8],
        ends: Ends,
    ) -> Outcome<esker::Result<()>> {
        let checked = check_len("key", key.len(), KEY_BYTES_MAX);
        let checked = checked.and_then(|()| check_len("value", value.len(), VALUE_BYTES_MAX));
        if checked.is_err() {
            return Ok(checked);
        }
        if !self.spools.contains_key(keyspace.name()) {
            let dir = self.dir.join(self.spools.len().to_string());
            let spool = Spool::begin(keyspace, dir)?;
            self.spools.insert(keyspace.name().to_owned(), spool);
        }
        let spool = self.spools.get_mut(keyspace.name());
        let spool = spool.expect("made just now");
        let expiry = match ends {
            // Second 0 is when all runs are merged.
            Ends::At(expiry) => expiry.map(|end| end.max(Expiry::from_unix_s(1))),
            Ends::AsTheKeyspaceSays => spool.own_expiry(),
        };
        let before = spool.waiting_bytes();
        spool.put(key, value, expiry)?;
        self.held_bytes += spool.waiting_bytes() - before;
        // The other half is being written.
        if self.held_bytes >= self.memory_bytes / 2 {
            self.spill_largest()?;
        }
        Ok(Ok(()))
    }

    // Until half is free: of thousands of small ones each would be a run of some entries.
    fn spill_largest(&mut self) -> esker::Result<()> {
        let mut spools: Vec<_> = self.spools.values_mut().collect();
        spools.sort_by_key(|spool| Reverse(spool.waiting_bytes()));
        for spool in spools {
            if self.held_bytes <= self.memory_bytes / 4 {
                break;
            }
            self.held_bytes -= spool.waiting_bytes();
            spool.spill()?;
        }
        Ok(())
    }

    /// Has the database take all of it in, at one moment; `false`, and nothing is taken in, when
    /// somebody asked to stop before.
    pub fn finish(mut self, db: &Db, interrupt: &Interrupt) -> esker::Result<bool> {
        let mut sets = Vec::new();
        for spool in self.spools.values_mut() {
            let Some(runs) = spool.finish(interrupt)? else {
                return Ok(false);
            };
            let into = |run| (spool.keyspace().clone(), run);
            sets.extend(runs.into_iter().map(into));
        }
        let sets: Vec<_> = sets.iter().map(|(keyspace, dir)| (keyspace, dir)).collect();
        db.ingest_all(&sets, &moved())?;
        Ok(true)
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.spools.clear();
        // What stays is removed by the next load.
        let _left = remove(&self.dir);
    }
}

// Where the files of a bulk load into that database are made.
fn beside(database: &Path) -> Outcome<PathBuf> {
    let whole = database.canonicalize();
    let doing = || format!("cannot find {}", database.display());
    let whole = whole.map_err(|error| Failure::system(doing(), &error))?;
    let mut name = whole.file_name().unwrap_or_default().to_owned();
    name.push(".bulk");
    Ok(whole.with_file_name(name))
}

// Removes the directory of a bulk load, and none that is anything else. Its mark goes last.
fn remove(dir: &Path) -> Outcome<()> {
    let doing = || format!("cannot remove {}", dir.display());
    let told = |error| Failure::system(doing(), &error);
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == Os::NotFound => return Ok(()),
        entries => entries.map_err(told)?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<std::io::Result<_>>().map_err(told)?;
    if !names.is_empty() && !names.iter().any(|name| name == MARK) {
        return Err(Failure::failed(format!(
            "{} is in the way: a bulk load makes its files there, and what is in it is not of one; \
             move it elsewhere",
            dir.display()
        )));
    }
    for name in names.iter().filter(|name| *name != MARK) {
        std::fs::remove_dir_all(dir.join(name)).map_err(told)?;
    }
    if !names.is_empty() {
        std::fs::remove_file(dir.join(MARK)).map_err(told)?;
    }
    std::fs::remove_dir(dir).map_err(told)
}
