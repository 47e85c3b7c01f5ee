//! A history of writes laid out over real memtables, runs and sorted files, for tests.

use std::path::Path;
use std::sync::Arc;

use crate::base::codec::compress::CompressionType;
use crate::base::options::call::ReadOptions;
use crate::base::options::sst::SstOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::env::fs::Fs;
use crate::env::random::Random;
use crate::env::sim::fs::SimFs;
use crate::flow::read::fold::Folder;
use crate::flow::read::get::ReadAt;
use crate::flow::read::model::{History, NOW_UNIX_MS, memtable_of, random_key, rule};
use crate::flow::read::range_tombstones::Piece;
use crate::flow::read::view::{View, ViewParts};
use crate::store::names::FileName;
use crate::store::sst::any_builder::AnyBuilder;
use crate::store::sst::contract::BuildSettings;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::file::FileRecord;
use crate::store::version::identity::record_of;
use crate::store::version::levels::Levels;
use crate::store::vlog::open_values::OpenValues;

/// A reader of tests.
pub fn read_at(seqno: SeqNo) -> ReadAt {
    ReadAt {
        visibility: Visibility::at(seqno),
        now_unix_ms: NOW_UNIX_MS,
        options: ReadOptions::default(),
    }
}

/// Lays a history out: its newest part in memtables, then runs of level 0, then deeper levels,
/// each run cut into files between keys.
pub struct Layout {
    fs: SimFs,
    comparator: Comparator,
    next_file: u64,
    levels: Levels,
}

impl Layout {
    pub fn new(comparator: &Comparator) -> Layout {
        Layout {
            fs: SimFs::new(0),
            comparator: comparator.clone(),
            next_file: 1,
            levels: Levels::default(),
        }
    }

    /// A view with `history` cut over memtables and runs at random.
    pub fn random_view(random: &mut Random, history: &History) -> Arc<View> {
        let mut layout = Layout::new(&history.comparator);
        let source_count = 1 + random.below(6);
        let sources = history.cut(random, source_count);
        let memtable_count = usize::try_from(random.below(4)).unwrap().min(sources.len());
        let (tables, runs) = sources.split_at(memtable_count);
        let mut depth = 0;
        for run in runs {
            // Of level 0 there may be several runs, of the deeper ones one each.
            if depth > 0 || random.one_in(2) {
                depth += 1;
            }
            let level = Level::new(depth).expect("at most six sources");
            let cuts: Vec<Vec<u8>> = (0..random.below(4))
                .map(|_| random_key(random, 40))
                .collect();
            layout.add_run(level, run, cuts);
        }
        layout.view(tables)
    }

    /// The view over what was added, with those memtables.
    pub fn view(self, tables: &[History]) -> Arc<View> {
        let cache = Arc::new(crate::store::cache::sharded::ShardedCache::new(1 << 20));
        let parts = ViewParts {
            keyspace: KeyspaceId::DEFAULT,
            folder: Folder::new("default", Some(rule())),
            memtables: tables.iter().map(memtable_of).collect(),
            levels: Arc::new(self.levels),
            values: Arc::new(OpenValues::new(Arc::new(self.fs.clone()), "/db", 1)),
            open_files: Arc::new(OpenFiles::new(Arc::new(self.fs), "/db", 100, cache)),
            comparator: self.comparator,
        };
        Arc::new(View::new(parts, None))
    }

    /// Where the files are.
    pub fn fs(&self) -> SimFs {
        self.fs.clone()
    }

    /// Adds a run with the entries and range deletes of `part`, cut into files at `cuts`.
    pub fn add_run(&mut self, level: Level, part: &History, mut cuts: Vec<Vec<u8>>) {
        cuts.sort_by(|left, right| self.comparator.compare(left, right));
        cuts.dedup();
        let run = self.next_file;
        for index in 0..=cuts.len() {
            let lower = index.checked_sub(1).map(|index| &cuts[index][..]);
            let upper = cuts.get(index).map(Vec::as_slice);
            self.add_file(level, run, part, lower, upper);
        }
    }

    fn add_file(
        &mut self,
        level: Level,
        run: u64,
        part: &History,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
    ) {
        let comparator = self.comparator.clone();
        let mut file = History {
            comparator: comparator.clone(),
            ..History::default()
        };
        file.writes = part.writes.clone();
        file.writes.retain(|write| {
            lower.is_none_or(|lower| comparator.compare(&write.key, lower).is_ge())
                && upper.is_none_or(|upper| comparator.compare(&write.key, upper).is_lt())
        });
        for delete in &part.deletes {
            let piece = Piece {
                start: delete.start.clone(),
                end: delete.end.clone(),
                seqnos: vec![delete.seqno],
            };
            let clipped = piece.clip(&comparator, lower, upper);
            file.deletes.extend(clipped.iter().flat_map(Piece::deletes));
        }
        if file.writes.is_empty() && file.deletes.is_empty() {
            return;
        }
        let record = Arc::new(self.write(&file));
        self.levels = self.levels.with(&comparator, level, run, record).unwrap();
    }

    fn write(&mut self, file: &History) -> FileRecord {
        let number = FileNumber(self.next_file);
        self.next_file += 1;
        let path = Path::new("/db").join(FileName::Sst(number).to_string());
        self.fs.create_dir_all(Path::new("/db")).unwrap();
        let settings = BuildSettings {
            number,
            comparator: self.comparator.clone(),
            sst: SstOptions {
                // Small blocks: a file of a few dozen entries has several.
                block_size_bytes: 128,
                restart_interval: 2,
                ..SstOptions::default()
            },
            compression: CompressionType::None,
            keyspace: KeyspaceId::DEFAULT,
            created_unix_s: 0,
        };
        let mut builder = AnyBuilder::block_based(self.fs.create(&path).unwrap(), settings);
        for (key, value) in file.entries() {
            builder.add(&key, &value).unwrap();
        }
        for delete in &file.deletes {
            builder.add_range_delete(delete);
        }
        let finished = builder.finish().unwrap();
        record_of(number, finished, &file.deletes, &self.comparator)
    }
}
