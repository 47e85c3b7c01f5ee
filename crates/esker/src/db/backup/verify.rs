//! Reads every byte of a database, and holds it against what the database knows of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::Cursor;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::log_survey::torn_damage;
use crate::env::fs::ReadFile;
use crate::flow::write::active::Active;
use crate::store::batch::record::Record;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::version::file::FileRecord;
use crate::store::version::identity::Known;
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

/// How far a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Bytes read so far: of sorted files, and of the values they point to.
    pub done_bytes: u64,
    /// Bytes to read in all.
    pub total_bytes: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.damages.is_empty()
    }

    fn add_lost(&mut self, found: LostValues, holder: &str) {
        for (segment, (count, first)) in found.0 {
            let message = match count {
                1 => format!("{first}; {holder} points to it"),
                _ => format!("{first}; so are {} more values of {holder}", count - 1),
            };
            self.damages.push(Damage {
                file: FileName::Vlog(segment).to_string(),
                message,
            });
        }
    }

    // Errors: those that are no damage.
    fn note(&mut self, name: FileName, size_bytes: u64, read: Result<u64>) -> Result<()> {
        self.files += 1;
        self.bytes += size_bytes;
        match read {
            Ok(entries) => self.entries += entries,
            Err(error) if is_no_damage(&error) => return Err(error),
            Err(error) => self.damages.push(Damage {
                file: error
                    .file()
                    .map_or_else(|| name.to_string(), str::to_string),
                message: error.to_string(),
            }),
        }
        Ok(())
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
/// whoever writes them now, and were read whole when it was opened. After each of them `tell` hears
/// how far it is.
///
/// Errors: `Closed`; `Busy` when one of them is gone, with whoever writes, and not open here;
/// `OutOfFiles` when one of them cannot be opened, and `NotBuilt` when this build cannot uncompress
/// it, which says nothing of it.
pub fn verify(core: &Core, tell: &mut dyn FnMut(VerifyProgress)) -> Result<VerifyReport> {
    core.gate.check_read()?;
    let mut report = VerifyReport::default();
    // Holds the files on the disk, whatever compactions do meanwhile.
    let version = core.history.current();
    let bytes_of = |record: &FileRecord| record.size_bytes + record.values.total_bytes();
    let states = version.keyspaces.values();
    let files = states.flat_map(|state| state.levels.files());
    let mut progress = VerifyProgress {
        done_bytes: 0,
        total_bytes: files.map(|(_, record)| bytes_of(record)).sum(),
    };
    verify_manifest(core, &mut report)?;
    for state in version.keyspaces.values() {
        if let Err(error) = state.levels.check(&state.comparator) {
            report.damages.push(Damage {
                file: format!("keyspace {:?}", state.name),
                message: error.to_string(),
            });
        }
        for (_, record) in state.levels.files() {
            core.gate.check_read()?;
            let name = FileName::Sst(record.number);
            let read = verify_sst(core, state, record);
            let is_whole = read.is_ok();
            report.note(name, record.size_bytes, read)?;
            if is_whole {
                let mut found = LostValues::default();
                let read = verify_values(core, state, record, &mut found);
                report.add_lost(found, &name.to_string());
                // Closed meanwhile, or unreadable all at once.
                read?;
            }
            progress.done_bytes += bytes_of(record);
            tell(progress);
        }
    }
    verify_memory(core, &mut report)?;
    verify_log(core, &mut report)?;
    Ok(report)
}

fn verify_sst(core: &Core, state: &KeyspaceState, record: &FileRecord) -> Result<u64> {
    let path = core.dir.join(FileName::Sst(record.number).to_string());
    let (comparator, cache) = (state.comparator.clone(), Arc::clone(&core.cache));
    let reader = match core.env.fs.open_read(&path) {
        Ok(file) => {
            let reader = AnyReader::open(file, record.binding(), comparator, cache)?;
            known(state, record).check(&reader, &state.comparator)?;
            Arc::new(reader)
        }
        // Removed by who writes beside us; we may have it open since before.
        Err(error) if error.is_missing_file() && is_beside_writer(core) => {
            open(core, state, record)?
        }
        Err(error) => return Err(error),
    };
    reader.verify()?;
    Ok(record.entry_count)
}

fn open(core: &Core, state: &KeyspaceState, record: &FileRecord) -> Result<Arc<AnyReader>> {
    let check = |reader: &AnyReader| known(state, record).check(reader, &state.comparator);
    core.files.get(record.binding(), &state.comparator, check)
}

fn known<'a>(state: &KeyspaceState, record: &'a FileRecord) -> Known<'a> {
    let keyspace = state.id;
    Known { keyspace, record }
}

// Every value that the file points to, in the order of its keys.
fn verify_values(
    core: &Core,
    state: &KeyspaceState,
    record: &FileRecord,
    found: &mut LostValues,
) -> Result<()> {
    if record.values.is_empty() {
        return Ok(());
    }
    let read = ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    };
    let mut cursor = open(core, state, record)?.cursor(read);
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        core.gate.check_read()?;
        let entry = Entry::from_internal(cursor.key(), cursor.value()?);
        found.check(&entry, |pointer| core.values.values().stored_value(pointer))?;
        is_on = cursor.next()?;
    }
    Ok(())
}

// Every value that the log has, or that waits in memory, for what is in no sorted file yet.
fn verify_memory(core: &Core, report: &mut VerifyReport) -> Result<()> {
    for parts in core.keyspaces.all() {
        let mut found = LostValues::default();
        let view = parts.current.view();
        for table in &view.parts().memtables {
            let mut cursor = table.cursor();
            let mut is_on = cursor.seek_to_first()?;
            while is_on {
                core.gate.check_read()?;
                let entry = Entry::from_internal(cursor.key(), cursor.value()?);
                found.check(&entry, |pointer| core.values.values().value(pointer))?;
                is_on = cursor.next()?;
            }
        }
        report.add_lost(found, "writes in the log");
    }
    Ok(())
}

// Of a file that is gone with whoever writes beside us, that we have no descriptor for, or that
// this build cannot uncompress, nothing is known.
fn is_no_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Busy | ErrorKind::NotBuilt) || error.is_shortage()
}

/// Values that cannot be had, by segment: how many, and what is wrong with the first.
#[derive(Default)]
struct LostValues(BTreeMap<FileNumber, (u64, String)>);

impl LostValues {
    fn check(
        &mut self,
        entry: &Entry<'_>,
        read: impl FnOnce(&ValuePointer) -> Result<Bytes>,
    ) -> Result<()> {
        if let Some(pointer) = ValuePointer::of(entry)?
            && let Err(error) = read(&pointer)
        {
            if is_no_damage(&error) {
                return Err(error);
            }
            let first = || (0, error.to_string());
            self.0.entry(pointer.segment).or_insert_with(first).0 += 1;
        }
        Ok(())
    }
}

// While nothing is appended: so what is read must be what is current.
fn verify_manifest(core: &Core, report: &mut VerifyReport) -> Result<()> {
    let manifest = core.manifest.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(manifest) = &*manifest else {
        return Ok(());
    };
    let version = manifest.version();
    // A panic of an order ends here, where it poisons no lock.
    let read = user_code::told(|| read_manifest(&*core.env.fs, &core.dir, &version.comparators));
    let size_bytes = read.as_ref().map_or(0, |(_, found)| found.size_bytes);
    let checked = read.and_then(|(found, _)| compare(&found, version).map(|()| 0));
    report.note(FileName::Manifest(manifest.number()), size_bytes, checked)
}

fn compare(found: &Version, current: &Version) -> Result<()> {
    if found.identity == current.identity && found.to_edit() == current.to_edit() {
        return Ok(());
    }
    Err(Error::corruption(
        "the manifest does not lead to the version that is in use",
    ))
}

// Whether the database was opened for reading only.
fn is_beside_writer(core: &Core) -> bool {
    core.lock.lock().is_ok_and(|lock| lock.is_none())
}

fn verify_log(core: &Core, report: &mut VerifyReport) -> Result<()> {
    if is_beside_writer(core) {
        // As it was read when the database was opened.
        report.files += core.replayed.segment_count;
        report.bytes += core.replayed.batch_bytes;
        if let Some(error) = torn_damage(&core.replayed) {
            report.damages.push(Damage {
                file: error.file().unwrap_or_default().to_string(),
                message: error.to_string(),
            });
        }
        return Ok(());
    }
    let (segments, live) = core
        .committer
        .paused(|active| (numbers_of(active), active.log_position()));
    for number in segments {
        core.gate.check_read()?;
        let end = live.filter(|live| live.segment == number);
        let file = open_segment(core, number, end.map(|live| live.offset));
        let size_bytes = file.as_ref().map_or(0, |file| file.size_bytes());
        let read = file.and_then(|file| check_segment(file, number));
        let is_used = |active: &mut Active| numbers_of(active).contains(&number);
        // One that was flushed meanwhile may have been removed, or written over.
        if read.is_ok() || core.committer.paused(|active| is_used(active)) {
            report.note(FileName::Wal(number), size_bytes, read)?;
        }
    }
    Ok(())
}

fn numbers_of(active: &Active) -> Vec<FileNumber> {
    active.used_segments().numbers().collect()
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
        } else if !record.is_empty()
            && let Some(written) = Record::read_whole(record)?.entries()
        {
            entries += u64::from(written.count());
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
