//! Tests of `job`: whole trees through flush, pick, merge and reads, against a model.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::hooks::event_reasons::FlushReason;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::options::sst::SstOptions;
use crate::base::types::cursor::Cursor;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::env::fs::Fs;
use crate::env::random::Random;
use crate::env::sim::world::SimWorld;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::current::{Current, Sealed};
use crate::flow::flush::flush;
use crate::flow::model::{Entries, NOW_UNIX_S, for_seeds, key_of, random_write, rule_of};
use crate::flow::read::fold::Folder;
use crate::flow::read::get::{ReadAt, get};
use crate::flow::read::view::ViewParts;
use crate::store::cache::sharded::ShardedCache;
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::apply::apply;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::plain_file::record;
use crate::store::version::state::{Identity, Orders, Version};
use crate::store::vlog::open_values::OpenValues;

const KEY_COUNT: u64 = 16;
const DIR: &str = "/db";
const KEYSPACE: KeyspaceId = KeyspaceId(5);

/// A keyspace without a database around it, and everything ever written to it.
struct Tree {
    world: SimWorld,
    rule: MergeRule,
    options: CompactionOptions,
    settings: OutputSettings,
    version: Version,
    current: Current,
    live: MemtableWriter,
    seqno: SeqNo,
    flushed: SeqNo,
    snapshots: Vec<SeqNo>,
    all: Entries,
    running: Vec<(Plan, Vec<Part>, JobContext)>,
}

impl Tree {
    fn new(seed: u64, random: &mut Random) -> Tree {
        let world = SimWorld::new(seed);
        world.fs.create_dir_all(Path::new(DIR)).unwrap();
        world.clock.set_unix_time(Duration::from_secs(NOW_UNIX_S));
        let rule = rule_of(seed);
        let settings = OutputSettings {
            env: world.env(),
            dir: DIR.into(),
            numbers: Arc::new(FileNumbers::new(FileNumber(1))),
            keyspace: KEYSPACE,
            comparator: Comparator::Bytewise,
            sst: SstOptions {
                block_size_bytes: 64,
                file_size_bytes: 60 + random.below(600),
                filter_bits_per_key: 0.0,
                ..SstOptions::default()
            },
            compression: CompressionType::None,
            phrasing: None,
            values: Arc::new(OpenValues::new(world.env().fs, DIR, 1)),
            relocator: None,
            background_rate: Arc::default(),
            keyspace_name: Bytes::default(),
            database_id: None,
            sources: Arc::default(),
            snapshots: Arc::default(),
        };
        let options = CompactionOptions {
            l0_trigger: usize::try_from(1 + random.below(3)).unwrap(),
            base_level_bytes: 500 + random.below(2000),
            level_growth: 2 + random.below(3),
            ..CompactionOptions::default()
        };
        let identity = Identity {
            database_id: [7; 16],
            created_unix_s: NOW_UNIX_S,
        };
        let created = Change::CreateKeyspace {
            id: KEYSPACE,
            name: "tree".to_owned(),
            comparator_name: Comparator::Bytewise.name().to_owned(),
            merge_name: None,
            settings: BTreeMap::new(),
        };
        let version = apply(&Version::empty(identity, Orders::default()), &[created]).unwrap();
        let live = Memtable::create(Comparator::Bytewise, Some(rule.clone()));
        let cache = Arc::new(ShardedCache::new(1 << 20));
        let parts = ViewParts {
            keyspace: KEYSPACE,
            comparator: Comparator::Bytewise,
            folder: Folder::new("tree", Some(rule.clone())),
            memtables: vec![Arc::clone(live.table())],
            levels: Arc::clone(&version.keyspace(KEYSPACE).unwrap().levels),
            open_files: Arc::new(OpenFiles::new(world.env().fs, Path::new(DIR), 100, cache)),
            values: Arc::clone(&settings.values),
        };
        Tree {
            world,
            rule,
            options,
            settings,
            version,
            current: Current::new(parts, Vec::new()),
            live,
            seqno: SeqNo::ZERO,
            flushed: SeqNo::ZERO,
            snapshots: Vec::new(),
            all: Entries::default(),
            running: Vec::new(),
        }
    }

    fn write(&mut self, random: &mut Random) {
        let is_merge_heavy = random.one_in(2);
        // Sometimes a few neighbours only, so that files lie apart.
        let width = if random.one_in(2) { 3 } else { KEY_COUNT };
        let shift = random.below(KEY_COUNT - width + 1);
        for _ in 0..random.below(40) {
            let (kind, key, value) = random_write(random, width, is_merge_heavy);
            let shifted = |key: &[u8]| {
                let number: u64 = std::str::from_utf8(&key[1..]).unwrap().parse().unwrap();
                key_of(number + shift)
            };
            let value = match kind {
                Kind::RangeDelete => shifted(&value),
                _ => value,
            };
            let key = shifted(&key);
            self.seqno = self.seqno.plus(1);
            self.live
                .insert(Trailer::new(self.seqno, kind), &key, &value);
            self.all.write(self.seqno, (kind, key, value));
        }
    }

    fn seal(&mut self) {
        let fresh = Memtable::create(Comparator::Bytewise, Some(self.rule.clone()));
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

    fn flush(&mut self) {
        self.seal();
        let sealed = self.current.sealed();
        let snapshots = self.live_snapshots();
        let flushed = flush(&sealed, Some(&self.rule), snapshots, self.settings.clone()).unwrap();
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
        self.flushed = self.seqno;
    }

    fn install(&mut self, edit: Edit, flushed_count: usize) {
        self.version = apply(&self.version, &edit).unwrap();
        let levels = Arc::clone(&self.version.keyspace(KEYSPACE).unwrap().levels);
        levels.check(&Comparator::Bytewise).unwrap();
        for (_, file) in levels.files() {
            file.check(&Comparator::Bytewise).unwrap();
        }
        self.current.install(levels, flushed_count);
    }

    fn live_snapshots(&self) -> Vec<SeqNo> {
        let mut snapshots = self.snapshots.clone();
        snapshots.sort_unstable();
        snapshots.dedup();
        snapshots
    }

    /// The next plan: by itself, or for a range.
    fn pick(&self, range: Option<&KeyRange>) -> Option<Plan> {
        self.look(&self.options, |picker| match range {
            None => picker.pick(),
            Some(range) => picker.pick_range(range),
        })
    }

    /// The next plan within level 0, where all are small and four are many.
    fn pick_intra_l0(&self) -> Option<Plan> {
        let options = CompactionOptions {
            l0_trigger: 1,
            base_level_bytes: 1 << 20,
            ..self.options.clone()
        };
        self.look(&options, |picker| picker.pick_intra_l0(self.flushed))
    }

    fn look<T>(
        &self,
        options: &CompactionOptions,
        look: impl FnOnce(&CompactionPicker<'_>) -> T,
    ) -> T {
        let running = self.running.iter();
        let busy: HashSet<FileNumber> = running.flat_map(|(plan, ..)| plan.numbers()).collect();
        let view = self.current.view();
        let snapshots = self.live_snapshots();
        look(&CompactionPicker {
            keyspace: KEYSPACE,
            levels: &view.parts().levels,
            comparator: &Comparator::Bytewise,
            options,
            busy: &busy,
            claims: &[],
            snapshots: snapshots.clone(),
            oldest_snapshot: snapshots.first().copied().unwrap_or(self.seqno),
            now_unix_s: self.settings.env.clock.unix_seconds(),
            is_searchable_wanted: false,
            file_size_bytes: 32 << 20,
            is_joining_useful: true,
            is_retaining: false,
        })
    }

    fn context(&self) -> JobContext {
        JobContext {
            window_bytes: 64 << 10,
            settings: self.settings.clone(),
            merge: Some(self.rule.clone()),
            retaining: None,
            now_unix_ms: self.settings.env.clock.unix_millis(),
            snapshots: self.live_snapshots(),
            view: self.current.view(),
            obsolete: Vec::new(),
            may_go_on: Arc::new(|| Ok(())),
        }
    }

    fn begin(&mut self, random: &mut Random, plan: Plan) {
        let context = self.context();
        let count_max = usize::try_from(1 + random.below(4)).unwrap();
        let mut parts = split(&plan, &Comparator::Bytewise, count_max);
        if plan.kind == CompactionKind::Merge && random.one_in(3) {
            // Any other cut is as good.
            let boundary: Option<Bytes> = Some(key_of(random.below(KEY_COUNT)).into());
            let (lower, upper) = (boundary.clone(), boundary);
            parts = vec![Part { lower: None, upper }, Part { lower, upper: None }];
        }
        self.running.push((plan, parts, context));
    }

    fn end(&mut self, index: usize) {
        let (plan, parts, context) = self.running.swap_remove(index);
        let run = |part| run_part(&plan, part, &context).unwrap();
        let results = match plan.kind {
            CompactionKind::Merge => parts.iter().map(run).collect(),
            CompactionKind::Move | CompactionKind::Drop => Vec::new(),
        };
        self.install(edit_of(&plan, results), 0);
    }

    /// Of each key what lies above is newer than what lies below, range deletes included: repair
    /// merges files by that alone.
    fn check_numbers(&self, view: &Arc<View>) {
        let mut above: BTreeMap<Vec<u8>, SeqNo> = BTreeMap::new();
        for (level, run) in view.parts().levels.all_runs() {
            let mut here: Vec<(Vec<u8>, SeqNo)> = Vec::new();
            let mut cursor = RunCursor::new(view, run, &KeyRange::ALL, ReadOptions::default());
            let mut is_on = cursor.seek_to_first().unwrap();
            while is_on {
                let (user_key, trailer) = key::split(cursor.key());
                here.push((user_key.to_vec(), trailer.seqno()));
                is_on = cursor.next().unwrap();
            }
            for file in run.files() {
                for delete in view.open(file).unwrap().range_deletes().iter() {
                    let keys = (0..KEY_COUNT).map(key_of);
                    let keys =
                        keys.filter(|key| delete.start[..] <= key[..] && key[..] < delete.end[..]);
                    here.extend(keys.map(|key| (key, delete.seqno)));
                }
            }
            for (key, seqno) in &here {
                let newer = above.get(key).copied().unwrap_or(SeqNo::MAX);
                assert!(
                    *seqno < newer,
                    "{} of {newer} has {seqno} at {level}",
                    key.escape_ascii()
                );
            }
            for (key, seqno) in here {
                let oldest = above.entry(key).or_insert(SeqNo::MAX);
                *oldest = seqno.min(*oldest);
            }
        }
    }

    /// Each reader that may be there gets for each key what the model says.
    fn check(&self) {
        let view = self.current.view();
        self.check_numbers(&view);
        let now = self.settings.env.clock.unix_millis();
        for at in self.snapshots.iter().copied().chain([self.seqno]) {
            for time in [now, now + 1, now + 999, now + 1_000, now + 10_000] {
                let read = ReadAt {
                    visibility: crate::base::types::seqno::Visibility::at(at),
                    now_unix_ms: time,
                    options: ReadOptions::default(),
                };
                for key in (0..KEY_COUNT).map(key_of) {
                    let expected = self.all.get(&self.rule, &key, at, time);
                    let actual = get(&view, &key, &read);
                    let actual = actual.map(|value| value.map(|value| value.to_vec()));
                    let refused = actual.map_err(|error| error.kind());
                    assert_eq!(
                        refused,
                        expected.map_err(|()| ErrorKind::Invalid),
                        "key {} at {at}, time {time}",
                        key.escape_ascii()
                    );
                }
            }
        }
    }

    fn random_step(&mut self, random: &mut Random) {
        match random.below(12) {
            0..3 => self.write(random),
            3 => self.seal(),
            4 | 5 => self.flush(),
            6 => self.snapshots.push(self.seqno),
            7 => {
                if !self.snapshots.is_empty() {
                    let index = random.below(self.snapshots.len() as u64);
                    self.snapshots.swap_remove(usize::try_from(index).unwrap());
                }
            }
            8 if random.one_in(4) => self.world.clock.advance(Duration::from_secs(1)),
            8 => {
                let (left, right) = (random.below(KEY_COUNT), random.below(KEY_COUNT));
                let range = KeyRange::new(key_of(left.min(right))..=key_of(left.max(right)));
                if let Some(plan) = self.pick(Some(&range)) {
                    self.begin(random, plan);
                }
            }
            9 | 10 => {
                if let Some(plan) = self.pick(None) {
                    self.begin(random, plan);
                }
            }
            _ => self.end_one(random),
        }
    }

    fn end_one(&mut self, random: &mut Random) {
        if !self.running.is_empty() {
            let index = random.below(self.running.len() as u64);
            self.end(usize::try_from(index).unwrap());
        }
    }

    fn end_all(&mut self) {
        while !self.running.is_empty() {
            self.end(0);
        }
    }

    /// Does what is due until nothing is.
    fn settle(&mut self, random: &mut Random) {
        self.end_all();
        for _ in 0..200 {
            let Some(plan) = self.pick(None) else {
                return;
            };
            self.begin(random, plan);
            self.end(0);
        }
        panic!("compaction finds something to do for ever");
    }
}

#[test]
fn no_reader_notices_flushes_and_compactions() {
    // Random writes, flushes, snapshots and compactions, several of them under way at a time and
    // each in one or more parts: after each step every reader gets what the model says, and in
    // the end compaction comes to rest.
    for_seeds(40, |seed, random| {
        let mut tree = Tree::new(seed, random);
        for _ in 0..40 {
            tree.random_step(random);
            tree.check();
        }
        tree.settle(random);
        tree.check();
    });
}

#[test]
fn no_reader_notices_that_runs_were_merged_within_level_0() {
    // As above, where runs come faster than they are merged down, and are merged within level 0 as
    // well.
    let gathered_count = Cell::new(0);
    for_seeds(40, |seed, random| {
        let mut tree = Tree::new(seed, random);
        tree.options.l0_trigger = 6;
        for _ in 0..40 {
            tree.write(random);
            tree.flush();
            if let Some(plan) = tree.pick_intra_l0() {
                gathered_count.set(gathered_count.get() + 1);
                tree.begin(random, plan);
            }
            tree.random_step(random);
            if random.one_in(3) {
                tree.end_one(random);
            }
            tree.check();
        }
        tree.settle(random);
        tree.check();
    });
    assert!(gathered_count.get() > 40, "{gathered_count:?}");
}

#[test]
fn a_full_compaction_leaves_nothing_obsolete() {
    // Everything is flushed and no snapshot lives: one run remains, without deletes of any kind,
    // and with an entry for each key that can be read.
    for_seeds(40, |seed, random| {
        let mut tree = Tree::new(seed, random);
        for _ in 0..25 {
            tree.random_step(random);
        }
        tree.end_all();
        tree.snapshots.clear();
        tree.flush();
        if let Some(plan) = tree.pick(Some(&KeyRange::ALL)) {
            tree.begin(random, plan);
            tree.end(0);
        }
        tree.check();
        assert!(tree.pick(Some(&KeyRange::ALL)).is_none());
        let view = tree.current.view();
        let levels = &view.parts().levels;
        assert!(levels.all_runs().count() <= 1);
        for (_, file) in levels.files() {
            assert_eq!(file.delete_count + file.range_delete_count, 0);
        }
    });
}

#[test]
fn outputs_end_where_the_files_below_them_begin() {
    let mut tree = Tree::new(0, &mut Random::new(0));
    let bottom = Level::all().next_back().unwrap();
    let files = [(20, 1, 3), (21, 4, 6), (22, 9, 9), (23, 12, 15)];
    let added = files.map(|(number, smallest, largest)| Change::AddFile {
        keyspace: KEYSPACE,
        level: bottom,
        run: 0,
        record: Arc::new(record(number, &key_of(smallest), &key_of(largest))),
    });
    tree.install(added.into(), 0);
    let boundaries_at = |output: Level, part: &Part| {
        let plan = Plan {
            keyspace: KEYSPACE,
            inputs: Vec::new(),
            output,
            kind: CompactionKind::Merge,
            reason: CompactionReason::Runs,
            victims: Arc::default(),
        };
        boundaries_of(&plan, part, &tree.context())
    };
    let boundaries = |numbers: &[u64]| {
        GrandparentBoundaries::at(
            numbers
                .iter()
                .map(|number| key_of(*number).into())
                .collect(),
        )
    };
    let above = Level::new(bottom.index() - 1).unwrap();
    let middle = Part {
        lower: Some(key_of(5).into()),
        upper: Some(key_of(12).into()),
    };
    assert_eq!(
        boundaries_at(above, &Part::default()),
        boundaries(&[1, 4, 9, 12])
    );
    assert_eq!(boundaries_at(above, &middle), boundaries(&[4, 9]));
    assert_eq!(
        boundaries_at(bottom, &Part::default()),
        GrandparentBoundaries::default()
    );
    assert_eq!(
        boundaries_at(Level::ZERO, &Part::default()),
        GrandparentBoundaries::default()
    );
}
