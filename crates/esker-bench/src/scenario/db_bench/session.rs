//! One command line from its first benchmark to its last.

use crate::console::Console;
use crate::disk::forget::forget_store;
use crate::fail::{Failure, Outcome};
use crate::flags::flag::Dialect;
use crate::report::record::{EngineWork, Measurement, Record};
use crate::report::{file, json};
use crate::run::course::Finished;
use crate::scenario::db_bench::buckets::Buckets;
use crate::scenario::db_bench::header;
use crate::scenario::db_bench::list::find;
use crate::scenario::db_bench::measure_one::{self, thread_count};
use crate::scenario::db_bench::opening::{check_names, names, notes, open, prepare};
use crate::scenario::db_bench::operation::{Count, Does, Operation};
use crate::scenario::db_bench::result_line::ResultLine;
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::{Bench, KINDS, Numbers, told};
use crate::target::counters::Counters;
use crate::target::settings::Matched;
use crate::target::store::{Engine, Store};

/// A run of db_bench.
pub struct Session<'a, 'b> {
    engine: &'a dyn Engine,
    setup: &'a Setup,
    console: &'a mut Console<'b>,
    /// Nothing only while it is being replaced.
    store: Option<Box<dyn Store>>,
    matched: Vec<Matched>,
    threads_before: u64,
    record: Record,
}

/// Runs everything that the flags ask for, and gives what was measured. `why` says why this
/// dialect.
pub fn run(
    engine: &dyn Engine,
    setup: &Setup,
    words: &[String],
    why: &str,
    console: &mut Console<'_>,
) -> Outcome<Record> {
    let names = names(setup);
    // Refused before anything is touched; the dialects find it out on their way.
    if !setup.given.is_given("compat") {
        check_names(setup, &names)?;
    }
    let json = setup.given.text("json").to_owned();
    if !json.is_empty() {
        file::check_writable(json.as_ref())?;
    }
    prepare(engine, setup)?;
    let (store, matched) = open(engine, setup)?;
    notes(setup, console)?;
    if setup.dialect() == Dialect::RocksDb {
        if setup.given.count("seed") == 0 {
            let line = format!("Set seed to {} because --seed was 0\n", setup.seed_base);
            console.out.write_all(line.as_bytes())?;
        }
        console
            .out
            .write_all(b"Initializing RocksDB Options from command-line flags\n")?;
    }
    header::print(setup, engine, why, &matched, console)?;
    let mut session = Session {
        engine,
        setup,
        record: Record::begin(
            format!("db_bench {}", setup.dialect().name()),
            &setup.dir,
            words,
        ),
        console,
        store: Some(store),
        matched,
        threads_before: 0,
    };
    for name in &names {
        session.entry(name)?;
    }
    session.end(&json)
}

impl Session<'_, '_> {
    /// One entry of the list.
    fn entry(&mut self, name: &str) -> Outcome {
        let dialect = self.setup.dialect();
        let is_strict = self.setup.given.is_given("compat");
        let found = find(name).filter(|one| !is_strict || one.is_known_to(dialect));
        let Some(operation) = found else {
            let told = format!("unknown benchmark '{name}'");
            return match dialect {
                Dialect::LevelDb => Ok(self.console.err.line(&told)?),
                _ => Err(Failure::own(1, told)),
            };
        };
        if operation.needs_merge && !self.setup.settings.has_merges {
            let name = operation.name;
            self.print(&format!(
                "{name:<12} : skipped (--merge_operator is unknown)\n"
            ))?;
            return Err(Failure::own(1, ""));
        }
        if operation.is_fresh {
            if self.setup.given.is("use_existing_db") {
                let name = operation.name;
                return self.print(&format!(
                    "{name:<12} : skipped (--use_existing_db is true)\n"
                ));
            }
            self.reopen_fresh()?;
        }
        if dialect == Dialect::RocksDb {
            self.print(&format!("DB path: [{}]\n", self.setup.dir.display()))?;
        }
        self.once(operation)
    }

    fn once(&mut self, operation: &Operation) -> Outcome {
        match operation.does {
            Does::Stats => self.stats(),
            Does::Untimed(call) => call(&self.bench(operation)),
            Does::Work { .. } | Does::Timed(_) => self.measure(operation),
        }
    }

    /// A benchmark with its own changes to what the flags say.
    fn bench(&self, operation: &Operation) -> Bench<'_> {
        let mut numbers = Numbers::of(self.setup, self.threads_before);
        (operation.adjust)(&mut numbers, self.setup);
        Bench {
            setup: self.setup,
            store: self.store(),
            numbers,
        }
    }

    fn measure(&mut self, operation: &Operation) -> Outcome {
        if operation.reads_store() && self.setup.given.is("drop_cache") {
            self.cool(operation)?;
        }
        let before = self.store().counters();
        let bench = self.bench(operation);
        if operation.name == "multireadrandom" {
            let group = bench.numbers.per_batch;
            let told = format!("entries_per_batch = {group}");
            self.console.err.line(&told)?;
        }
        let finished = measure_one::run(operation, &bench, &self.console.err)?;
        self.threads_before += thread_count(operation, self.setup);
        self.tell(operation, &finished, &before)
    }

    /// Prints the line and the histograms, and keeps the numbers.
    fn tell(&mut self, operation: &Operation, finished: &Finished, before: &Counters) -> Outcome {
        let dialect = self.setup.dialect();
        let line = ResultLine::of(operation.name, finished);
        self.print(&line.text(dialect))?;
        if self.setup.given.is("histogram") {
            self.print(&histograms(dialect, finished))?;
        }
        let after = self.store().counters();
        let debt = after.debt_bytes.unwrap_or(0);
        if operation.is_write && debt > 0 {
            self.console.err.line(&format!(
                "note: {} MiB of compaction are owed after {}; waitforcompaction waits for it",
                debt.div_ceil(1 << 20),
                operation.name
            ))?;
        }
        let mut work = EngineWork::between(before, &after);
        // What the workload counted is exact; engines count the framing of batches too.
        let is_fill = matches!(
            operation.does,
            Does::Work {
                count: Count::Writes,
                ..
            }
        );
        if is_fill && line.bytes > 0 {
            let ratio = |bytes: u64| bytes as f64 / line.bytes as f64;
            work.user_bytes = Some(line.bytes);
            work.write_amplification = work.written_bytes.map(ratio);
        }
        if operation.is_fresh && operation.name == "fillseq" {
            let raw = line.bytes / finished.lanes.len() as u64;
            work.space_amplification = work
                .live_bytes
                .map(|bytes| bytes as f64 / (raw as f64).max(1.0));
        }
        let given = &self.setup.given;
        self.record.measurements.push(Measurement {
            name: operation.name.into(),
            engine: self.engine.name().into(),
            engine_version: self.engine.version(),
            settings: self.matched.clone(),
            workload: workload(self.setup),
            target_rate: Some(given.number("target_rate")).filter(|rate| *rate > 0.0),
            engine_work: work,
            message: line.message.trim_end().into(),
            is_verified: given.is("verify") && operation.is_checked,
            ..Measurement::of(finished, &KINDS)
        });
        Ok(())
    }

    fn reopen_fresh(&mut self) -> Outcome {
        self.reopen(|session| session.engine.destroy(&session.setup.dir))
    }

    /// Closes the store and opens it again with nothing of it in the page cache: the first reads
    /// are cold.
    fn cool(&mut self, operation: &Operation) -> Outcome {
        let is_all = self.setup.given.is("drop_system_cache");
        let forgotten = self.reopen(|session| forget_store(&session.setup.dir, is_all))?;
        let line = format!("note: before {}: {}", operation.name, forgotten.text());
        Ok(self.console.err.line(&line)?)
    }

    /// Closes the store, does something with its files, and opens it again.
    fn reopen<T>(&mut self, between: impl FnOnce(&Session<'_, '_>) -> Outcome<T>) -> Outcome<T> {
        self.close()?;
        let done = between(self)?;
        let (store, matched) = open(self.engine, self.setup)?;
        (self.store, self.matched) = (Some(store), matched);
        Ok(done)
    }

    fn close(&mut self) -> Outcome {
        let closed = self.store.take().map_or(Ok(()), |store| store.close());
        closed.map_err(|error| told("close", error))
    }

    fn store(&self) -> &dyn Store {
        let store = self.store.as_deref();
        store.expect("between two benchmarks it is open")
    }

    fn stats(&mut self) -> Outcome {
        let text = match self.setup.dialect() {
            Dialect::LevelDb => self.store().property("leveldb.stats"),
            _ => self.store().property("stats"),
        };
        let text = text.unwrap_or_else(|| "(failed)".into());
        self.print(&format!("\n{text}\n"))
    }

    fn end(mut self, json: &str) -> Outcome<Record> {
        if self.setup.given.is("statistics") {
            let own = self.store().counters().own;
            let lines = own
                .iter()
                .map(|(name, value)| format!("{name} COUNT : {value}\n"));
            self.print(&format!("STATISTICS:\n{}", lines.collect::<String>()))?;
        }
        self.close()?;
        if !json.is_empty() {
            json::write(json.as_ref(), &self.record)?;
        }
        Ok(self.record)
    }

    fn print(&mut self, text: &str) -> Outcome {
        self.console.out.write_all(text.as_bytes())?;
        Ok(self.console.out.flush()?)
    }
}

fn histograms(dialect: Dialect, finished: &Finished) -> String {
    let all = finished.latencies();
    if dialect != Dialect::RocksDb {
        let mut merged = crate::measure::latency::Latencies::new();
        all.iter().for_each(|latencies| merged.merge(latencies));
        return format!(
            "Microseconds per op:\n{}\n",
            Buckets::new(dialect, &merged).text()
        );
    }
    let told = all
        .iter()
        .zip(KINDS)
        .filter(|(latencies, _)| latencies.count() > 0);
    told.map(|(latencies, kind)| {
        let text = Buckets::new(dialect, latencies).text();
        format!("Microseconds per {kind}:\n{text}\n")
    })
    .collect()
}

fn workload(setup: &Setup) -> Vec<(String, String)> {
    let given = &setup.given;
    vec![
        ("dialect".to_owned(), setup.dialect().name().to_owned()),
        ("keys".into(), given.text("num").into()),
        ("key bytes".into(), setup.key_bytes().to_string()),
        ("value bytes".into(), setup.value_size.to_string()),
        (
            "compression ratio".into(),
            given.text("compression_ratio").into(),
        ),
        ("seed".into(), setup.seed_base.to_string()),
    ]
}
