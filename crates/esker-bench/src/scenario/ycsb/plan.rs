//! A phase, checked: what to do, with how many threads, for how long, and how to tell of it.

use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::make::random::scramble;
use crate::report::file;

use crate::scenario::ycsb::arguments::{Arguments, is_known_binding};
use crate::scenario::ycsb::exporter::percentiles;
use crate::scenario::ycsb::properties::{Properties, wrong};
use crate::scenario::ycsb::workload::Workload;

/// A phase, checked. Nothing was touched yet.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether it loads; else it runs.
    pub is_load: bool,
    /// What is done.
    pub workload: Workload,
    /// Operations, all threads together; `None` sets no bound.
    pub operations: Option<u64>,
    /// Time after which none starts.
    pub duration: Option<Duration>,
    /// Threads.
    pub threads: usize,
    /// Operations a second, all threads together.
    pub target_rate: Option<f64>,
    /// The percentiles that are told.
    pub percentiles: Vec<f64>,
    /// Whether there is a status line.
    pub has_status: bool,
    /// Time between two of them.
    pub status_every: Duration,
    /// What a status line begins with.
    pub label: String,
    /// Start of all random numbers.
    pub seed: u64,
    /// What there is to say before the start.
    pub notes: Vec<String>,
}

/// More threads than this are a slip of the finger.
const THREADS_MAX: u64 = 10_000;

impl Plan {
    /// The plan that the command line describes.
    ///
    /// Errors: `Usage`, with what is wrong and what may be.
    pub fn new(arguments: &Arguments) -> Outcome<Plan> {
        let properties = &arguments.properties;
        let mut notes = Vec::new();
        check_binding(arguments, &mut notes)?;
        let is_load = !properties.flag("dotransactions", true);
        check_class(properties)?;
        let workload = Workload::from_properties(properties)?;
        let seconds = properties.count("maxexecutiontime", 0)?;
        let duration = (seconds > 0).then(|| Duration::from_secs(seconds));
        let operations = match is_load {
            true => workload.record_count,
            false => workload.operation_count,
        };
        if operations == 0 && duration.is_none() && !is_load {
            return Err(Failure::usage(
                "operationcount is missing or 0 and maxexecutiontime too: the run would never \
                 end; set one of them",
            ));
        }
        let threads = threads(properties, operations, &mut notes)?;
        let target = properties.number("target", 0.0)?;
        if let Some(path) = &arguments.json_path {
            file::check_writable(path)?;
        }
        let every = properties.count("status.interval", 10)?.max(1);
        Ok(Plan {
            is_load,
            operations: (operations > 0).then_some(operations),
            duration,
            threads,
            target_rate: (target > 0.0).then_some(target),
            percentiles: percentiles(properties)?,
            has_status: properties.flag("status", false),
            status_every: Duration::from_secs(every),
            label: properties.text("label", "").to_owned(),
            seed: properties.count("seed", 1)?,
            workload,
            notes,
        })
    }

    /// What a thread draws from: loads and runs of one seed draw different numbers, and so does
    /// each thread.
    pub fn seed_of(&self, thread: usize) -> u64 {
        let phase = scramble(self.seed.wrapping_mul(2) + u64::from(self.is_load));
        scramble(phase ^ thread as u64)
    }

    /// Operations that each thread does: the first ones do what cannot be divided.
    pub fn share(&self, thread: usize) -> u64 {
        let threads = self.threads as u64;
        self.operations.map_or(u64::MAX, |all| {
            all / threads + u64::from((thread as u64) < all % threads)
        })
    }
}

fn check_binding(arguments: &Arguments, notes: &mut Vec<String>) -> Outcome {
    let Some(name) = arguments.properties.get("db") else {
        return Ok(());
    };
    let is_remote = name.to_ascii_lowercase().contains("pegasus");
    if is_remote != arguments.target.is_some() && is_known_binding(name) {
        return Err(Failure::usage(format!(
            "db={name} is {}; --target=pegasus://HOST:PORT/TABLE measures a cluster, and without \
             --target it is our engine in this process",
            if is_remote {
                "a cluster"
            } else {
                "in this process"
            }
        )));
    }
    if !is_known_binding(name) {
        return Err(Failure::usage(format!(
            "db={name} cannot be measured here; leave it away to measure Esker in this process"
        )));
    }
    if name.to_ascii_lowercase().contains("rocksdb") {
        notes.push(
            "note: records are laid out as RocksDB's binding does it; the engine is Esker".into(),
        );
    }
    Ok(())
}

/// Fails for every workload but YCSB's own, by class with or without its package.
fn check_class(properties: &Properties) -> Outcome {
    let Some(class) = properties.get("workload") else {
        return Err(Failure::usage(
            "Missing property: workload; name a workload with -P <file> or --workload a",
        ));
    };
    match class.rsplit('.').next().unwrap_or(class) {
        "CoreWorkload" | "core" => Ok(()),
        "FileWorkload" => Err(Failure::usage(format!(
            "workload={class} is not done here; lines of a file are records of `esker bench \
             scenario reviews --data=FILE`"
        ))),
        _ => Err(Failure::usage(format!(
            "workload={class} is not known; there is CoreWorkload"
        ))),
    }
}

fn threads(properties: &Properties, operations: u64, notes: &mut Vec<String>) -> Outcome<usize> {
    let threads = properties.count("threadcount", 1)?;
    if !(1..=THREADS_MAX).contains(&threads) {
        return Err(wrong("threadcount", threads, format!("1 to {THREADS_MAX}")));
    }
    let is_more = operations > 0 && threads > operations;
    if is_more {
        notes.push(
            "Warning: the threadcount is bigger than recordcount, the threadcount will be \
             recordcount!"
                .into(),
        );
    }
    let threads = if is_more { operations } else { threads };
    Ok(usize::try_from(threads).expect("ten thousand at most"))
}
