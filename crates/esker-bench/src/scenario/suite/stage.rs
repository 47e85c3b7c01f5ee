//! What a scenario stands on: engine, directory, console, and the record it fills.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::console::Console;
use crate::disk::forget::forget_store;
use crate::fail::Outcome;
use crate::report::record::{EngineWork, Measurement, Record};
use crate::run::course::{Course, Finished};
use crate::run::execute::{Body, execute};
use crate::run::live::Live;
use crate::scenario::suite::request::Request;
use crate::target::marker;
use crate::target::settings::StoreSettings;
use crate::target::store::{Engine, Opened};

/// An engine and the directory of its store.
#[derive(Clone)]
pub struct Seat<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The directory.
    pub dir: PathBuf,
}

/// What a scenario stands on.
pub struct Stage<'a, 'b> {
    /// Every engine that takes part, ours first.
    pub seats: &'a [Seat<'a>],
    /// The place of the engine whose turn it is.
    pub place: usize,
    /// The turn of each workload, from 0.
    pub round: usize,
    /// What was asked for.
    pub request: &'a Request,
    /// Where people read.
    pub console: &'a mut Console<'b>,
    /// The scenario's name.
    pub name: &'static str,
    /// What was measured so far.
    pub record: &'a mut Record,
    /// Whether it was told how reads are made cold.
    pub has_told_cold: bool,
}

impl Stage<'_, '_> {
    /// Prints text where results go.
    pub fn say(&mut self, text: &str) -> Outcome {
        self.console.out.write_all(text.as_bytes())?;
        Ok(self.console.out.flush()?)
    }

    /// Prints a remark.
    pub fn note(&self, text: &str) -> Outcome {
        Ok(self.console.err.line(&format!("note: {text}"))?)
    }

    /// The engine whose turn it is.
    pub fn engine(&self) -> &dyn Engine {
        self.seats[self.place].engine
    }

    /// The directory of its store.
    pub fn dir(&self) -> &Path {
        &self.seats[self.place].dir
    }

    /// The places of all engines in the order of a round: in each another one begins.
    pub fn order(&self, round: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.seats.len();
        (0..count).map(move |step| (step + round) % count)
    }

    /// An empty store.
    pub fn open_fresh(&self, settings: &StoreSettings) -> Outcome<Opened> {
        marker::make_fresh(self.engine(), self.dir(), false)?;
        self.open(settings)
    }

    /// The store that is there.
    pub fn open(&self, settings: &StoreSettings) -> Outcome<Opened> {
        let mut settings = settings.clone();
        // Those of the command line come last and win.
        settings.own.extend(self.request.own.iter().cloned());
        self.engine().open(self.dir(), &settings)
    }

    /// Drops the store's files from the page cache; nothing may have it open. The first time it is
    /// told how.
    pub fn forget(&mut self) -> Outcome {
        let forgotten = forget_store(self.dir(), self.request.drops_system_cache)?;
        match std::mem::replace(&mut self.has_told_cold, true) {
            true => Ok(()),
            false => self.note(&format!("cold reads: {}", forgotten.text())),
        }
    }

    /// Removes the store unless it is to be kept.
    pub fn clear(&self) -> Outcome {
        match self.request.keeps_stores {
            true => Ok(()),
            false => self.engine().destroy(self.dir()),
        }
    }

    /// Runs `body` with a live line, and keeps what it came to under `name`; `kinds` names the
    /// kinds of operation.
    pub fn measure(
        &mut self,
        name: &str,
        kinds: &[&str],
        play: &Opened,
        course: &Course<'_>,
        body: &Body<'_>,
    ) -> Outcome<Finished> {
        let before = play.store.counters();
        let finished = self.watch(name, course, body)?;
        let after = play.store.counters();
        let mut measurement = Measurement::of(&finished, kinds);
        measurement.engine_work = EngineWork::between(&before, &after);
        measurement.settings = play.matched.clone();
        self.keep_measurement(name, measurement);
        Ok(finished)
    }

    /// Runs `body` with a live line.
    pub fn watch(&self, name: &str, course: &Course<'_>, body: &Body<'_>) -> Outcome<Finished> {
        let mut live = Live::new(&self.console.err, name);
        let finished = execute(course, &mut |tick| live.tick(tick), body);
        live.end();
        finished
    }

    /// Keeps a measurement; gives it for more to be said of it.
    pub fn keep_measurement(
        &mut self,
        name: &str,
        mut measurement: Measurement,
    ) -> &mut Measurement {
        measurement.name = name.into();
        measurement.round = self.round;
        if measurement.engine.is_empty() {
            measurement.engine = self.engine().name().into();
            measurement.engine_version = self.engine().version();
        }
        let about = [
            ("scenario".to_owned(), self.name.to_owned()),
            ("size".to_owned(), self.request.size.name().to_owned()),
        ];
        measurement.workload.extend(about);
        self.record.measurements.push(measurement);
        let last = self.record.measurements.last_mut();
        last.expect("one was just pushed")
    }

    /// The measurement kept last.
    pub fn last_kept(&mut self) -> Option<&mut Measurement> {
        self.record.measurements.last_mut()
    }
}

/// Operations a second by the wall's clock.
pub fn rate(finished: &Finished) -> f64 {
    rate_of(finished.ops(), finished.wall())
}

/// Operations a second.
pub fn rate_of(ops: u64, took: Duration) -> f64 {
    ops as f64 / took.as_secs_f64().max(1e-9)
}
