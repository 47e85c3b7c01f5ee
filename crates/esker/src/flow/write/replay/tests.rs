//! Tests of `replay`, together with the live end of the log that writes what it reads.

use std::time::Duration;

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::ErrorKind;
use crate::env::random::Random;
use crate::env::sim::crash::CrashMode;
use crate::env::sim::world::SimWorld;
use crate::flow::current::Current;
use crate::flow::model::for_seeds;
use crate::flow::read::fold::Folder;
use crate::flow::read::view::ViewParts;
use crate::flow::write::active::{Active, Applied};
use crate::flow::write::follow_ups::FollowUp;
use crate::flow::write::live_table::LiveTable;
use crate::flow::write::segments::Segments;
use crate::flow::write::sync::SyncGroup;
use crate::store::batch::writer::Batch;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::open_files::OpenFiles;
use crate::store::version::levels::Levels;
use crate::store::version::numbers::FileNumbers;

const CAPACITY_BYTES: u64 = 4096;
const DIR: &str = "/db";
const KEYSPACE: KeyspaceId = KeyspaceId(2);

/// One entry that replay put back: number, key and value.
type Found = (SeqNo, Vec<u8>, Vec<u8>);

/// One logged batch: its numbers and its puts.
#[derive(Clone, Debug, PartialEq)]
struct Logged {
    first: SeqNo,
    puts: Vec<(Vec<u8>, Vec<u8>)>,
    segment: FileNumber,
}

/// A log with its live end, and what was written to it.
struct Log {
    world: SimWorld,
    numbers: Arc<FileNumbers>,
    segments: Arc<Segments>,
    active: Active,
    current: Arc<Current>,
    sync: SyncGroup,
    /// Batches in the log, oldest first, as far as they are not flushed.
    logged: Vec<Logged>,
    /// How many of them are durable.
    synced_count: usize,
    flushed: SeqNo,
    first_log: FileNumber,
    /// Whether a crash has left a torn tail in some segment, which is met again until that goes.
    is_torn: bool,
    /// Whether the keyspace is told to be kept out of the log.
    is_unlogged: bool,
}

fn fresh() -> MemtableWriter {
    Memtable::create(Comparator::Bytewise, builtin("append"))
}

impl Log {
    fn new(world: SimWorld) -> Log {
        let numbers = Arc::new(FileNumbers::new(FileNumber(1)));
        Log::over(
            world,
            numbers,
            SeqNo::ZERO,
            FileNumber(0),
            &ReplayReport::default(),
            Vec::new(),
        )
    }

    fn over(
        world: SimWorld,
        numbers: Arc<FileNumbers>,
        flushed: SeqNo,
        first_log: FileNumber,
        report: &ReplayReport,
        kept: Vec<FileNumber>,
    ) -> Log {
        let fs: Arc<dyn Fs> = world.env().fs;
        fs.create_dir_all(Path::new(DIR)).unwrap();
        let dir = Path::new(DIR);
        let segments = Segments::new(Arc::clone(&fs), dir, Arc::clone(&numbers), CAPACITY_BYTES);
        let segments = Arc::new(segments);
        let sync = SyncGroup::default();
        for &number in &kept {
            let path = dir.join(FileName::Wal(number).to_string());
            let file = fs.open_log(&path, fs.file_size(&path).unwrap()).unwrap();
            sync.add_segment(number, file.syncer());
        }
        let oldest = kept.first().copied().unwrap_or(first_log);
        let last = report.last_seqno.max(flushed);
        let used = kept.iter().map(|number| (*number, CAPACITY_BYTES));
        let mut active = Active::new(Arc::clone(&segments), last, report.end, used.collect());
        let writer = fresh();
        let cache = Arc::new(ShardedCache::new(1 << 10));
        let parts = ViewParts {
            keyspace: KEYSPACE,
            comparator: Comparator::Bytewise,
            folder: Folder::new("log", builtin("append")),
            memtables: vec![Arc::clone(writer.table())],
            levels: Arc::new(Levels::default()),
            values: Arc::new(OpenValues::new(Arc::clone(&fs), dir, 1)),
            open_files: Arc::new(OpenFiles::new(fs, dir, 10, cache)),
        };
        let current = Arc::new(Current::new(parts, Vec::new()));
        let table = LiveTable {
            current: Arc::clone(&current),
            writer,
            first_log: Some(oldest),
            mark: None,
            is_mark_new: false,
            hold: None,
            clock: None,
            is_plain: true,
            limit_bytes: usize::MAX,
            values_limit_bytes: u64::MAX,
        };
        active.add_keyspace(KEYSPACE, table);
        Log {
            world,
            numbers,
            segments,
            active,
            current,
            sync,
            logged: Vec::new(),
            synced_count: 0,
            flushed,
            first_log,
            is_torn: report.torn_bytes > 0,
            is_unlogged: false,
        }
    }

    /// Writes one batch, to the log or to memory only.
    fn write(&mut self, puts: Vec<(Vec<u8>, Vec<u8>)>, is_logged: bool) {
        let mut batch = Batch::new();
        for (key, value) in &puts {
            batch.put(KEYSPACE, key, value).unwrap();
        }
        let first = self.active.last_seqno().plus(1);
        batch.set_first_seqno(first);
        if is_logged {
            let mut applied = Applied::default();
            self.active
                .log(batch.bytes(), &self.sync, &mut applied)
                .unwrap();
            if applied.follow_ups.has(FollowUp::PrepareSegment) {
                self.segments.prepare().unwrap();
            }
            let segment = self.active.log_position().unwrap().segment;
            self.logged.push(Logged {
                first,
                puts,
                segment,
            });
        }
        let entries = BatchReader::new(batch.bytes()).unwrap();
        self.active.apply(&entries).unwrap();
    }

    fn write_random(&mut self, random: &mut Random) {
        let puts = (0..1 + random.below(4)).map(|_| {
            let len_max = if random.one_in(30) { 9_000 } else { 300 };
            let len = random.below(len_max);
            let key = format!("{}", random.below(20)).into_bytes();
            (key, random.bytes(usize::try_from(len).unwrap()))
        });
        let puts = puts.collect();
        self.write(puts, !random.one_in(6));
    }

    fn make_durable(&mut self) {
        self.sync.sync_all(&*self.world.env().pool).unwrap();
        self.synced_count = self.logged.len();
    }

    /// As after a flush of everything: the log up to here is not needed.
    fn flush(&mut self) {
        self.active.seal(KEYSPACE, FlushReason::Manual);
        let count = self.current.sealed_count();
        self.current.install(Arc::new(Levels::default()), count);
        self.flushed = self.active.last_seqno();
        self.logged.clear();
        self.synced_count = 0;
        if let Some(first_log) = self.active.oldest_needed_log(None) {
            self.first_log = self.first_log.max(first_log);
        }
        for (number, bytes) in self.active.take_segments_before(self.first_log) {
            self.segments.retire(number, bytes).unwrap();
        }
    }

    fn segments_of(&self, world: &SimWorld) -> Vec<FileNumber> {
        let names = world.fs.list(Path::new(DIR)).unwrap();
        let mut found: Vec<FileNumber> = (names.iter())
            .filter_map(|name| match FileName::parse(name) {
                Some(FileName::Wal(number)) if number >= self.first_log => Some(number),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found
    }

    fn replay(&self, world: &SimWorld) -> Result<(ReplayReport, Vec<Found>)> {
        self.replay_before(KeyspaceId(KEYSPACE.0 + 1), world)
    }

    fn replay_before(
        &self,
        next_keyspace: KeyspaceId,
        world: &SimWorld,
    ) -> Result<(ReplayReport, Vec<Found>)> {
        let target = ReplayTarget {
            flushed: self.flushed,
            is_unlogged: self.is_unlogged,
            limit_bytes: 2_000,
            values_limit_bytes: u64::MAX,
            fresh: Some(Box::new(fresh)),
            filled: Vec::new(),
        };
        let mut targets = BTreeMap::from([(KEYSPACE, target)]);
        let found = self.segments_of(world);
        let fs: Arc<dyn Fs> = world.env().fs;
        let source = ReplaySource {
            fs: &*fs,
            dir: Path::new(DIR),
            segments: &found,
            first_log: self.first_log,
            next_keyspace,
            values: &OpenValues::new(Arc::clone(&fs), DIR, 1),
            is_in_files: &|_, _, _| Ok(false),
        };
        let report = replay(&source, &mut targets, self.flushed)?;
        let mut entries = Vec::new();
        for replayed in &targets[&KEYSPACE].filled {
            assert!(!replayed.table().is_empty());
            assert!(found.contains(&replayed.first_log));
            let mut cursor = replayed.table().cursor();
            use crate::base::types::cursor::Cursor;
            let mut is_valid = cursor.seek_to_first().unwrap();
            while is_valid {
                let (key, trailer) = crate::base::types::key::split(cursor.key());
                assert!(trailer.seqno() <= replayed.last_seqno);
                entries.push((
                    trailer.seqno(),
                    key.to_vec(),
                    cursor.value().unwrap().to_vec(),
                ));
                is_valid = cursor.next().unwrap();
            }
        }
        entries.sort();
        Ok((report, entries))
    }

    /// Replays in the world after a crash, checks that a prefix came back with all that was
    /// durable, and goes on from there.
    fn recover(self, world: SimWorld, is_all_expected: bool) -> Log {
        let (report, entries) = self.replay(&world).unwrap();
        let mut expected = Vec::new();
        let mut count = 0;
        for batch in &self.logged {
            if expected.len() == entries.len() {
                break;
            }
            for (seqno, (key, value)) in (batch.first.get()..).zip(&batch.puts) {
                expected.push((SeqNo::new(seqno), key.clone(), value.clone()));
            }
            count += 1;
        }
        assert_eq!(entries, expected, "a prefix of whole batches");
        assert!(
            count >= self.synced_count,
            "{count} of {} durable",
            self.synced_count
        );
        if is_all_expected {
            assert_eq!(count, self.logged.len());
            assert!(self.is_torn || report.torn_bytes == 0);
            assert_eq!(report.torn_at.is_some(), report.torn_bytes > 0);
        }
        let mut kept = self.segments_of(&world);
        let mut dropped = report.dropped_segments.clone();
        dropped.reverse();
        for number in dropped {
            let path = Path::new(DIR).join(FileName::Wal(number).to_string());
            world.fs.remove_file(&path).unwrap();
            world.fs.sync_dir(Path::new(DIR)).unwrap();
        }
        kept.retain(|number| !report.dropped_segments.contains(number));
        let numbers = self.numbers;
        let logged = self.logged[..count].to_vec();
        let mut next = Log::over(world, numbers, self.flushed, self.first_log, &report, kept);
        next.logged = logged;
        next
    }
}

#[test]
fn entries_of_a_keyspace_that_was_never_created_are_told() {
    // The manifest has lost its end: to pass over them, as over those of a dropped keyspace, would
    // be to lose them in silence.
    let mut log = Log::new(SimWorld::new(1));
    log.write(vec![(b"key".to_vec(), b"value".to_vec())], true);
    let error = log.replay_before(KEYSPACE, &log.world).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("esker repair"), "{error}");
    assert!(error.file().is_some());
    assert!(log.replay(&log.world).is_ok());
}

#[test]
fn an_entry_of_an_unlogged_keyspace_in_the_log_is_corruption() {
    // Nobody can have written it there: the log is of another database, or the manifest is.
    let mut log = Log::new(SimWorld::new(1));
    log.write(vec![(b"key".to_vec(), b"value".to_vec())], true);
    log.is_unlogged = true;
    let error = log.replay(&log.world).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("is unlogged"), "{error}");
}

#[test]
fn a_prefix_with_all_that_was_durable_comes_back() {
    // Random writes, syncs, flushes and recycled segments; then the process is killed or the
    // power fails in any way, and all over again, several times.
    for_seeds(100, |seed, random| {
        let mut log = Log::new(SimWorld::new(seed));
        for round in 0..4 {
            for _ in 0..random.below(60) {
                match random.below(12) {
                    0 => log.make_durable(),
                    1 if random.one_in(3) => log.flush(),
                    2 => log.world.clock.advance(Duration::from_secs(1)),
                    _ => log.write_random(random),
                }
            }
            log = if random.one_in(3) {
                let world = log.world.after_kill();
                log.recover(world, true)
            } else {
                let mode = CrashMode::ALL[usize::try_from(random.below(5)).unwrap()];
                let world = log.world.after_crash(mode, seed * 10 + round);
                log.recover(world, false)
            };
            // What came back may be in the page cache alone.
            log.make_durable();
        }
    });
}

fn put(number: u64, len: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    vec![(format!("{number}").into_bytes(), vec![b'v'; len])]
}

/// A log of three segments and more, of which some batches are durable.
fn long_log(synced_at: &[u64]) -> Log {
    let mut log = Log::new(SimWorld::new(1));
    for number in 0..40 {
        log.write(put(number, 300), true);
        if synced_at.contains(&number) {
            log.make_durable();
        }
    }
    assert!(log.logged.last().unwrap().segment.0 >= 3);
    log
}

fn damage(log: &Log, segment: FileNumber, offset: u64) {
    let path = Path::new(DIR).join(FileName::Wal(segment).to_string());
    let size = log.world.fs.file_size(&path).unwrap();
    let mut file = log.world.fs.open_log(&path, size).unwrap();
    file.write_at(offset, &[0xaa; 8]).unwrap();
}

#[test]
fn damage_that_nothing_proves_durable_ends_the_log() {
    // No sync ever: the batches before the damage come back, the segments behind it are dropped.
    let log = long_log(&[]);
    let second = log
        .logged
        .iter()
        .find(|batch| batch.segment > FileNumber(1));
    let second = second.unwrap().segment;
    damage(&log, second, 1_000);
    let (report, entries) = log.replay(&log.world).unwrap();
    let in_first = log
        .logged
        .iter()
        .filter(|batch| batch.segment < second)
        .count();
    assert!(entries.len() >= in_first && entries.len() < in_first + 5);
    assert!(!report.dropped_segments.is_empty());
    assert!(report.torn_bytes > 0);
    assert_eq!(report.torn_at.map(|(number, _)| number), Some(second));
}

#[test]
fn damage_before_durable_records_is_corruption() {
    // Everything up to the last segment was synced, and later records say so.
    let log = long_log(&[10, 20, 30, 38]);
    damage(&log, FileNumber(1), 1_000);
    let error = log.replay(&log.world).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(
        error
            .to_string()
            .contains(&FileName::Wal(FileNumber(1)).to_string()),
        "{error}"
    );
}

#[test]
fn a_missing_segment_is_corruption() {
    // One out of the middle is gone, synced or not.
    for synced_at in [&[][..], &[10, 20, 30]] {
        let log = long_log(synced_at);
        let used: Vec<FileNumber> = log.logged.iter().map(|batch| batch.segment).collect();
        let middle = *used.iter().find(|number| **number > used[0]).unwrap();
        assert!(middle < used[used.len() - 1]);
        let path = Path::new(DIR).join(FileName::Wal(middle).to_string());
        log.world.fs.remove_file(&path).unwrap();
        let error = log.replay(&log.world).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(
            error
                .to_string()
                .contains(&FileName::Wal(middle).to_string()),
            "{error}"
        );
    }
}

#[test]
fn a_segment_that_was_emptied_is_corruption_once_durable() {
    // The contents of a middle segment are gone; what follows proves that they were durable.
    let log = long_log(&[10, 20, 30, 38]);
    let used: Vec<FileNumber> = log.logged.iter().map(|batch| batch.segment).collect();
    let middle = *used.iter().find(|number| **number > used[0]).unwrap();
    let path = Path::new(DIR).join(FileName::Wal(middle).to_string());
    log.world.fs.create(&path).unwrap();
    let error = log.replay(&log.world).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
}

#[test]
fn writes_to_memory_leave_gaps_that_replay_accepts() {
    // Every other batch is not logged: the logged ones come back with their own numbers.
    let mut log = Log::new(SimWorld::new(1));
    for number in 0..30 {
        log.write(put(number, 200), number % 2 == 0);
    }
    let (report, entries) = log.replay(&log.world).unwrap();
    assert_eq!(entries.len(), 15);
    assert!(entries.iter().all(|(seqno, ..)| seqno.get() % 2 == 1));
    assert_eq!(report.last_seqno, SeqNo::new(29));
    assert_eq!((report.torn_at, report.torn_bytes), (None, 0));
}
