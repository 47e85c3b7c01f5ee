//! Where measurements are made and kept: the record, and what is said meanwhile.

use esker_bench::console::Console;
use esker_bench::fail::Outcome;
use esker_bench::quantity;
use esker_bench::report::record::{EngineWork, Measurement, Record};
use esker_bench::run::course::{Course, Finished};
use esker_bench::run::execute::{Body, execute};
use esker_bench::run::live::Live;
use esker_bench::scenario::suite::size::Size;
use esker_bench::scenario::suite::sql::board::SERVER_MEMORY;
use esker_bench::scenario::suite::sql::contender::Contender;
use esker_bench::table::Table;
use esker_bench::target::settings::Matched;

use crate::compare::reviews_sql::server::Server;

/// The record of a run and its console.
pub struct Desk<'a, 'b> {
    /// What was measured.
    pub record: Record,
    /// Where people read.
    pub console: &'a mut Console<'b>,
    /// The servers' version.
    pub version: String,
    /// How much of it.
    pub size: Size,
    /// The round.
    pub round: usize,
}

/// What is measured.
pub struct Work<'a> {
    /// The engine.
    pub contender: Contender,
    /// The line.
    pub name: &'a str,
    /// The kinds of operation.
    pub kinds: &'a [&'a str],
    /// What its server was told.
    pub options: &'a [String],
}

impl Desk<'_, '_> {
    /// Prints text where results go.
    pub fn say(&mut self, text: &str) -> Outcome {
        self.console.out.write_all(text.as_bytes())?;
        Ok(self.console.out.flush()?)
    }

    /// Runs `body` on each connection, and keeps what it came to.
    ///
    /// Errors: those of the first connection that failed, with the end of the server's log if that
    /// has ended.
    pub fn measure(
        &mut self,
        server: &Server,
        work: &Work<'_>,
        course: &Course<'_>,
        body: &Body<'_>,
    ) -> Outcome<Finished> {
        let before = server.used();
        let name = work.contender.name();
        let mut live = Live::new(&self.console.err, &format!("{} {name}", work.name));
        let finished = execute(course, &mut |tick| live.tick(tick), body);
        live.end();
        let finished = finished.map_err(|failure| {
            let mut failure = server.explain(failure);
            failure.message = format!("{} on {name}: {}", work.name, failure.message);
            failure
        })?;
        let after = server.used();
        let mut measurement = Measurement::of(&finished, work.kinds);
        measurement.name = work.name.into();
        measurement.engine = name.into();
        measurement.engine_version = self.version.clone();
        measurement.round = self.round;
        measurement.settings = work.options.iter().map(matched).collect();
        measurement.engine_work = EngineWork {
            own: vec![
                ("ServerCpuTime(ms)".into(), after.cpu_ms - before.cpu_ms),
                (
                    "ServerDeviceReadBytes".into(),
                    after.device_read_bytes - before.device_read_bytes,
                ),
                (
                    "ServerDeviceWrittenBytes".into(),
                    after.device_write_bytes - before.device_write_bytes,
                ),
            ],
            ..EngineWork::default()
        };
        measurement.workload.extend([
            ("scenario".into(), "reviews-sql".to_owned()),
            ("size".into(), self.size.name().to_owned()),
            (SERVER_MEMORY.into(), server.memory().to_string()),
        ]);
        self.record.measurements.push(measurement);
        Ok(finished)
    }

    /// Adds what describes the measurement kept last.
    pub fn note_last(&mut self, fields: impl IntoIterator<Item = (String, String)>) {
        if let Some(last) = self.record.measurements.last_mut() {
            last.workload.extend(fields);
        }
    }

    /// Tells the measurement kept last in one line.
    pub fn tell_last(&mut self) -> Outcome {
        let Some(last) = self.record.measurements.last() else {
            return Ok(());
        };
        let shown = |percent| quantity::nanos(last.percentile_ns(percent).unwrap_or(0.0));
        let again = last
            .workload
            .iter()
            .filter(|(name, _)| name.starts_with("error "));
        let again: Vec<String> = again
            .map(|(name, count)| format!(", {name}: {count}"))
            .collect();
        let text = format!(
            "{:<34} {:<14} {:>10}/s  p50 {}, p99 {}{}\n",
            last.name,
            last.engine,
            quantity::rate(last.ops_per_s),
            shown(50.0),
            shown(99.0),
            again.concat()
        );
        self.say(&text)
    }

    /// Tells what came of goals; nothing where the run was held against none.
    pub fn say_verdicts(&mut self) -> Outcome {
        if self.record.verdicts.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(&["line", "goal", "measured", ""]).with_sides("<<");
        for verdict in &self.record.verdicts {
            table.add(vec![
                verdict.line.clone(),
                verdict.asked.clone(),
                verdict.measured_text(),
                verdict.word().into(),
            ]);
        }
        self.say(&format!("\n{}", table.text()))
    }
}

/// An option as a setting that was matched: `--name=value`.
fn matched(option: &String) -> Matched {
    let bare = option.trim_start_matches('-');
    let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
    Matched {
        wish: name.into(),
        wished: value.into(),
        given: option.clone(),
        note: String::new(),
    }
}
