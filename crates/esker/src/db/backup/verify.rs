//! Reads every byte of a database, and holds it against what the database knows of it.

use std::fmt;
use std::sync::{Arc, PoisonError};

use crate::base::options::call::ReadOptions;
use crate::base::types::cursor::Cursor;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::db::core::Core;
use crate::env::fs::ReadFile;
use crate::flow::output::record_of;
use crate::flow::write::active::Active;
use crate::store::batch::reader::BatchReader;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::sst::block::fetch::BlockCache;
use crate::store::version::file::FileRecord;
use crate::store::version::recovery::read_manifest;
use crate::store::version::state::{KeyspaceState, Version};
use crate::store::vlog::pointer::ValuePointer;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::reader::WalReader;

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Files read: sorted files, segments of the log, the manifest.
    pub files: usize,
    /// Their size in bytes; of the segment being written, the part that is written.
    pub bytes: u64,
    /// Entries in sorted files, and writes in the log.
    pub entries: u64,
    /// Everything that is wrong; empty for a whole database.
    pub damages: Vec<Damage>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Name of the file.
    pub file: String,
    /// What is wrong with it.
    pub message: String,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.damages.is_empty()
    }

    fn note(&mut self, name: FileName, size_bytes: u64, read: Result<u64>) {
        self.files += 1;
        self.bytes += size_bytes;
        match read {
            Ok(entries) => self.entries += entries,
            // A value that a sorted file points to lies in a file of its own.
            Err(error) => self.damages.push(Damage {
                file: error
                    .file()
                    .map_or_else(|| name.to_string(), str::to_string),
                message: error.to_string(),
            }),
        }
    }
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VerifyReport {
            files,
            bytes,
            entries,
            damages,
        } = self;
        writeln!(f, "read {files} files, {bytes} bytes, {entries} entries")?;
        if damages.is_empty() {
            return writeln!(f, "nothing is wrong");
        }
        writeln!(f, "damaged in {} places:", damages.len())?;
        for damage in damages {
            writeln!(f, "  {}: {}", damage.file, damage.message)?;
        }
        writeln!(f, "`esker repair --dry-run` tells what can be saved")
    }
}

/// Reads every sorted file, the log and the manifest; goes on behind damage.
///
/// Of a database that was opened read-only the sorted files are read: log and manifest belong to
/// whoever writes them now, and were read whole when it was opened.
pub fn verify(core: &Core) -> Result<VerifyReport> {
    core.gate.check_read()?;
    let mut report = VerifyReport::default();
    // Holds the files on the disk, whatever compactions do meanwhile.
    let version = core.history.current();
    verify_manifest(core, &mut report);
    for state in version.keyspaces.values() {
        if let Err(error) = state.levels.check(&state.order) {
            report.damages.push(Damage {
                file: format!("keyspace {:?}", state.name),
                message: error.to_string(),
            });
        }
        for (_, record) in state.levels.files() {
            core.gate.check_read()?;
            let read = verify_sst(core, state, record);
            report.note(FileName::Sst(record.number), record.size_bytes, read);
        }
    }
    verify_log(core, &mut report)?;
    Ok(report)
}

fn verify_sst(core: &Core, state: &KeyspaceState, record: &FileRecord) -> Result<u64> {
    let path = core.dir.join(FileName::Sst(record.number).to_string());
    let file = core.env.fs.open_read(&path)?;
    let entries = check_sst(file, state, record, &core.cache)?;
    verify_values(core, state, record)?;
    Ok(entries)
}

// Every value that the file points to, in the order of its keys.
fn verify_values(core: &Core, state: &KeyspaceState, record: &FileRecord) -> Result<()> {
    if record.values.is_empty() {
        return Ok(());
    }
    let read = ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    };
    let mut cursor = core.files.get(record.number, &state.order)?.cursor(read);
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        let entry = Entry::from_internal(cursor.key(), cursor.value()?);
        if let Some(pointer) = ValuePointer::of(&entry)? {
            core.gate.check_read()?;
            core.values.values().stored_value(&pointer)?;
        }
        is_on = cursor.next()?;
    }
    Ok(())
}

/// Reads every byte of a sorted file and holds it against its record; gives the count of its
/// entries.
pub fn check_sst(
    file: Arc<dyn ReadFile>,
    state: &KeyspaceState,
    record: &FileRecord,
    cache: &Arc<BlockCache>,
) -> Result<u64> {
    let order = state.order.clone();
    let reader = AnyReader::open(file, record.number, order, Arc::clone(cache))?;
    let keyspace = reader.props().keyspace;
    if keyspace != state.id {
        return Err(Error::corruption(format!(
            "it belongs to keyspace {keyspace}, the manifest says {}",
            state.id
        )));
    }
    let range_deletes = reader.range_deletes();
    let mut found = record_of(
        record.number,
        reader.finished(),
        range_deletes,
        &state.order,
    );
    if record.raw_bytes == 0 {
        // Written before records told it.
        found.raw_bytes = 0;
    }
    if found != *record {
        return Err(Error::corruption(format!(
            "it is not the file that the manifest names: it is {found:?}, and the manifest says \
             {record:?}"
        )));
    }
    reader.verify()?;
    Ok(record.entry_count)
}

// While nothing is appended: so what is read must be what is current.
fn verify_manifest(core: &Core, report: &mut VerifyReport) {
    let manifest = core.manifest.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(manifest) = &*manifest else {
        return;
    };
    let version = manifest.version();
    let read = read_manifest(&*core.env.fs, &core.dir, &version.orders);
    let size_bytes = read.as_ref().map_or(0, |(_, found)| found.size_bytes);
    let checked = read.and_then(|(found, _)| compare(&found, version).map(|()| 0));
    report.note(FileName::Manifest(manifest.number()), size_bytes, checked);
}

fn compare(found: &Version, current: &Version) -> Result<()> {
    if found.identity == current.identity && found.to_edit() == current.to_edit() {
        return Ok(());
    }
    Err(Error::corruption(
        "the manifest does not lead to the version that is in use",
    ))
}

fn verify_log(core: &Core, report: &mut VerifyReport) -> Result<()> {
    if core.lock.lock().is_ok_and(|lock| lock.is_none()) {
        return Ok(());
    }
    let (segments, live) = core
        .committer
        .paused(|active| (active.segments_used(), active.log_position()));
    for number in segments {
        core.gate.check_read()?;
        let end = live.filter(|live| live.segment == number);
        let file = open_segment(core, number, end.map(|live| live.offset));
        let size_bytes = file.as_ref().map_or(0, |file| file.size_bytes());
        let read = file.and_then(|file| check_segment(file, number));
        let is_used = |active: &mut Active| active.segments_used().contains(&number);
        // One that was flushed meanwhile may have been removed, or written over.
        if read.is_ok() || core.committer.paused(|active| is_used(active)) {
            report.note(FileName::Wal(number), size_bytes, read);
        }
    }
    Ok(())
}

fn open_segment(core: &Core, number: FileNumber, end: Option<u64>) -> Result<Arc<dyn ReadFile>> {
    let path = core.dir.join(FileName::Wal(number).to_string());
    let file = core.env.fs.open_read(&path)?;
    Ok(match end {
        None => file,
        Some(end) => {
            let size_bytes = end.min(file.size_bytes());
            Arc::new(Front { file, size_bytes })
        }
    })
}

// A torn end is how a crash leaves a log: no damage.
fn check_segment(file: Arc<dyn ReadFile>, number: FileNumber) -> Result<u64> {
    let mut reader = WalReader::new(file, number);
    let mut entries = 0;
    let mut is_first = true;
    while let Some(record) = reader.next()? {
        if is_first {
            SegmentHead::decode(record)?;
        } else if !record.is_empty() {
            let batch = BatchReader::new(record)?;
            batch.check()?;
            entries += u64::from(batch.count());
        }
        is_first = false;
    }
    Ok(entries)
}

/// The front of a file whose end is being written.
struct Front {
    file: Arc<dyn ReadFile>,
    size_bytes: u64,
}

impl ReadFile for Front {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, buffer)
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.file.prefetch(offset, len);
    }
}
