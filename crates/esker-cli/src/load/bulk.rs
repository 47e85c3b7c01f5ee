//! Loads by sorted files: outside of the database, and taken in when all of them are there.
//!
//! Entries whose keys ascend go straight into files. From the first on that does not, they are
//! gathered in memory and written in sorted runs, which are merged at the end; of a key that comes
//! twice the last value counts. The database is not touched before the end, so whatever stops a
//! load leaves nothing of it there.

use std::collections::BTreeMap;
use std::io::ErrorKind as Os;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use esker::internals::base::options::catalog::set_keyspace;
use esker::internals::base::types::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX, check_len};
use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::{Db, IngestOptions, Keyspace, KeyspaceOptions, SstWriter, Transfer};

use crate::fail::{Failure, Outcome};
use crate::interrupt::Interrupt;

/// The file that says that a directory is of a bulk load.
const MARK: &str = "BULK-LOAD";

/// Bytes that an entry in memory takes beside its key and value.
const ENTRY_BYTES: usize = size_of::<Waiting>();

/// An entry that waits in memory.
type Waiting = (Vec<u8>, Vec<u8>, Option<u32>);

/// When an entry ends.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    /// At that unix second, or never.
    At(Option<u32>),
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

/// The entries of one keyspace.
struct Spool {
    keyspace: Keyspace,
    options: KeyspaceOptions,
    dir: PathBuf,
    /// As long as keys ascend.
    writer: Option<SstWriter>,
    last_key: Option<Vec<u8>>,
    waiting: Vec<Waiting>,
    runs: Vec<PathBuf>,
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
            Ends::At(expiry) => expiry.map(|second| second.max(1)),
            Ends::AsTheKeyspaceSays => spool.own_expiry(),
        };
        self.held_bytes += spool.put(key, value, expiry)?;
        if self.held_bytes >= self.memory_bytes {
            self.held_bytes = 0;
            self.spools.values_mut().try_for_each(Spool::spill)?;
        }
        Ok(Ok(()))
    }

    /// Has the database take all of it in, at one moment; `false`, and nothing is taken in, when
    /// somebody asked to stop before.
    pub fn finish(mut self, db: &Db, interrupt: &Interrupt) -> esker::Result<bool> {
        let mut sets = Vec::new();
        for spool in self.spools.values_mut() {
            let Some(merged) = spool.merge(interrupt)? else {
                return Ok(false);
            };
            sets.push((spool.keyspace.clone(), merged));
        }
        let sets: Vec<_> = sets.iter().map(|(keyspace, dir)| (keyspace, dir)).collect();
        // Written a moment ago by this process, and synced.
        let options = IngestOptions::default().verify(false);
        db.ingest_all(&sets, &options.transfer(Transfer::Move))?;
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

impl Spool {
    fn begin(keyspace: &Keyspace, dir: PathBuf) -> Outcome<Spool> {
        let mut options = KeyspaceOptions::default();
        // No operands come, and the operator may be a program's own.
        let settings = keyspace.own_settings().into_iter();
        for (name, text) in settings.filter(|(name, _)| name != "merge_operator") {
            set_keyspace(&mut options, &name, &text)?;
        }
        // A keyspace in an order of a program's own refuses these files: that is to be known now.
        let none = dir.join("none");
        SstWriter::create(&none, options.clone())?.finish()?;
        keyspace.ingest(&none, &IngestOptions::default())?;
        let first = dir.join("0");
        Ok(Spool {
            keyspace: keyspace.clone(),
            writer: Some(SstWriter::create(&first, options.clone())?),
            options,
            dir,
            last_key: None,
            waiting: Vec::new(),
            runs: vec![first],
        })
    }

    // How many bytes more wait in memory.
    fn put(&mut self, key: &[u8], value: &[u8], expiry: Option<u32>) -> esker::Result<usize> {
        if let Some(writer) = &mut self.writer {
            if self.last_key.as_ref().is_none_or(|last| last[..] < *key) {
                put(writer, key, value, expiry)?;
                let last = self.last_key.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
                return Ok(0);
            }
            self.end_ascending()?;
        }
        self.waiting.push((key.to_vec(), value.to_vec(), expiry));
        Ok(ENTRY_BYTES + key.len() + value.len())
    }

    fn own_expiry(&self) -> Option<u32> {
        let ttl_s = self.options.ttl_s;
        (ttl_s > 0).then(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = now.map_or(0, |since| since.as_secs());
            u32::try_from(now + u64::from(ttl_s)).unwrap_or(u32::MAX)
        })
    }

    fn end_ascending(&mut self) -> esker::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(())
    }

    // Writes what waits as one more run.
    fn spill(&mut self) -> esker::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        // Stable, so that of equal keys the last is the last.
        waiting.sort_by(|left, right| left.0.cmp(&right.0));
        let dir = self.dir.join(self.runs.len().to_string());
        let mut writer = SstWriter::create(&dir, self.options.clone())?;
        for (place, (key, value, expiry)) in waiting.iter().enumerate() {
            let next = waiting.get(place + 1);
            if next.is_none_or(|(next, _, _)| next != key) {
                put(&mut writer, key, value, *expiry)?;
            }
        }
        writer.finish()?;
        self.runs.push(dir);
        Ok(())
    }

    // Makes one run of all; where it lies, or `None` when somebody asked to stop.
    fn merge(&mut self, interrupt: &Interrupt) -> esker::Result<Option<PathBuf>> {
        self.end_ascending()?;
        self.spill()?;
        if let [only] = &self.runs[..] {
            return Ok(Some(only.clone()));
        }
        // A database that holds the runs, each above the ones before it, reads them as one.
        let mut env = Env::real(1);
        env.clock = Arc::new(Standing(env.clock));
        let merging = Db::builder(self.dir.join("merging")).env(env);
        let merging = merging.set("compaction.automatic", "false")?.open()?;
        let all = merging.keyspace_with("runs", self.options.clone())?;
        let moved = IngestOptions::default().verify(false);
        let moved = moved.transfer(Transfer::Move);
        for run in &self.runs {
            all.ingest(run, &moved)?;
        }
        let merged = self.dir.join("merged");
        let mut writer = SstWriter::create(&merged, self.options.clone())?;
        let mut entries = all.cursor()?;
        let mut is_on = entries.seek_to_first()?;
        while is_on {
            if interrupt.is_raised() {
                return Ok(None);
            }
            if let (Some(key), Some(value)) = (entries.key(), entries.value()?) {
                put(&mut writer, key, value, entries.expiry_unix_s()?)?;
            }
            is_on = entries.next()?;
        }
        drop(entries);
        writer.finish()?;
        merging.close()?;
        Ok(Some(merged))
    }
}

/// A clock in whose time nothing ends: what has ended by now is still to hide what the database
/// has, as it would without `--bulk`.
#[derive(Debug)]
struct Standing(Arc<dyn Clock>);

impl Clock for Standing {
    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    fn unix_time(&self) -> Duration {
        Duration::ZERO
    }
}

fn put(
    writer: &mut SstWriter,
    key: &[u8],
    value: &[u8],
    expiry_unix_s: Option<u32>,
) -> esker::Result<()> {
    match expiry_unix_s {
        None => writer.put(key, value),
        Some(expiry) => writer.put_until(key, value, expiry),
    }
}
