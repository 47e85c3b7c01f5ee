//! Scripts of compaction: a keyspace is filled and flushed, `pick` tells and takes a step.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::base::codec::compress::Compression;
use esker::base::options::keyspace::CompactionOptions;
use esker::base::options::sst::SstOptions;
use esker::base::types::entry::join_expiring;
use esker::base::types::ids::{FileNumber, KeyspaceId, Level};
use esker::base::types::key::Trailer;
use esker::base::types::kind::Kind;
use esker::base::types::order::KeyOrder;
use esker::base::types::range::KeyRange;
use esker::base::types::seqno::SeqNo;
use esker::env::fs::Fs;
use esker::env::sim::SimWorld;
use esker::flow::compact::job::{JobContext, Part, edit_of, run_part};
use esker::flow::compact::leveled::Situation;
use esker::flow::compact::plan::{Deed, Plan};
use esker::flow::current::{Current, Sealed};
use esker::flow::flush::flush;
use esker::flow::output::OutputSettings;
use esker::flow::read::fold::Folder;
use esker::flow::read::view::ViewParts;
use esker::store::cache::sharded::ShardedCache;
use esker::store::mem::memtable::{Memtable, MemtableWriter};
use esker::store::sst::open_files::OpenFiles;
use esker::store::version::apply::apply;
use esker::store::version::edit::{Change, Edit};
use esker::store::version::file::FileRecord;
use esker::store::version::numbers::FileNumbers;
use esker::store::version::state::{Identity, Orders, Version};

use crate::scripts::text::number;
use crate::scripts::{Stage, run_scripts};

const DIR: &str = "/db";
const KEYSPACE: KeyspaceId = KeyspaceId(0);

#[test]
fn compactions_tell_their_story() {
    // Every script in tests/scripts/compact*.txt.
    run_scripts("compact", CompactStage::new);
}

struct CompactStage {
    world: SimWorld,
    options: CompactionOptions,
    settings: OutputSettings,
    version: Version,
    current: Current,
    live: MemtableWriter,
    seqno: SeqNo,
    snapshots: Vec<SeqNo>,
}

impl CompactStage {
    fn new() -> CompactStage {
        let world = SimWorld::new(1);
        world.fs.create_dir_all(Path::new(DIR)).unwrap();
        world.clock.set_unix_time(Duration::from_secs(1_000));
        let settings = OutputSettings {
            env: world.env(),
            dir: DIR.into(),
            numbers: Arc::new(FileNumbers::new(FileNumber(1))),
            keyspace: KEYSPACE,
            order: KeyOrder::Bytewise,
            sst: SstOptions {
                block_size_bytes: 512,
                file_size_bytes: 2_000,
                ..SstOptions::default()
            },
            compression: Compression::None,
        };
        let options = CompactionOptions {
            l0_trigger: 2,
            base_level_bytes: 8_000,
            level_growth: 4,
            ..CompactionOptions::default()
        };
        let identity = Identity {
            database_id: [7; 16],
            created_unix_s: 1_000,
        };
        let created = Change::CreateKeyspace {
            id: KEYSPACE,
            name: "default".into(),
            order_name: "bytewise".into(),
            merge_name: None,
            settings: BTreeMap::new(),
        };
        let version = apply(&Version::empty(identity, Orders::default()), &[created]).unwrap();
        let live = Memtable::create(KeyOrder::Bytewise, None);
        let cache = Arc::new(ShardedCache::new(1 << 20));
        let parts = ViewParts {
            keyspace: KEYSPACE,
            order: KeyOrder::Bytewise,
            folder: Folder::new("default", None),
            memtables: vec![Arc::clone(live.table())],
            levels: Arc::clone(&version.keyspace(KEYSPACE).unwrap().levels),
            open_files: Arc::new(OpenFiles::new(world.env().fs, DIR, 100, cache)),
        };
        CompactStage {
            world,
            options,
            settings,
            version,
            current: Current::new(parts, Vec::new()),
            live,
            seqno: SeqNo::ZERO,
            snapshots: Vec::new(),
        }
    }

    fn write(&mut self, kind: Kind, key: &str, value: &[u8]) {
        self.seqno = self.seqno.plus(1);
        let trailer = Trailer::new(self.seqno, kind);
        self.live.insert(trailer, key.as_bytes(), value);
    }

    fn flush(&mut self) {
        let fresh = Memtable::create(KeyOrder::Bytewise, None);
        let full = std::mem::replace(&mut self.live, fresh);
        let sealed = Sealed {
            table: Arc::clone(full.table()),
            first_log: FileNumber(1),
            last_seqno: self.seqno,
        };
        self.current
            .seal(Arc::clone(self.live.table()), sealed.clone());
        let snapshots = self.snapshots.clone();
        let flushed = flush(&[sealed], None, snapshots, self.settings.clone()).unwrap();
        let run = flushed.files.first().map_or(0, |file| file.number.0);
        let edit = (flushed.files.into_iter())
            .map(|record| Change::AddFile {
                keyspace: KEYSPACE,
                level: Level::ZERO,
                run,
                record: Arc::new(record),
            })
            .collect();
        self.install(edit, 1);
    }

    fn install(&mut self, edit: Edit, flushed_count: usize) {
        self.version = apply(&self.version, &edit).unwrap();
        let levels = Arc::clone(&self.version.keyspace(KEYSPACE).unwrap().levels);
        self.current.install(levels, flushed_count);
    }

    /// Picks, tells, runs and shows what is there then; says whether there was anything.
    fn step(&mut self, range: Option<&KeyRange>, out: &mut String) -> bool {
        let view = self.current.view();
        let situation = Situation {
            keyspace: KEYSPACE,
            levels: &view.parts().levels,
            order: &KeyOrder::Bytewise,
            options: &self.options,
            busy: &HashSet::new(),
            oldest_snapshot: self.snapshots.first().copied().unwrap_or(self.seqno),
            now_unix_s: self.settings.env.clock.unix_seconds(),
        };
        let plan = match range {
            None => situation.pick(),
            Some(range) => situation.pick_range(range),
        };
        let Some(plan) = plan else {
            writeln!(out, "nothing to do").unwrap();
            return false;
        };
        tell(&plan, out);
        let context = JobContext {
            settings: self.settings.clone(),
            merge: None,
            snapshots: self.snapshots.clone(),
            view,
            is_stopped: Arc::new(|| false),
        };
        let results = match plan.deed {
            Deed::Merge => vec![run_part(&plan, &Part::default(), &context).unwrap()],
            Deed::Move | Deed::Drop => Vec::new(),
        };
        self.install(edit_of(&plan, results), 0);
        self.show(out);
        true
    }

    fn show(&self, out: &mut String) {
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

impl Stage for CompactStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        // A value of 100 bytes: about 17 entries fill a file.
        let value = [b'v'; 100];
        match words {
            ["put", keys @ ..] => keys
                .iter()
                .for_each(|key| self.write(Kind::Put, key, &value)),
            ["delete", keys @ ..] => keys
                .iter()
                .for_each(|key| self.write(Kind::Delete, key, b"")),
            ["expire", at, keys @ ..] => {
                let raw = join_expiring(number(at)?, &value);
                keys.iter()
                    .for_each(|key| self.write(Kind::PutExpiring, key, &raw));
            }
            ["delete_range", start, end] => {
                self.write(Kind::RangeDelete, start, end.as_bytes());
            }
            ["fill", prefix, from, to] => {
                for key in number::<u32>(from)?..number(to)? {
                    self.write(Kind::Put, &format!("{prefix}{key:03}"), &value);
                }
            }
            ["clear", prefix, from, to] => {
                for key in number::<u32>(from)?..number(to)? {
                    self.write(Kind::Delete, &format!("{prefix}{key:03}"), b"");
                }
            }
            ["flush"] => self.flush(),
            ["file_size", bytes] => self.settings.sst.file_size_bytes = number(bytes)?,
            ["clock", at] => {
                let at = Duration::from_secs(number(at)?);
                self.world.clock.set_unix_time(at);
            }
            ["snapshot"] => self.snapshots.push(self.seqno),
            ["release"] => self.snapshots.clear(),
            ["levels"] => self.show(out),
            ["pick"] => {
                self.step(None, out);
            }
            ["settle"] => while self.step(None, out) {},
            ["compact", start, end] => {
                self.step(Some(&KeyRange::new(start.as_bytes()..=end.as_bytes())), out);
            }
            _ => return Err("no such command".into()),
        }
        Ok(())
    }
}

fn tell(plan: &Plan, out: &mut String) {
    let inputs: Vec<String> = (plan.inputs.iter())
        .flat_map(|input| input.runs.iter().map(move |files| (input.level, files)))
        .map(|(level, files)| {
            let numbers: Vec<String> = files.iter().map(|file| file.number.0.to_string()).collect();
            format!("{level} {}", numbers.join(" "))
        })
        .collect();
    let (deed, reason) = (plan.deed, plan.reason);
    let (inputs, output) = (inputs.join(" + "), plan.output);
    writeln!(out, "{deed:?} {inputs} -> {output}, for {reason:?}").unwrap();
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
