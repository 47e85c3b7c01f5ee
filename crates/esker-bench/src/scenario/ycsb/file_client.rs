//! One thread of the file workload: loads lines, reads by keys, writes what it found or read.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::fail::{Failure, Outcome};
use crate::make::random::Random;
use crate::scenario::ycsb::chooser::RecordChooser;
use crate::scenario::ycsb::core_client::Shared;
use crate::scenario::ycsb::file_workload::{FileWorkload, Writes};
use crate::scenario::ycsb::line_source::LineSource;
use crate::scenario::ycsb::meter::Metric;
use crate::scenario::ycsb::reply::Reply;
use crate::scenario::ycsb::stopwatch::Stopwatch;
use crate::scenario::ycsb::table::{Scratch, Table};

/// The files of a phase, opened before anything is touched.
#[derive(Debug)]
pub struct Sources {
    /// The records, if the phase wants them.
    lines: Option<LineSource>,
    /// The keys to read, if they come from a file.
    keys: Option<LineSource>,
}

impl Sources {
    /// Opens them.
    pub fn open(workload: &FileWorkload) -> Outcome<Sources> {
        let open = |what: &str, path: &Option<PathBuf>| {
            let path = path.as_deref();
            path.map(|path| LineSource::open(what, path)).transpose()
        };
        Ok(Sources {
            lines: open("datafile", &workload.data_path)?,
            keys: open("keyfile", &workload.key_path)?,
        })
    }
}

/// What all threads of a phase share, beside what the core workload shares.
pub struct FileShared<'a> {
    /// The workload.
    pub workload: &'a FileWorkload,
    /// The table that a run writes to.
    pub write_table: Table<'a>,
    /// Its files.
    pub sources: Sources,
    /// Lines left out because they have too few fields.
    pub short_lines: AtomicU64,
    /// How often the file of keys began anew.
    pub key_rewinds: AtomicU64,
    /// The next record that a run writes.
    pub next_write: AtomicU64,
}

impl<'a> FileShared<'a> {
    /// A phase of `workload`.
    pub fn new(
        workload: &'a FileWorkload,
        write_table: Table<'a>,
        sources: Sources,
    ) -> FileShared<'a> {
        FileShared {
            workload,
            write_table,
            sources,
            short_lines: AtomicU64::new(0),
            key_rewinds: AtomicU64::new(0),
            next_write: AtomicU64::new(0),
        }
    }
}

/// One thread.
pub struct FileClient<'a> {
    core: &'a Shared<'a>,
    file: &'a FileShared<'a>,
    /// Chooses among YCSB's own keys; `None` where a file tells the keys.
    chooser: Option<RecordChooser>,
    random: Random,
    stopwatch: Stopwatch<'a>,
    line: Vec<u8>,
    key: Vec<u8>,
    record: Vec<u8>,
    keys: Vec<Vec<u8>>,
    found: Vec<Option<Vec<u8>>>,
    scratch: Scratch,
    bytes: u64,
}

impl<'a> FileClient<'a> {
    /// A thread with its own random numbers.
    pub fn new(
        core: &'a Shared<'a>,
        file: &'a FileShared<'a>,
        chooser: Option<RecordChooser>,
        stopwatch: Stopwatch<'a>,
        seed: u64,
    ) -> FileClient<'a> {
        let batch = file.workload.batch;
        FileClient {
            core,
            file,
            chooser,
            random: Random::new(seed),
            stopwatch,
            line: Vec::new(),
            key: Vec::new(),
            record: Vec::new(),
            keys: vec![Vec::new(); batch],
            found: vec![None; batch],
            scratch: Scratch::default(),
            bytes: 0,
        }
    }

    /// Bytes of keys and values since the last call.
    pub fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Loads the next line that is a record. Says whether there was one, and it could be written.
    pub fn load(&mut self, due: Option<Instant>) -> Outcome<bool> {
        self.stopwatch.begin_step(due);
        let lines = self.file.sources.lines.as_ref();
        let lines = lines.expect("a load is checked to have a file");
        loop {
            if !lines.next_line(&mut self.line)? {
                return Ok(false);
            }
            let shape = &self.file.workload.lines;
            let parsed = shape.parse(&self.line, &mut self.key, &mut self.record);
            if parsed.is_some() {
                break;
            }
            self.skip_line();
        }
        if self.file.workload.lines.key_places.is_empty() {
            // Relaxed: the number is unique by itself, and orders nothing.
            let number = self.core.next_load.fetch_add(1, Ordering::Relaxed);
            self.core.workload.keys.write(number, &mut self.key);
        }
        let reply = self.insert(&self.core.table);
        Ok(reply.is_ok() || self.core.workload.retries.keeps_going)
    }

    /// Reads, or writes a line, as the workload says.
    pub fn run(&mut self, due: Option<Instant>) -> Outcome {
        self.stopwatch.begin_step(due);
        match &self.file.workload.writes {
            Writes::ByWeight(choice) if choice.draw(&mut self.random) => self.write_line(),
            Writes::ByWeight(_) => self.read(0.0),
            Writes::AfterReads(rate) => self.read(*rate),
        }
    }

    /// Reads a batch; what is found is written to the other table so often.
    fn read(&mut self, write_rate: f64) -> Outcome {
        for place in 0..self.keys.len() {
            self.next_key(place)?;
        }
        if let [key] = &self.keys[..] {
            let found = self.found[0].get_or_insert_default();
            let start = Instant::now();
            let reply = self.core.table.read_whole(key, &mut self.scratch, found);
            self.stopwatch.operation(Metric::Read, start, reply);
            if !reply.is_ok() {
                self.found[0] = None;
            }
        } else {
            self.read_batch();
        }
        for place in 0..self.keys.len() {
            self.bytes += self.keys[place].len() as u64;
            let Some(record) = self.found[place].take() else {
                continue;
            };
            self.bytes += record.len() as u64;
            if self.random.unit() < write_rate {
                self.key.clone_from(&self.keys[place]);
                self.record.clone_from(&record);
                self.insert(&self.file.write_table);
            }
            // The buffer is used again.
            self.found[place] = Some(record);
        }
        Ok(())
    }

    fn read_batch(&mut self) {
        let found = &mut self.found;
        found.iter_mut().for_each(|record| *record = None);
        let start = Instant::now();
        let read = self.core.table.read_many(&self.keys, &mut |place, record| {
            found[place] = Some(record.to_vec());
        });
        let replies: Vec<Reply> = found
            .iter()
            .map(|record| match (&read, record) {
                (Err(_), _) => Reply::Error,
                (Ok(_), None) => Reply::NotFound,
                (Ok(_), Some(_)) => Reply::Ok,
            })
            .collect();
        self.stopwatch.shared(Metric::Read, start, &replies);
    }

    fn next_key(&mut self, place: usize) -> Outcome {
        let key = &mut self.keys[place];
        match (&self.file.sources.keys, &mut self.chooser) {
            (Some(keys), _) => {
                if keys.next_line_around(key)? {
                    // Relaxed: it is only told at the end.
                    self.file.key_rewinds.fetch_add(1, Ordering::Relaxed);
                }
            }
            (None, Some(chooser)) => {
                let there = self.core.inserted.count();
                let number = chooser.choose(there, &self.core.turn, &mut self.random);
                self.core.workload.keys.write(number, key);
            }
            (None, None) => unreachable!("keys come from a file or from a chooser"),
        }
        Ok(())
    }

    fn write_line(&mut self) -> Outcome {
        let lines = self.file.sources.lines.as_ref();
        let lines = lines.expect("a run that writes lines is checked to have a file");
        let mut rewinds = 0;
        loop {
            rewinds += u32::from(lines.next_line_around(&mut self.line)?);
            if rewinds > 1 {
                return Err(Failure::usage(
                    "no line of the datafile has as many fields as fieldnum says",
                ));
            }
            let shape = &self.file.workload.lines;
            let parsed = shape.parse(&self.line, &mut self.key, &mut self.record);
            if parsed.is_some() {
                break;
            }
            self.skip_line();
        }
        if self.file.workload.lines.key_places.is_empty() {
            // Relaxed: the number is unique by itself, and orders nothing.
            let number = self.file.next_write.fetch_add(1, Ordering::Relaxed);
            self.core.workload.keys.write(number, &mut self.key);
        }
        self.insert(&self.file.write_table);
        Ok(())
    }

    fn skip_line(&self) {
        // Relaxed: it is only told at the end.
        self.file.short_lines.fetch_add(1, Ordering::Relaxed);
    }

    fn insert(&mut self, table: &Table<'_>) -> Reply {
        let start = Instant::now();
        let reply = table.insert(&self.key, &self.record, &mut self.scratch);
        self.stopwatch.operation(Metric::Insert, start, reply);
        self.bytes += (self.key.len() + self.record.len()) as u64;
        reply
    }
}
