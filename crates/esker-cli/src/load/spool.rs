//! The entries of one keyspace on their way into sorted files.
//!
//! Those whose keys ascend go straight into files. From the first on that does not, they are
//! gathered in memory and become sorted runs, which a thread of their own writes while the next are
//! gathered.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use esker::internals::base::options::catalog::set_keyspace;
use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::{Db, Expiry, IngestOptions, Keyspace, KeyspaceOptions, SstWriter, Transfer};

use crate::fail::Outcome;
use crate::interrupt::Interrupt;
use crate::load::gathered::{Gathered, put};

/// Runs that a database gets as they are, one above the other: it merges them as it does whatever
/// is written. More of them are merged before, for until then each is one more place to look for a
/// key.
const RUNS_MAX: usize = 32;

/// The entries of one keyspace.
pub struct Spool {
    keyspace: Keyspace,
    options: KeyspaceOptions,
    dir: PathBuf,
    /// As long as keys ascend.
    writer: Option<SstWriter>,
    last_key: Option<Vec<u8>>,
    gathered: Gathered,
    /// Writes the last run.
    spilling: Option<JoinHandle<esker::Result<()>>>,
    /// Oldest first.
    runs: Vec<PathBuf>,
}

impl Spool {
    /// None yet, for that keyspace; files are made in `dir`.
    pub fn begin(keyspace: &Keyspace, dir: PathBuf) -> Outcome<Spool> {
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
            gathered: Gathered::default(),
            spilling: None,
            runs: vec![first],
        })
    }

    /// Where they go.
    pub fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }

    /// Bytes that wait in memory, what is being written left out.
    pub fn waiting_bytes(&self) -> usize {
        self.gathered.size_bytes()
    }

    /// Takes an entry.
    pub fn put(&mut self, key: &[u8], value: &[u8], expiry: Option<Expiry>) -> esker::Result<()> {
        if let Some(writer) = &mut self.writer {
            if self.last_key.as_ref().is_none_or(|last| last[..] < *key) {
                put(writer, key, value, expiry)?;
                let last = self.last_key.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
                return Ok(());
            }
            self.end_ascending()?;
        }
        self.gathered.push(key, value, expiry);
        Ok(())
    }

    /// When an entry ends of which nobody said so.
    pub fn own_expiry(&self) -> Option<Expiry> {
        let ttl_ms = self.options.ttl_ms;
        (ttl_ms > 0).then(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            Expiry::after(now.unwrap_or_default(), Duration::from_millis(ttl_ms))
        })
    }

    fn end_ascending(&mut self) -> esker::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(())
    }

    /// Has what waits in memory written as one more run, when the run before it is written.
    pub fn spill(&mut self) -> esker::Result<()> {
        self.end_spilling()?;
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = std::mem::take(&mut self.gathered);
        let dir = self.dir.join(self.runs.len().to_string());
        self.runs.push(dir.clone());
        let options = self.options.clone();
        let builder = std::thread::Builder::new().name("bulk-run".to_owned());
        let spilling = builder.spawn(move || gathered.write(&dir, &options));
        let told = |cause| esker::Error::io("cannot start a thread", cause);
        self.spilling = Some(spilling.map_err(told)?);
        Ok(())
    }

    fn end_spilling(&mut self) -> esker::Result<()> {
        match self.spilling.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }

    /// Where its runs lie, oldest first, when all of them are written; or `None` when somebody
    /// asked to stop.
    pub fn finish(&mut self, interrupt: &Interrupt) -> esker::Result<Option<Vec<PathBuf>>> {
        self.end_ascending()?;
        self.spill()?;
        self.end_spilling()?;
        if self.runs.len() <= RUNS_MAX {
            return Ok(Some(std::mem::take(&mut self.runs)));
        }
        let merged = self.merge(interrupt)?;
        Ok(merged.map(|merged| vec![merged]))
    }

    // Makes one run of all.
    fn merge(&mut self, interrupt: &Interrupt) -> esker::Result<Option<PathBuf>> {
        // A database that holds the runs, each above the ones before it, reads them as one.
        let mut env = Env::real(1);
        env.clock = Arc::new(Standing(env.clock));
        let merging = Db::builder(self.dir.join("merging")).env(env);
        let merging = merging.set("compaction.automatic", "false")?.open()?;
        let all = merging.keyspace_with("runs", self.options.clone())?;
        let sets: Vec<(&Keyspace, &Path)> = self.runs.iter().map(|run| (&all, &**run)).collect();
        merging.ingest_all(&sets, &moved())?;
        let merged = self.dir.join("merged");
        let mut writer = SstWriter::create(&merged, self.options.clone())?;
        let mut entries = all.cursor()?;
        let mut is_on = entries.seek_to_first()?;
        while is_on {
            if interrupt.is_raised() {
                return Ok(None);
            }
            if let (Some(key), Some(value)) = (entries.key(), entries.value()?) {
                put(&mut writer, key, value, entries.expiry()?)?;
            }
            is_on = entries.next()?;
        }
        drop(entries);
        writer.finish()?;
        merging.close()?;
        Ok(Some(merged))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Of a load that was given up, or failed already: nobody is to write into a directory that
        // is removed.
        if let Some(spilling) = self.spilling.take() {
            let _given_up = spilling.join();
        }
    }
}

/// How runs are taken in: this process wrote and synced them a moment ago.
pub fn moved() -> IngestOptions {
    IngestOptions::default()
        .verify(false)
        .transfer(Transfer::Move)
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
