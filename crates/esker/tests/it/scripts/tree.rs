//! A keyspace on stage: memtables and levels of a simulated disk, filled step by step.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::hooks::event_reasons::FlushReason;
use esker::internals::base::options::sst::SstOptions;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId, Level};
use esker::internals::base::types::key::Trailer;
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimWorld;
use esker::internals::flow::current::{Current, Sealed};
use esker::internals::flow::flush::flush;
use esker::internals::flow::output::OutputSettings;
use esker::internals::flow::read::fold::Folder;
use esker::internals::flow::read::view::ViewParts;
use esker::internals::store::cache::sharded::ShardedCache;
use esker::internals::store::mem::memtable::{Memtable, MemtableWriter};
use esker::internals::store::sst::open_files::OpenFiles;
use esker::internals::store::version::apply::apply;
use esker::internals::store::version::edit::{Change, Edit};
use esker::internals::store::version::file::FileRecord;
use esker::internals::store::version::numbers::FileNumbers;
use esker::internals::store::version::state::{Identity, Orders, Version};
use esker::internals::store::vlog::open_values::OpenValues;
use esker::{Expiry, MergeRule};

/// The keyspace.
pub const KEYSPACE: KeyspaceId = KeyspaceId(0);

const DIR: &str = "/db";

/// The unix second at which every script begins.
const BEGIN_UNIX_S: u32 = 1_000;

/// One keyspace, and the powers to move its entries by hand.
pub struct Tree {
    pub world: SimWorld,
    pub settings: OutputSettings,
    pub version: Version,
    pub current: Current,
    /// Number of the newest entry.
    pub seqno: SeqNo,
    /// Snapshots that flushes and compactions respect, ascending.
    pub snapshots: Vec<SeqNo>,
    merge: Option<MergeRule>,
    live: MemtableWriter,
}

impl Tree {
    /// An empty keyspace with that merge operator.
    pub fn new(merge: Option<MergeRule>) -> Tree {
        let world = SimWorld::new(1);
        world.fs.create_dir_all(Path::new(DIR)).unwrap();
        let mut settings = OutputSettings {
            env: world.env(),
            dir: DIR.into(),
            numbers: Arc::new(FileNumbers::new(FileNumber(1))),
            keyspace: KEYSPACE,
            keyspace_name: Default::default(),
            database_id: None,
            sources: Default::default(),
            snapshots: Default::default(),
            comparator: Comparator::Bytewise,
            sst: SstOptions::default(),
            compression: CompressionType::None,
            phrasing: None,
            values: Arc::new(OpenValues::new(world.env().fs, DIR, 10)),
            relocator: None,
            background_rate: Arc::default(),
        };
        // About 17 entries of 100 bytes fill a file.
        settings.sst.block_size_bytes = 512;
        settings.sst.file_size_bytes = 2_000;
        let identity = Identity {
            database_id: [7; 16],
            created_unix_s: BEGIN_UNIX_S.into(),
        };
        let created = Change::CreateKeyspace {
            id: KEYSPACE,
            name: "default".into(),
            comparator_name: "bytewise".into(),
            merge_name: merge.as_ref().map(|rule| rule.0.name().into()),
            settings: BTreeMap::new(),
        };
        let version = apply(&Version::empty(identity, Orders::default()), &[created]).unwrap();
        let live = Memtable::create(Comparator::Bytewise, merge.clone());
        let cache = Arc::new(ShardedCache::new(1 << 20));
        let parts = ViewParts {
            keyspace: KEYSPACE,
            comparator: Comparator::Bytewise,
            folder: Folder::new("default", merge.clone()),
            memtables: vec![Arc::clone(live.table())],
            levels: Arc::clone(&version.keyspace(KEYSPACE).unwrap().levels),
            open_files: Arc::new(OpenFiles::new(world.env().fs, DIR, 100, cache)),
            values: Arc::clone(&settings.values),
        };
        let tree = Tree {
            world,
            settings,
            version,
            current: Current::new(parts, Vec::new()),
            seqno: SeqNo::ZERO,
            snapshots: Vec::new(),
            merge,
            live,
        };
        tree.set_clock(Expiry::from_unix_s(BEGIN_UNIX_S));
        tree
    }

    /// Lets the clock show that moment.
    pub fn set_clock(&self, moment: Expiry) {
        let now = Duration::from_millis(moment.unix_ms());
        self.world.clock.set_unix_time(now);
    }

    /// Writes one entry to the live memtable.
    pub fn write(&mut self, kind: Kind, key: &str, value: &[u8]) {
        self.seqno = self.seqno.plus(1);
        let trailer = Trailer::new(self.seqno, kind);
        self.live.insert(trailer, key.as_bytes(), value);
    }

    /// Seals the live memtable.
    pub fn seal(&mut self) {
        let fresh = self.live.successor();
        let full = std::mem::replace(&mut self.live, fresh);
        let sealed = Sealed {
            table: Arc::clone(full.table()),
            first_log: Some(FileNumber(1)),
            clock_ms: None,
            mark: None,
            last_seqno: self.seqno,
            reason: FlushReason::Manual,
        };
        self.current.seal(Arc::clone(self.live.table()), sealed);
    }

    /// Writes all sealed memtables as one run of level 0.
    pub fn flush_sealed(&mut self) {
        let sealed = self.current.sealed();
        let snapshots = self.snapshots.clone();
        let settings = self.settings.clone();
        let flushed = flush(&sealed, self.merge.as_ref(), snapshots, settings).unwrap();
        let run = flushed.files.first().map_or(0, |file| file.number.0);
        let edit = (flushed.files.into_iter())
            .map(|record| Change::AddFile {
                keyspace: KEYSPACE,
                level: Level::ZERO,
                run,
                record: Arc::new(record),
            })
            .collect();
        self.install(edit, sealed.len());
    }

    /// Moves the oldest run of level 0 to `level`, as it is.
    pub fn sink(&mut self, level: Level) -> Result<(), String> {
        let levels = Arc::clone(&self.current.view().parts().levels);
        let oldest = levels.l0().last().ok_or("level 0 is empty")?;
        let mut edit = Edit::new();
        for record in oldest.files() {
            edit.push(Change::RemoveFile {
                keyspace: KEYSPACE,
                level: Level::ZERO,
                number: record.number,
            });
            edit.push(Change::AddFile {
                keyspace: KEYSPACE,
                level,
                run: 0,
                record: Arc::clone(record),
            });
        }
        self.install(edit, 0);
        Ok(())
    }

    /// Makes an edit current; the `flushed_count` oldest sealed memtables are in its files.
    pub fn install(&mut self, edit: Edit, flushed_count: usize) {
        self.version = apply(&self.version, &edit).unwrap();
        let levels = Arc::clone(&self.version.keyspace(KEYSPACE).unwrap().levels);
        self.current.install(levels, flushed_count);
    }

    /// Shows the files, level by level.
    pub fn show(&self, out: &mut String) {
        let view = self.current.view();
        let levels = &view.parts().levels;
        if levels.file_count() == 0 {
            writeln!(out, "  no files").unwrap();
        }
        for (level, run) in levels.all_runs() {
            let files: Vec<String> = run.files().iter().map(|file| file_text(file)).collect();
            writeln!(out, "  {level}: {}", files.join(" ")).unwrap();
        }
    }
}

fn file_text(file: &FileRecord) -> String {
    let end = if file.is_largest_exclusive { ')' } else { ']' };
    let (smallest, largest) = (file.smallest.escape_ascii(), file.largest.escape_ascii());
    let mut text = format!(
        "{}[{smallest}..{largest}{end} {}",
        file.number.0, file.entry_count
    );
    if file.delete_count > 0 {
        write!(text, ", {} deletes", file.delete_count).unwrap();
    }
    if file.range_delete_count > 0 {
        write!(text, ", {} range deletes", file.range_delete_count).unwrap();
    }
    text
}
