//! One thread of the core workload: loads records, and does what the mix asks for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::make::random::Random;
use crate::scenario::ycsb::acknowledged::Acknowledged;
use crate::scenario::ycsb::chooser::RecordChooser;
use crate::scenario::ycsb::meter::Metric;
use crate::scenario::ycsb::names::write_key;
use crate::scenario::ycsb::record::{fields, fill_determined, fill_random, push_field};
use crate::scenario::ycsb::reply::Reply;
use crate::scenario::ycsb::stopwatch::Stopwatch;
use crate::scenario::ycsb::table::{Scratch, Table};
use crate::scenario::ycsb::workload::{Step, Workload};

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
}

impl<'a> Shared<'a> {
    /// A phase of `workload` on `table`.
    pub fn new(workload: &'a Workload, table: Table<'a>) -> Shared<'a> {
        Shared {
            workload,
            table,
            inserted: Acknowledged::new(workload.record_count),
            next_load: AtomicU64::new(0),
        }
    }
}

/// One thread.
pub struct CoreClient<'a> {
    shared: &'a Shared<'a>,
    chooser: RecordChooser,
    random: Random,
    stopwatch: Stopwatch<'a>,
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
        CoreClient {
            shared,
            chooser,
            random: Random::new(seed),
            stopwatch,
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

    /// Loads the next record. Says whether the load goes on: not after an insert that failed.
    pub fn load(&mut self, due: Option<Instant>) -> bool {
        self.stopwatch.due = due;
        // Relaxed: the number is unique by itself, and orders nothing.
        let number = self.shared.next_load.fetch_add(1, Ordering::Relaxed);
        self.make_record(number);
        self.insert_record() == Reply::Ok
    }

    /// Does the next operation of the mix.
    pub fn run(&mut self, due: Option<Instant>) {
        self.stopwatch.due = due;
        match self.shared.workload.step(self.random.unit()) {
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
                self.shared.inserted.acknowledge(number);
            }
        }
    }

    /// The key of a record that is there.
    fn choose_key(&mut self) {
        let there = self.shared.inserted.count();
        let number = self.chooser.choose(there, &mut self.random);
        write_key(number, &mut self.key);
    }

    fn read(&mut self) {
        let workload = self.shared.workload;
        self.cells.clear();
        let (cells, is_checked, mut bytes) = (&mut self.cells, workload.is_checked, 0);
        let start = Instant::now();
        let reply = self.shared.table.read(&self.key, &mut |name, value| {
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
        let (min, max) = workload.scan_length;
        let count = min + self.random.below(max - min + 1);
        let mut bytes = 0;
        let start = Instant::now();
        let reply = self
            .shared
            .table
            .scan(&self.key, count, &mut |_, value| bytes += value.len());
        self.stopwatch.operation(Metric::Scan, start, reply);
        self.bytes += (self.key.len() + bytes) as u64;
    }

    /// Checks what was read against what belongs to the key.
    fn verify(&mut self) {
        if !self.shared.workload.is_checked {
            return;
        }
        let length = self.shared.workload.field_bytes;
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

    /// The key and all fields of a record.
    fn make_record(&mut self, number: u64) {
        write_key(number, &mut self.key);
        self.make_fields();
    }

    fn make_fields(&mut self) {
        self.record.clear();
        for name in &self.shared.workload.field_names {
            self.push_made_field(name);
        }
    }

    /// Fields to replace: all of them, or one.
    fn make_changes(&mut self) {
        let workload = self.shared.workload;
        if workload.writes_all {
            return self.make_fields();
        }
        self.record.clear();
        let place = self.random.below(workload.field_names.len() as u64);
        let place = usize::try_from(place).expect("below the number of fields");
        self.push_made_field(&workload.field_names[place]);
    }

    fn push_made_field(&mut self, name: &str) {
        let workload = self.shared.workload;
        let length = workload.field_bytes;
        if workload.is_checked {
            fill_determined(&mut self.value, &self.key, name.as_bytes(), length);
        } else {
            fill_random(&mut self.value, length, &mut self.random);
        }
        push_field(&mut self.record, name.as_bytes(), &self.value);
    }
}
