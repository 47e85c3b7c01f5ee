//! The engine in a simulated world, behind the same operations as the model.

use esker::Expiry;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::clock::Clock;
use esker::internals::env::fs::Fs;
use esker::internals::env::pool::Pool;
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{
    Bytes, Db, DbCursor, ErrorKind, IngestOptions, Iter, Keyspace, KeyspaceSnapshot, Result,
    Snapshot, SstWriter, Transfer, Update, WriteBatch, WriteOptions,
};

use super::operation::{
    At, End, Move, Operation, Place, Write, as_files, bounds, durability, key, shown_entry,
    shown_or_none, updated, value,
};
use super::program::KeyspaceShape;
use super::settings::Settings;
use super::watched_pool::Watched;

/// The engine under one sequence of settings.
pub struct Subject {
    shapes: Vec<KeyspaceShape>,
    world: SimWorld,
    pool: Arc<Watched>,
    random: Random,
    settings: Settings,
    db: Option<Db>,
    ghosts: BTreeMap<Place, Keyspace>,
    snapshots: BTreeMap<u8, Snapshot>,
    iterators: BTreeMap<u8, Iter>,
    cursors: BTreeMap<u8, DbCursor>,
    copy_count: u32,
    /// Handles of values, and what they held when they were made.
    kept: Vec<(Bytes, Vec<u8>)>,
}

/// What is read: a keyspace, or one at a snapshot.
enum Side {
    Now(Keyspace),
    Then(KeyspaceSnapshot),
}

macro_rules! each {
    ($side:expr, $readable:ident => $call:expr) => {
        match $side {
            Side::Now($readable) => $call,
            Side::Then($readable) => $call,
        }
    };
}

impl Subject {
    pub fn new(shapes: &[KeyspaceShape], seed: u64) -> Subject {
        let world = SimWorld::new(seed);
        let pool = Arc::new(Watched::new(Arc::clone(&world.pool) as Arc<dyn Pool>));
        let mut subject = Subject {
            shapes: shapes.to_vec(),
            world,
            pool,
            random: Random::new(seed),
            settings: Settings(Vec::new()),
            db: None,
            ghosts: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            iterators: BTreeMap::new(),
            cursors: BTreeMap::new(),
            copy_count: 0,
            kept: Vec::new(),
        };
        subject.open();
        subject
    }

    /// The settings of the present opening.
    pub fn settings(&self) -> String {
        format!("{:?}", self.settings.0)
    }

    /// The answer of one operation at a moment.
    pub fn run(&mut self, operation: &Operation, now_unix_ms: u64) -> String {
        self.world
            .clock
            .set_unix_time(Duration::from_millis(now_unix_ms));
        self.pool.begin();
        match self.answer(operation) {
            Ok(answer) => answer,
            Err(error) if error.kind() == ErrorKind::Invalid => "Invalid".into(),
            Err(error) => format!("{error}"),
        }
    }

    /// After a close only files that the tree names are left.
    pub fn check_nothing_leaks(&mut self) {
        for (handle, value) in self.kept.drain(..) {
            assert_eq!(*handle, value, "a value changed under its handle");
        }
        self.ghosts.clear();
        self.snapshots.clear();
        self.iterators.clear();
        self.cursors.clear();
        let failures = self.db().stats().failures;
        assert!(failures.is_empty(), "{failures:?}");
        self.db().close().unwrap();
        let names = self.world.fs.list(Path::new("db")).unwrap();
        let on_disk = names.iter().filter(|name| name.ends_with(".sst")).count();
        self.reopen(true);
        let stats = self.db().stats();
        let levels = stats.keyspaces.iter().flat_map(|keyspace| &keyspace.levels);
        let in_tree: usize = levels.map(|level| level.file_count).sum();
        assert_eq!(on_disk, in_tree, "files are left over: {names:?}");
        let on_disk = names.iter().filter(|name| name.ends_with(".vlog")).count();
        let values = stats.values;
        assert_eq!(on_disk, values.segment_count, "left over: {names:?}");
        assert_eq!(values.recent_bytes + values.pinned_bytes, 0, "{values:?}");
    }

    fn db(&self) -> &Db {
        self.db.as_ref().expect("open between operations")
    }

    fn open(&mut self) {
        self.settings = Settings::random(&mut self.random);
        self.db = Some(self.opened("db").unwrap());
    }

    fn opened(&self, path: &str) -> Result<Db> {
        let mut env = self.world.env();
        env.pool = Arc::clone(&self.pool) as Arc<dyn Pool>;
        let mut builder = Db::builder(path).env(env);
        for (name, text) in &self.settings.0 {
            builder = builder.set(name, text).unwrap();
        }
        let default = &self.shapes[0];
        if default.ttl_ms > 0 {
            let text = format!("{}ms", default.ttl_ms);
            builder = builder.set("ttl", &text).unwrap();
        }
        for shape in &self.shapes[1..] {
            builder = builder.known_comparator(shape.comparator());
            builder = builder.known_merge_operator(shape.merge_rule());
        }
        builder = builder
            .comparator(default.comparator())
            .merge_operator(default.merge_rule());
        builder.open()
    }

    fn reopen(&mut self, by_letting_go: bool) {
        let db = self.db.take().expect("open between operations");
        if !by_letting_go {
            db.close().unwrap();
            for cursor in self.cursors.values_mut() {
                assert_eq!(
                    cursor.seek_to_first().unwrap_err().kind(),
                    ErrorKind::Closed
                );
            }
            for snapshot in self.snapshots.values() {
                assert_eq!(snapshot.get("k").unwrap_err().kind(), ErrorKind::Closed);
            }
            assert_eq!(db.put("k", "v").unwrap_err().kind(), ErrorKind::Closed);
        }
        drop(db);
        self.ghosts.clear();
        self.snapshots.clear();
        self.iterators.clear();
        self.cursors.clear();
        self.open();
    }

    fn keyspace(&self, place: Place, level: u8) -> Result<Keyspace> {
        let shape = &self.shapes[place];
        let options = self.settings.keyspace(shape);
        let write = WriteOptions {
            durability: durability(level),
            no_wait: false,
        };
        Ok(self
            .db()
            .keyspace_with(shape.name, options)?
            .with_write(write))
    }

    fn side(&self, At(place, slot): At) -> Result<Side> {
        let keyspace = self.keyspace(place, 0)?;
        let snapshot = slot.and_then(|slot| self.snapshots.get(&slot));
        Ok(match snapshot {
            None => Side::Now(keyspace),
            Some(snapshot) => Side::Then(snapshot.of(&keyspace)),
        })
    }

    fn answer(&mut self, operation: &Operation) -> Result<String> {
        match operation {
            Operation::Write(place, write, level) => {
                let now = self.world.clock.unix_millis();
                write_one(&self.keyspace(*place, *level)?, write, now)?;
            }
            Operation::DeleteBounds(place, lower, upper) => {
                self.keyspace(*place, 0)?
                    .delete_range(bounds(*lower, *upper))?;
            }
            Operation::Batch(writes, level) => {
                let mut batch = self.db().batch();
                let now = self.world.clock.unix_millis();
                for (place, write) in writes {
                    add_one(&mut batch, &self.keyspace(*place, 0)?, write, now);
                }
                batch.commit_with(WriteOptions {
                    durability: durability(*level),
                    no_wait: false,
                })?;
            }
            Operation::Swap(place, number, is_expected, new) => {
                let keyspace = self.keyspace(*place, 0)?;
                let mut expected = keyspace.get(key(*number))?.map(|value| value.to_vec());
                if !is_expected {
                    expected.get_or_insert_default().push(7);
                }
                let new = new.map(value);
                let number = key(*number);
                let is_swapped =
                    keyspace.compare_and_swap(number, expected.as_deref(), new.as_deref())?;
                return Ok(is_swapped.to_string());
            }
            Operation::Update(place, number, tag) => {
                let keyspace = self.keyspace(*place, 0)?;
                let after =
                    keyspace.update(key(*number), |present| match updated(present, *tag) {
                        None => Update::Keep,
                        Some(None) => Update::Remove,
                        Some(Some(value)) => Update::Set(value),
                    })?;
                return Ok(shown_or_none(after.as_deref()));
            }
            Operation::Expire(place, number, ttl_ms) => {
                let now = self.world.clock.unix_millis();
                let keyspace = self.keyspace(*place, 0)?;
                let end = end_after(now, *ttl_ms);
                let is_there = match number.is_multiple_of(2) {
                    true => keyspace.set_expiry(key(*number), end)?,
                    false => self
                        .db()
                        .transaction(|tx| tx.set_expiry(&keyspace, key(*number), end))?,
                };
                return Ok(format!("{is_there} {:?}", keyspace.expiry(key(*number))?));
            }
            Operation::Flush(place) => self.keyspace(*place, 0)?.flush()?,
            Operation::Compact(place, lower, upper) => {
                self.keyspace(*place, 0)?.compact(bounds(*lower, *upper))?;
            }
            Operation::Fill(place, first, count, tag) => {
                let keyspace = self.keyspace(*place, 0)?;
                for number in *first..first + count {
                    keyspace.put(key(number), value(tag + u32::from(number)))?;
                }
            }
            Operation::Drop(place) => {
                // It may not be there yet.
                let ghost = self.keyspace(*place, 0)?;
                self.db().drop_keyspace(self.shapes[*place].name)?;
                self.ghosts.insert(*place, ghost);
            }
            Operation::Ghost(place, number) => {
                let Some(ghost) = self.ghosts.get(place) else {
                    return Ok("no ghost".into());
                };
                let put = ghost.put(key(*number), "x").unwrap_err().kind();
                let flush = ghost.flush().unwrap_err().kind();
                let value = shown_or_none(ghost.get(key(*number))?.as_deref());
                let count = ghost.iter()?.map(Result::unwrap).count();
                return Ok(format!("{put:?} {flush:?} {value} of {count}"));
            }
            Operation::Advance(_) => {}
            Operation::Work(count) => (0..*count).for_each(|_| {
                let _has_run: bool = self.world.pool.run_one();
            }),
            Operation::Sync => self.db().sync()?,
            Operation::Set(place, tag) => self.set(*place, *tag)?,
            Operation::Checkpoint => return self.copy(),
            Operation::Ingest(writes, is_below) => self.ingest(writes, *is_below)?,
            Operation::Export(place) => return self.export(*place),
            Operation::Return(place) => {
                let set = self.set_name();
                let keyspace = self.keyspace(*place, 0)?;
                keyspace.export(&set)?;
                keyspace.ingest(&set, &IngestOptions::default())?;
            }
            Operation::Reopen(by_letting_go) => self.reopen(*by_letting_go),
            reading => return self.read(reading),
        }
        Ok("ok".into())
    }

    fn set_name(&mut self) -> PathBuf {
        self.copy_count += 1;
        PathBuf::from(format!("set{}", self.copy_count))
    }

    fn ingest(&mut self, writes: &[(Place, Write)], is_below: bool) -> Result<()> {
        let env = self.world.env();
        let now = self.world.clock.unix_time();
        let until = |ttl_ms: u32| Expiry::after(now, Duration::from_millis(ttl_ms.into()));
        let mut sets = Vec::new();
        for (place, writes) in as_files(writes) {
            let (dir, keyspace) = (self.set_name(), self.keyspace(place, 0)?);
            let shape = &self.shapes[place];
            let ttl_ms = Some(shape.ttl_ms).filter(|ttl_ms| *ttl_ms > 0);
            let options = self.settings.keyspace(shape);
            let comparator = options.comparator.clone();
            let mut files = SstWriter::create_in(&env, &dir, options)?;
            let mut points = Vec::new();
            for write in writes {
                match write {
                    Write::DeleteRange(start, end) => files.delete_range(key(start), key(end))?,
                    Write::Expire(..) => unreachable!("files have no such thing"),
                    Write::Merge(..) if is_below => {}
                    Write::Put(number, _)
                    | Write::PutTtl(number, ..)
                    | Write::Delete(number)
                    | Write::Merge(number, _) => points.push((key(number), write)),
                }
            }
            points.sort_by(|left, right| comparator.compare(&left.0, &right.0));
            for (key, write) in points {
                match write {
                    Write::Put(_, tag) => match ttl_ms {
                        None => files.put(key, value(tag))?,
                        Some(ttl_ms) => files.put_until(key, value(tag), until(ttl_ms))?,
                    },
                    Write::PutTtl(_, tag, ttl_ms) => {
                        files.put_until(key, value(tag), until(ttl_ms))?;
                    }
                    Write::Delete(_) => files.delete(key)?,
                    Write::Merge(_, tag) => files.merge(key, value(tag))?,
                    Write::DeleteRange(..) | Write::Expire(..) => {
                        unreachable!("written before, or not at all")
                    }
                }
            }
            files.finish()?;
            sets.push((keyspace, dir));
        }
        let parts: Vec<_> = sets.iter().map(|(keyspace, dir)| (keyspace, dir)).collect();
        let transfers = [Transfer::Link, Transfer::Copy, Transfer::Move];
        let options = IngestOptions::default().transfer(transfers[self.copy_count as usize % 3]);
        let options = options.place(match is_below {
            true => esker::Place::Below,
            false => esker::Place::Above,
        });
        self.db().ingest_all(&parts, &options)?;
        Ok(())
    }

    // Exports a keyspace; what another database has that took it in.
    fn export(&mut self, place: Place) -> Result<String> {
        let (set, dir) = (self.set_name(), self.set_name());
        self.keyspace(place, 0)?.export(&set)?;
        let other = self.opened(dir.to_str().unwrap())?;
        other.ingest_by_name(&set, &IngestOptions::default())?;
        let name = self.shapes[place].name;
        let mut all = other.existing_keyspace(name).unwrap().iter()?;
        let answer = take(&mut all, 0, usize::MAX);
        assert!(other.verify()?.is_whole());
        drop(all);
        other.close()?;
        answer
    }

    fn read(&mut self, operation: &Operation) -> Result<String> {
        match operation {
            Operation::Get(at, number) => {
                let value = each!(self.side(*at)?, side => side.get(key(*number)))?;
                Ok(shown_or_none(value.as_deref()))
            }
            Operation::MultiGet(at, numbers) => {
                let keys: Vec<_> = numbers.iter().map(|number| key(*number)).collect();
                let values = each!(self.side(*at)?, side => side.multi_get(&keys))?;
                let shown = values.iter().map(|value| shown_or_none(value.as_deref()));
                Ok(shown.collect::<Vec<_>>().join(" "))
            }
            Operation::Contains(at, number) => {
                let is_there = each!(self.side(*at)?, side => side.contains_key(key(*number)))?;
                Ok(is_there.to_string())
            }
            Operation::Range(at, lower, upper, ends) => {
                let range = bounds(*lower, *upper);
                let mut iterator = each!(self.side(*at)?, side => side.range(range))?;
                take(&mut iterator, *ends, usize::MAX)
            }
            Operation::Prefix(at, number, ends) => {
                let mut iterator = if self.shapes[at.0].is_reversed {
                    // Keys with a prefix lie together in this order too, but not where the
                    // bytewise order has them: all are read, and the others left out.
                    return self.read_prefix_of_all(*at, *number, *ends);
                } else {
                    each!(self.side(*at)?, side => side.prefix(key(*number)))?
                };
                take(&mut iterator, *ends, usize::MAX)
            }
            Operation::Edge(at, lower, upper, is_last) => {
                let entry = each!(self.side(*at)?, side => match (lower, upper, is_last) {
                    (End::Open, End::Open, true) => side.last(),
                    (End::Open, End::Open, false) => side.first(),
                    (_, _, true) => side.last_in(bounds(*lower, *upper)),
                    (_, _, false) => side.first_in(bounds(*lower, *upper)),
                })?;
                Ok(entry.map_or("none".into(), |(key, value)| shown_entry(&key, &value)))
            }
            Operation::Walk(at, moves) => {
                let mut cursor = each!(self.side(*at)?, side => side.cursor())?;
                walk(&mut cursor, moves)
            }
            Operation::Snapshot(slot) => {
                let snapshot = self.db().snapshot();
                self.snapshots.insert(*slot, snapshot);
                Ok("ok".into())
            }
            Operation::Release(slot) => {
                self.snapshots.remove(slot);
                Ok("ok".into())
            }
            Operation::Hold(slot, at, lower, upper) => {
                let range = bounds(*lower, *upper);
                let iterator = each!(self.side(*at)?, side => side.range(range))?;
                self.iterators.insert(*slot, iterator);
                Ok("ok".into())
            }
            Operation::Step(slot, ends, count) => {
                let iterator = self.iterators.get_mut(slot);
                iterator.map_or(Ok(String::new()), |it| take(it, *ends, (*count).into()))
            }
            Operation::HoldPrefix(slot, at, number) => {
                let iterator = match self.shapes[at.0].is_reversed {
                    true => each!(self.side(*at)?, side => side.iter())?,
                    false => each!(self.side(*at)?, side => side.prefix(key(*number)))?,
                };
                self.iterators.insert(*slot, iterator);
                Ok("ok".into())
            }
            Operation::Restart(slot) => match self.iterators.get_mut(slot) {
                None => Ok("nobody".into()),
                Some(iterator) => iterator.refresh().map(|()| "ok".into()),
            },
            Operation::Point(slot, at) => {
                let cursor = each!(self.side(*at)?, side => side.cursor())?;
                self.cursors.insert(*slot, cursor);
                Ok("ok".into())
            }
            Operation::Wander(slot, moves) => {
                let cursor = self.cursors.get_mut(slot);
                cursor.map_or(Ok(String::new()), |cursor| walk(cursor, moves))
            }
            Operation::Drift(slot, moves) => match self.cursors.get_mut(slot) {
                None => Ok("ok".into()),
                Some(cursor) => drift(cursor, moves).map(|()| cursor.is_valid().to_string()),
            },
            Operation::Look(slot) => {
                let Some(cursor) = self.cursors.get(slot) else {
                    return Ok(String::new());
                };
                let handle = cursor.value_bytes()?;
                let kept = handle.map(|handle| (handle.clone(), handle.to_vec()));
                self.kept.extend(kept);
                look(cursor)
            }
            Operation::Refresh(slot) => match self.cursors.get_mut(slot) {
                None => Ok("nobody".into()),
                Some(cursor) => cursor.refresh().map(|()| cursor.is_valid().to_string()),
            },
            Operation::LetGo(slot) => {
                self.iterators.remove(slot);
                self.cursors.remove(slot);
                Ok("ok".into())
            }
            _ => unreachable!("writes are answered above"),
        }
    }

    /// Changes one setting, unless it cannot be changed now or contradicts the others.
    fn set(&mut self, place: Place, tag: u32) -> Result<()> {
        let mut random = Random::new(tag.into());
        let mut settings = Settings::random(&mut random).0;
        let count = settings.len() as u64;
        let one = usize::try_from(random.below(count)).unwrap();
        let (name, text) = settings.swap_remove(one);
        let changed = match random.one_in(3) {
            true => self.db().set(name, text),
            false => self.keyspace(place, 0)?.set(name, text),
        };
        match changed {
            Err(error) if error.kind() == ErrorKind::Invalid => Ok(()),
            other => other,
        }
    }

    /// All that a copy holds.
    fn copy(&mut self) -> Result<String> {
        self.copy_count += 1;
        let path = format!("copy-{}", self.copy_count);
        self.db().checkpoint(&path)?;
        let copy = self.opened(&path)?;
        let mut all = Vec::new();
        for shape in &self.shapes {
            let options = self.settings.keyspace(shape);
            let mut iterator = copy.keyspace_with(shape.name, options)?.iter()?;
            all.push(take(&mut iterator, 0, usize::MAX)?);
        }
        copy.close()?;
        Ok(all.join("; "))
    }

    fn read_prefix_of_all(&self, at: At, number: u16, ends: u64) -> Result<String> {
        let all: Result<Vec<_>> = each!(self.side(at)?, side => side.iter())?.collect();
        let mut all = all?;
        all.retain(|(key_here, _)| key_here.starts_with(&key(number)));
        take(&mut all.into_iter().map(Ok), ends, usize::MAX)
    }
}

fn end_after(now_ms: u64, ttl_ms: Option<u32>) -> Option<Expiry> {
    ttl_ms.map(|ttl_ms| Expiry::from_unix_ms(now_ms + u64::from(ttl_ms)))
}

fn write_one(keyspace: &Keyspace, write: &Write, now_ms: u64) -> Result<()> {
    match write {
        Write::Expire(number, ttl_ms) => {
            let end = end_after(now_ms, *ttl_ms);
            keyspace.set_expiry(key(*number), end).map(drop)
        }
        Write::Put(number, tag) => keyspace.put(key(*number), value(*tag)),
        Write::PutTtl(number, tag, ttl_ms) => {
            let ttl = Duration::from_millis((*ttl_ms).into());
            keyspace.put_with_ttl(key(*number), value(*tag), ttl)
        }
        Write::Delete(number) => keyspace.delete(key(*number)),
        Write::DeleteRange(start, end) => keyspace.delete_range(key(*start)..key(*end)),
        Write::Merge(number, tag) => keyspace.merge(key(*number), value(*tag)),
    }
}

fn add_one(batch: &mut WriteBatch, keyspace: &Keyspace, write: &Write, now_ms: u64) {
    match write {
        Write::Expire(number, ttl_ms) => {
            batch.set_expiry(keyspace, key(*number), end_after(now_ms, *ttl_ms))
        }
        Write::Put(number, tag) => batch.put(keyspace, key(*number), value(*tag)),
        Write::PutTtl(number, tag, ttl_ms) => {
            let ttl = Duration::from_millis((*ttl_ms).into());
            batch.put_with_ttl(keyspace, key(*number), value(*tag), ttl)
        }
        Write::Delete(number) => batch.delete(keyspace, key(*number)),
        Write::DeleteRange(start, end) => batch.delete_range(keyspace, key(*start), key(*end)),
        Write::Merge(number, tag) => batch.merge(keyspace, key(*number), value(*tag)),
    };
}

fn take<I, B>(iterator: &mut I, ends: u64, count: usize) -> Result<String>
where
    I: DoubleEndedIterator<Item = Result<(B, B)>>,
    B: AsRef<[u8]>,
{
    let mut answer = Vec::new();
    for step in 0..count {
        let is_back = ends >> (step % 64) & 1 == 1;
        let entry = if is_back {
            iterator.next_back()
        } else {
            iterator.next()
        };
        let Some(entry) = entry else {
            answer.push("end".into());
            break;
        };
        let (key, value) = entry?;
        answer.push(shown_entry(key.as_ref(), value.as_ref()));
    }
    Ok(answer.join(" "))
}

fn walk(cursor: &mut DbCursor, moves: &[Move]) -> Result<String> {
    let mut answer = Vec::new();
    for step in moves {
        drift(cursor, std::slice::from_ref(step))?;
        answer.push(look(cursor)?);
    }
    Ok(answer.join(" "))
}

fn drift(cursor: &mut DbCursor, moves: &[Move]) -> Result<()> {
    for step in moves {
        let is_valid = match step {
            Move::First => cursor.seek_to_first(),
            Move::Last => cursor.seek_to_last(),
            Move::Seek(number) => cursor.seek(key(*number)),
            Move::SeekForPrev(number) => cursor.seek_for_prev(key(*number)),
            Move::Next => cursor.next(),
            Move::Prev => cursor.prev(),
        }?;
        assert_eq!(is_valid, cursor.is_valid());
    }
    Ok(())
}

fn look(cursor: &DbCursor) -> Result<String> {
    let kept = cursor.value_bytes()?;
    Ok(match (cursor.key(), cursor.value()?) {
        (Some(key), Some(value)) => {
            assert_eq!(kept.as_deref(), Some(value));
            shown_entry(key, value)
        }
        _ => "nowhere".into(),
    })
}
