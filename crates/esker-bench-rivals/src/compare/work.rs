//! What each workload does to a store, and what it saw there.

use std::time::{Duration, Instant};

use esker_bench::console::Remarks;
use esker_bench::fail::Outcome;
use esker_bench::make::random::{Random, scramble};
use esker_bench::make::slices::{Slices, neutral};
use esker_bench::measure::pace::{Pace, wait_until};
use esker_bench::report::record::{EngineWork, Measurement};
use esker_bench::run::course::{Course, Finished};
use esker_bench::run::execute::execute;
use esker_bench::run::lane::Lane;
use esker_bench::run::live::Live;
use esker_bench::target::store::{Store, WriteHow};

use crate::compare::request::Request;
use crate::compare::workloads::{Work, Workload};

/// Bytes of a key: sixteen decimal digits, as LevelDB's db_bench writes them.
pub const KEY_BYTES: usize = 16;

/// Bytes of a value, which pack to half.
const VALUE_BYTES: usize = 100;

/// Bytes of a large value.
const LARGE_BYTES: usize = 100_000;

/// The seed of all values.
const VALUE_SEED: u64 = 301;

/// Entries of a scan between two signs of life: the sign costs nothing then.
const SCAN_TELL: u64 = 1024;

/// Operands of one key, as many as the goal names.
const OPERANDS: u64 = 10_000;

/// The key that has them.
const MERGED_KEY: u64 = 1;

/// The key of a counter that was put.
const PLAIN_KEY: u64 = 2;

/// Reads of them: an engine that folds them anew each time takes most of a millisecond for one.
const REREADS_MAX: u64 = 10_000;

/// Threads that sync at the same time.
const SYNCERS: usize = 4;

/// Threads that want the same few keys.
const CONTENDERS: usize = 16;

/// Index of the tally of keys found, or of entries met.
const FOUND: usize = 0;

/// Index of the tally of the bytes of their keys and values.
const BYTES: usize = 1;

/// The log is left out.
const UNLOGGED: WriteHow = WriteHow {
    sync: false,
    no_log: true,
};

/// What a measurement that was cut short has among its workload: the operations asked.
pub const CUT_SHORT: &str = "cut_short_of";

/// What a workload saw: the same on every engine.
pub type Answer = (u64, u64);

/// The key of a number below 10^16.
pub fn key(mut number: u64) -> [u8; KEY_BYTES] {
    let mut digits = [b'0'; KEY_BYTES];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// One workload on one store.
pub struct Task<'a, 'b> {
    /// The workload.
    pub workload: &'a Workload,
    /// How much.
    pub request: &'a Request,
    /// On what.
    pub store: &'a dyn Store,
    /// What the live line begins with.
    pub label: &'a str,
    /// Where it is drawn.
    pub remarks: &'a Remarks<'b>,
}

impl Task<'_, '_> {
    /// Runs it: what was measured, and what it saw; no answer if it was cut short.
    pub fn run(&self) -> Outcome<(Measurement, Option<Answer>)> {
        let before = self.store.counters();
        let stall = || self.store.counters().stall.unwrap_or_default();
        let course = self.course(&stall);
        let mut live = Live::new(self.remarks, self.label);
        let finished = execute(&course, &mut |tick| live.tick(tick), &|lane| {
            self.body(lane)
        });
        live.end();
        let finished = finished?;
        let kind = match self.workload.work.is_change() {
            true => "write",
            false => "read",
        };
        let mut measurement = Measurement::of(&finished, &[kind]);
        measurement.engine_work = EngineWork::between(&before, &self.store.counters());
        measurement.workload = self.workload();
        if let Some(asked) = self.missed(&finished) {
            measurement
                .workload
                .push((CUT_SHORT.into(), asked.to_string()));
            return Ok((measurement, None));
        }
        let answer = (finished.tally(FOUND), finished.tally(BYTES));
        Ok((measurement, Some(answer)))
    }

    /// The operations that were asked for, if patience ended before they did.
    fn missed(&self, finished: &Finished) -> Option<u64> {
        self.patience()?;
        let (threads, ops) = self.size();
        let asked = ops * threads as u64;
        (finished.ops() < asked).then_some(asked)
    }

    /// How long this workload may take. A scan goes by what it meets, and a merge of everything
    /// ends when it ends.
    fn patience(&self) -> Option<Duration> {
        let is_open =
            matches!(self.workload.work, Work::Scan { .. }) || self.workload.work.is_one_piece();
        self.request.patience.filter(|_| !is_open)
    }

    /// Threads, and operations of each.
    fn size(&self) -> (usize, u64) {
        let request = self.request;
        match self.workload.work {
            Work::FillSynced if self.workload.name.ends_with("-4") => (SYNCERS, request.sync_ops),
            Work::FillSynced => (1, request.sync_ops),
            Work::FillLarge => (1, request.large_ops),
            Work::Settle | Work::Compact => (1, 1),
            Work::DeleteOrdered | Work::DeleteRandom => (1, request.num - request.num / 10),
            Work::MergeOne => (1, OPERANDS),
            Work::Reread { .. } => (1, request.reads.min(REREADS_MAX)),
            Work::Transact { keys: Some(_) } => {
                (CONTENDERS, request.num.div_ceil(CONTENDERS as u64))
            }
            _ if self.workload.is_cold => (1, request.cold_reads),
            Work::Read | Work::ReadMissing | Work::Seek { .. } | Work::ReadBeside { .. } => {
                (1, request.reads)
            }
            _ => (1, request.num),
        }
    }

    fn course<'s>(&self, stall: &'s (dyn Fn() -> Duration + Sync)) -> Course<'s> {
        let (threads, ops) = self.size();
        let is_scan = matches!(self.workload.work, Work::Scan { .. });
        Course {
            threads,
            background: usize::from(matches!(self.workload.work, Work::ReadBeside { .. })),
            ops_per_lane: Some(ops),
            duration: self.patience(),
            is_timed: !is_scan && !self.workload.work.is_one_piece(),
            stall,
            ..Course::plain()
        }
    }

    fn workload(&self) -> Vec<(String, String)> {
        let value_bytes = match self.workload.work {
            Work::FillLarge => LARGE_BYTES,
            Work::Merge | Work::Update | Work::MergeOne | Work::Reread { .. } => size_of::<u64>(),
            _ => VALUE_BYTES,
        };
        [
            ("keys", self.request.num.to_string()),
            ("key_bytes", KEY_BYTES.to_string()),
            ("value_bytes", value_bytes.to_string()),
            ("compression_ratio", "0.5".to_owned()),
            ("seed", self.workload.seed.to_string()),
        ]
        .map(|(name, text)| (name.to_owned(), text))
        .to_vec()
    }

    fn body(&self, lane: &mut Lane<'_>) -> Outcome {
        match self.workload.work {
            Work::FillOrdered => self.fill(lane, |number, _| number),
            Work::FillRandom => self.fill(lane, |_, random| random),
            Work::FillSynced => self.fill(lane, |_, random| random),
            Work::FillLarge => self.fill(lane, |_, random| random),
            Work::Read => self.read(lane, KEY_BYTES),
            // One byte less than a key lies between two keys: only filters can help.
            Work::ReadMissing => self.read(lane, KEY_BYTES - 1),
            Work::Scan { is_forward } => self.scan(lane, is_forward),
            Work::Seek { steps } => self.seek(lane, steps),
            Work::Settle => self.store.drain().map(|()| lane.finish(0, 1)),
            Work::Compact => self.store.compact().map(|()| lane.finish(0, 1)),
            Work::ReadBeside { puts_per_s } if lane.is_background() => match puts_per_s {
                Some(puts_per_s) => self.fill_paced(lane, puts_per_s),
                None => self.fill(lane, |_, random| random),
            },
            Work::ReadBeside { .. } => self.read(lane, KEY_BYTES),
            Work::DeleteOrdered => self.delete(lane, |number, _| number),
            Work::DeleteRandom => self.delete(lane, |_, random| random),
            Work::Merge => self.merge(lane),
            Work::Update => self.update(lane),
            Work::MergeOne => self.merge_one(lane),
            Work::Reread { is_merged } => self.reread(lane, is_merged),
            Work::GetPut => self.get_put(lane),
            Work::Transact { keys } => self.transact(lane, keys.unwrap_or(self.request.num)),
        }
    }

    /// The random numbers of this thread.
    fn random(&self, lane: &Lane<'_>) -> Random {
        Random::new(scramble(self.workload.seed) ^ lane.index() as u64)
    }

    fn fill(&self, lane: &mut Lane<'_>, choose: impl Fn(u64, u64) -> u64) -> Outcome {
        let bytes = match self.workload.work {
            Work::FillLarge => LARGE_BYTES,
            _ => VALUE_BYTES,
        };
        let how = WriteHow {
            sync: self.workload.work == Work::FillSynced,
            no_log: false,
        };
        let mut values = Slices::new(neutral(VALUE_SEED, 0.5, bytes));
        let (mut random, mut number) = (self.random(lane), 0);
        while lane.go() {
            let key = key(choose(number, random.below(self.request.num)));
            self.store.put(&key, values.next_slice(bytes), how)?;
            number += 1;
            lane.add_bytes((KEY_BYTES + bytes) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    // In bursts: the end of each wait is spun, and for every put by itself that would take all of
    // a processor.
    fn fill_paced(&self, lane: &mut Lane<'_>, puts_per_s: u64) -> Outcome {
        const BURSTS_PER_S: u64 = 200;
        let burst_puts = puts_per_s.div_ceil(BURSTS_PER_S);
        let mut values = Slices::new(neutral(VALUE_SEED, 0.5, VALUE_BYTES));
        let mut random = self.random(lane);
        let mut pace = Pace::new(Instant::now(), BURSTS_PER_S as f64, 0, 1);
        while lane.go() {
            wait_until(pace.next_due());
            for _ in 0..burst_puts {
                let key = key(random.below(self.request.num));
                let value = values.next_slice(VALUE_BYTES);
                self.store.put(&key, value, WriteHow::default())?;
            }
            lane.add_bytes(burst_puts * (KEY_BYTES + VALUE_BYTES) as u64);
            lane.finish(0, burst_puts);
        }
        Ok(())
    }

    fn read(&self, lane: &mut Lane<'_>, key_bytes: usize) -> Outcome {
        let mut random = self.random(lane);
        let (mut found, mut bytes) = (0, 0);
        while lane.go() {
            let key = key(random.below(self.request.num));
            let is_found = self.store.get(&key[..key_bytes], &mut |value| {
                bytes += std::hint::black_box(value).len() as u64;
            })?;
            found += u64::from(is_found);
            lane.finish(0, 1);
        }
        lane.add_bytes(bytes);
        lane.count(FOUND, found);
        lane.count(BYTES, bytes);
        Ok(())
    }

    fn scan(&self, lane: &mut Lane<'_>, is_forward: bool) -> Outcome {
        let mut cursor = self.store.cursor()?;
        let (mut met, mut bytes) = (0, 0);
        let mut is_on = match is_forward {
            true => cursor.seek_to_first()?,
            false => cursor.seek_to_last()?,
        };
        while is_on {
            met += 1;
            bytes += (cursor.key().len() + std::hint::black_box(cursor.value()).len()) as u64;
            if met % SCAN_TELL == 0 {
                lane.finish(0, SCAN_TELL);
            }
            is_on = match is_forward {
                true => cursor.next()?,
                false => cursor.prev()?,
            };
        }
        lane.finish(0, met % SCAN_TELL);
        lane.add_bytes(bytes);
        lane.count(FOUND, met);
        lane.count(BYTES, bytes);
        Ok(())
    }

    fn seek(&self, lane: &mut Lane<'_>, steps: u64) -> Outcome {
        let mut random = self.random(lane);
        let (mut met, mut bytes) = (0, 0);
        while lane.go() {
            let mut cursor = self.store.cursor()?;
            let mut is_on = cursor.seek(&key(random.below(self.request.num)))?;
            for _ in 0..steps {
                if !is_on {
                    break;
                }
                is_on = cursor.next()?;
            }
            met += u64::from(is_on);
            bytes += (cursor.key().len() + std::hint::black_box(cursor.value()).len()) as u64;
            drop(cursor);
            lane.finish(0, 1);
        }
        lane.add_bytes(bytes);
        lane.count(FOUND, met);
        lane.count(BYTES, bytes);
        Ok(())
    }

    fn delete(&self, lane: &mut Lane<'_>, choose: impl Fn(u64, u64) -> u64) -> Outcome {
        let (mut random, mut number) = (self.random(lane), 0);
        while lane.go() {
            let key = key(choose(number, random.below(self.request.num)));
            self.store.delete(&key, WriteHow::default())?;
            number += 1;
            lane.add_bytes(KEY_BYTES as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    fn merge(&self, lane: &mut Lane<'_>) -> Outcome {
        let mut random = self.random(lane);
        let one = 1_u64.to_le_bytes();
        while lane.go() {
            let key = key(random.below(self.request.num));
            self.store.merge(&key, &one, UNLOGGED)?;
            lane.add_bytes((KEY_BYTES + one.len()) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    // A counter of the same value is put beside it, to be read for comparison.
    fn merge_one(&self, lane: &mut Lane<'_>) -> Outcome {
        let put = WriteHow::default();
        let one = 1_u64.to_le_bytes();
        self.store
            .put(&key(PLAIN_KEY), &OPERANDS.to_le_bytes(), put)?;
        while lane.go() {
            self.store.merge(&key(MERGED_KEY), &one, put)?;
            lane.add_bytes((KEY_BYTES + one.len()) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    fn reread(&self, lane: &mut Lane<'_>, is_merged: bool) -> Outcome {
        let key = key(if is_merged { MERGED_KEY } else { PLAIN_KEY });
        let mut sum = 0;
        let mut take = |value: &[u8]| {
            let count = value.try_into().map_or(0, u64::from_le_bytes);
            sum += std::hint::black_box(count);
        };
        self.store.get(&key, &mut take)?;
        let mut found = 0;
        while lane.go() {
            found += u64::from(self.store.get(&key, &mut take)?);
            lane.finish(0, 1);
        }
        lane.count(FOUND, found);
        lane.count(BYTES, sum);
        Ok(())
    }

    fn get_put(&self, lane: &mut Lane<'_>) -> Outcome {
        let (mut random, mut value) = (self.random(lane), Vec::new());
        while lane.go() {
            let key = key(random.below(self.request.num));
            value.clear();
            self.store
                .get(&key, &mut |found| value.extend_from_slice(found))?;
            count_in(&mut value);
            self.store.put(&key, &value, WriteHow::default())?;
            lane.add_bytes((KEY_BYTES + value.len()) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    // What one loses that overtakes another is missing from the counts, and so from the inventory
    // of the store, in which all engines must agree.
    fn transact(&self, lane: &mut Lane<'_>, keys: u64) -> Outcome {
        let (mut random, mut value) = (self.random(lane), Vec::new());
        while lane.go() {
            let key = key(random.below(keys));
            self.store.transact(&key, &mut value, count_in)?;
            lane.add_bytes((KEY_BYTES + value.len()) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }

    fn update(&self, lane: &mut Lane<'_>) -> Outcome {
        let mut random = self.random(lane);
        while lane.go() {
            let key = key(random.below(self.request.num));
            let mut count = 0;
            self.store.get(&key, &mut |value| {
                count = value.try_into().map_or(0, u64::from_le_bytes);
            })?;
            let count = (count + 1).to_le_bytes();
            self.store.put(&key, &count, UNLOGGED)?;
            lane.add_bytes((KEY_BYTES + count.len()) as u64);
            lane.finish(0, 1);
        }
        Ok(())
    }
}

/// Counts in the first bytes of a value; the others are what they were.
fn count_in(value: &mut Vec<u8>) {
    value.resize(value.len().max(VALUE_BYTES), 0);
    let (head, _) = value.split_at_mut(size_of::<u64>());
    let count = (&*head).try_into().map_or(0, u64::from_le_bytes);
    head.copy_from_slice(&count.wrapping_add(1).to_le_bytes());
}

/// Puts every key in order, in batches: preparation that nobody times.
pub fn prepare(store: &dyn Store, num: u64) -> Outcome {
    // Large enough that engines which pay for each transaction are quick about it.
    const BATCH: u64 = 1000;
    let mut values = Slices::new(neutral(VALUE_SEED, 0.5, VALUE_BYTES));
    let mut batch = store.batch()?;
    for number in 0..num {
        batch.put(&key(number), values.next_slice(VALUE_BYTES))?;
        if number % BATCH == BATCH - 1 {
            batch.commit(WriteHow::default())?;
        }
    }
    batch.commit(WriteHow::default())
}

/// What a store holds in the end: its entries, and a checksum over all keys and values in order.
pub fn inventory(store: &dyn Store, has_values: bool) -> Outcome<Answer> {
    let mut cursor = store.cursor()?;
    let (mut met, mut sum) = (0, 0);
    let mut is_on = cursor.seek_to_first()?;
    while is_on {
        met += 1;
        sum = mix(sum, cursor.key());
        if has_values {
            sum = mix(sum, cursor.value());
        }
        is_on = cursor.next()?;
    }
    Ok((met, sum))
}

/// Folds `bytes` and their length into `sum`.
fn mix(sum: u64, bytes: &[u8]) -> u64 {
    let mut sum = scramble(sum ^ bytes.len() as u64);
    for piece in bytes.chunks(size_of::<u64>()) {
        let mut word = [0; size_of::<u64>()];
        word[..piece.len()].copy_from_slice(piece);
        sum = scramble(sum ^ u64::from_le_bytes(word));
    }
    sum
}
