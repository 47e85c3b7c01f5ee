//! One thread of the core workload: loads records, and does what the mix asks for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::fail::Outcome;
use crate::make::random::Random;
use crate::measure::pace::wait_until;
use crate::scenario::ycsb::acknowledged::Acknowledged;
use crate::scenario::ycsb::chooser::RecordChooser;
use crate::scenario::ycsb::meter::Metric;
use crate::scenario::ycsb::record::{fields, fill_determined, fill_random, push_field};
use crate::scenario::ycsb::reply::Reply;
use crate::scenario::ycsb::stopwatch::Stopwatch;
use crate::scenario::ycsb::table::{Scratch, Table, Wanted};
use crate::scenario::ycsb::workload::{FieldLength, Step, Workload};
use crate::scenario::ycsb::zipfian::Zipfian;

/// What all threads of a phase share.
pub struct Shared<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The table.
    pub table: Table<'a>,
    /// Records that are there, and the number of the next one.
    pub inserted: Acknowledged,
    /// The next record to load.
    pub next_load: AtomicU64,
    /// What sequential choices count on.
    pub turn: AtomicU64,
}

impl<'a> Shared<'a> {
    /// A phase of `workload` on `table`.
    pub fn new(workload: &'a Workload, table: Table<'a>) -> Shared<'a> {
        Shared {
            workload,
            table,
            inserted: Acknowledged::new(workload.record_count),
            next_load: AtomicU64::new(workload.insert_start),
            turn: AtomicU64::new(0),
        }
    }
}

/// One thread.
pub struct CoreClient<'a> {
    shared: &'a Shared<'a>,
    chooser: RecordChooser,
    random: Random,
    stopwatch: Stopwatch<'a>,
    field_zipf: Option<Zipfian>,
    scan_zipf: Option<Zipfian>,
    key: Vec<u8>,
    record: Vec<u8>,
    value: Vec<u8>,
    cells: Vec<u8>,
    scratch: Scratch,
    bytes: u64,
}

impl<'a> CoreClient<'a> {
    /// A thread with its own random numbers.
    pub fn new(
        shared: &'a Shared<'a>,
        chooser: RecordChooser,
        stopwatch: Stopwatch<'a>,
        seed: u64,
    ) -> CoreClient<'a> {
        let workload = shared.workload;
        let field_zipf = match workload.field_length {
            FieldLength::Zipfian(min, max) => Some(Zipfian::new(max - min + 1)),
            _ => None,
        };
        let scan = workload.scan_length;
        let scan_zipf = scan
            .is_zipfian
            .then(|| Zipfian::new(scan.max - scan.min + 1));
        CoreClient {
            shared,
            chooser,
            random: Random::new(seed),
            stopwatch,
            field_zipf,
            scan_zipf,
            key: Vec::new(),
            record: Vec::new(),
            value: Vec::new(),
            cells: Vec::new(),
            scratch: Scratch::default(),
            bytes: 0,
        }
    }

    /// Bytes of keys and values since the last call.
    pub fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Loads the next record. Says whether the load goes on: not after an insert that failed for
    /// good, unless the workload says so.
    pub fn load(&mut self, due: Option<Instant>) -> bool {
        self.stopwatch.begin_step(due);
        // Relaxed: the number is unique by itself, and orders nothing.
        let number = self.shared.next_load.fetch_add(1, Ordering::Relaxed);
        self.make_record(number);
        let retries = self.shared.workload.retries;
        for tries in 0..=retries.limit {
            if tries > 0 {
                let spread = 0.8 + 0.4 * self.random.unit();
                let pause = Duration::from_secs_f64(retries.interval_s * spread);
                wait_until(Instant::now() + pause);
            }
            if self.insert_record().is_ok() {
                return true;
            }
        }
        retries.keeps_going
    }

    /// Does the next operation of the mix.
    ///
    /// Errors: when readers could no longer be told which records are there.
    pub fn run(&mut self, due: Option<Instant>) -> Outcome {
        self.stopwatch.begin_step(due);
        match self.shared.workload.steps.draw(&mut self.random) {
            Step::Read => {
                self.choose_key();
                self.read();
                self.verify();
            }
            Step::Update => {
                self.choose_key();
                self.make_changes();
                self.update();
            }
            Step::ReadModifyWrite => {
                self.choose_key();
                self.make_changes();
                let start = Instant::now();
                self.read();
                self.update();
                self.stopwatch.combined(Metric::ReadModifyWrite, start);
                self.verify();
            }
            Step::Scan => {
                self.choose_key();
                self.scan();
            }
            Step::Insert => {
                let number = self.shared.inserted.next();
                self.make_record(number);
                // A failed insert is acknowledged too, as in YCSB: readers may then miss it, but
                // do not wait for it for ever.
                self.insert_record();
                self.shared.inserted.acknowledge(number)?;
            }
        }
        Ok(())
    }

    /// The number of a record that is there.
    pub fn choose_number(&mut self) -> u64 {
        let there = self.shared.inserted.count();
        self.chooser
            .choose(there, &self.shared.turn, &mut self.random)
    }

    fn choose_key(&mut self) {
        let number = self.choose_number();
        self.shared.workload.keys.write(number, &mut self.key);
    }

    fn read(&mut self) {
        let workload = self.shared.workload;
        let wanted = wanted(workload, &mut self.random);
        self.cells.clear();
        let (cells, is_checked, mut bytes) = (&mut self.cells, workload.is_checked, 0);
        let start = Instant::now();
        let reply = self
            .shared
            .table
            .read(&self.key, wanted, &mut |name, value| {
                bytes += value.len();
                if is_checked {
                    push_field(cells, name, value);
                }
            });
        self.stopwatch.operation(Metric::Read, start, reply);
        self.bytes += (self.key.len() + bytes) as u64;
    }

    fn update(&mut self) {
        let start = Instant::now();
        let reply = self
            .shared
            .table
            .update(&self.key, &self.record, &mut self.scratch);
        self.stopwatch.operation(Metric::Update, start, reply);
        self.bytes += (self.key.len() + self.record.len()) as u64;
    }

    fn insert_record(&mut self) -> Reply {
        let start = Instant::now();
        let reply = self.shared.table.insert(&self.key, &self.record);
        self.stopwatch.operation(Metric::Insert, start, reply);
        self.bytes += (self.key.len() + self.record.len()) as u64;
        reply
    }

    fn scan(&mut self) {
        let workload = self.shared.workload;
        let length = workload.scan_length;
        let count = match &mut self.scan_zipf {
            Some(zipf) => length.min + zipf.draw(&mut self.random),
            None => length.min + self.random.below(length.max - length.min + 1),
        };
        let wanted = wanted(workload, &mut self.random);
        let mut bytes = 0;
        let start = Instant::now();
        let (reply, seen) = self
            .shared
            .table
            .scan(&self.key, count, wanted, &mut |_, value| {
                bytes += value.len()
            });
        self.stopwatch.operation(Metric::Scan, start, reply);
        if let Ok(seen @ 1..) = u32::try_from(seen) {
            let took = start.elapsed() / seen;
            self.stopwatch.tally().duration(Metric::ScanPerRecord, took);
        }
        self.bytes += (self.key.len() + bytes) as u64;
    }

    /// Checks what was read against what belongs to the key.
    fn verify(&mut self) {
        if !self.shared.workload.is_checked {
            return;
        }
        let length = self.checked_length();
        let start = Instant::now();
        // That nothing at all was read is never right.
        let mut reply = Reply::Error;
        for field in fields(&self.cells) {
            let (name, value) = field.expect("the cells were written by this thread");
            fill_determined(&mut self.value, &self.key, name, length);
            if value != self.value {
                reply = Reply::UnexpectedState;
                break;
            }
            reply = Reply::Ok;
        }
        let took = start.elapsed();
        self.stopwatch.tally().check(Metric::Verify, took, reply);
    }

    fn checked_length(&self) -> usize {
        match self.shared.workload.field_length {
            FieldLength::Constant(length) => whole(length),
            _ => unreachable!("checked values have one length, as the workload made sure"),
        }
    }

    /// The key and all fields of a record.
    fn make_record(&mut self, number: u64) {
        let workload = self.shared.workload;
        workload.keys.write(number, &mut self.key);
        self.record.clear();
        for name in &workload.field_names {
            self.push_made_field(name);
        }
    }

    /// Fields to replace: all of them, or one.
    fn make_changes(&mut self) {
        let workload = self.shared.workload;
        self.record.clear();
        if workload.writes_all {
            for name in &workload.field_names {
                self.push_made_field(name);
            }
        } else {
            let name = any_field(workload, &mut self.random);
            self.push_made_field(name);
        }
    }

    fn push_made_field(&mut self, name: &str) {
        let workload = self.shared.workload;
        let length = whole(match &workload.field_length {
            FieldLength::Constant(length) => *length,
            FieldLength::Uniform(min, max) => min + self.random.below(max - min + 1),
            FieldLength::Zipfian(min, _) => {
                let zipf = self.field_zipf.as_mut();
                let zipf = zipf.expect("was made with the client");
                min + zipf.draw(&mut self.random)
            }
            FieldLength::Histogram(histogram) => histogram.draw(&mut self.random),
        });
        if workload.is_checked {
            fill_determined(&mut self.value, &self.key, name.as_bytes(), length);
        } else {
            fill_random(&mut self.value, length, &mut self.random);
        }
        push_field(&mut self.record, name.as_bytes(), &self.value);
    }
}

/// The fields that a read is to want.
fn wanted<'w>(workload: &'w Workload, random: &mut Random) -> Wanted<'w> {
    match workload.reads_all {
        true => Wanted::All,
        false => Wanted::One(any_field(workload, random)),
    }
}

fn any_field<'w>(workload: &'w Workload, random: &mut Random) -> &'w str {
    let names = &workload.field_names;
    let place = random.below(names.len() as u64);
    &names[whole(place)]
}

fn whole(length: u64) -> usize {
    usize::try_from(length).expect("the workload allows no more than memory can address")
}
