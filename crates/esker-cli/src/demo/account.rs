//! The acts of the demo as a record, and the record as a page.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use esker::Db;
use esker_bench::measure::process::Usage;
use esker_bench::report::machine::{Machine, commit};
use esker_bench::report::page::markup::{Table, facts, headline, note};
use esker_bench::report::page::report;
use esker_bench::report::page::shell::{self, Section};
use esker_bench::report::record::{
    EngineWork, FORMAT, LatencyRecord, Measurement, Record, VERSION,
};
use esker_bench::report::study::workloads::Study;
use esker_bench::report::{file, json};
use esker_bench::target::counters::Counters;
use esker_bench::target::embedded::{Esker, counters};
use esker_bench::target::settings::Matched;
use esker_bench::target::store::Engine;

use crate::demo::kill::Round;
use crate::demo::stage::{Act, Stage};
use crate::fail::{Failure, Outcome};
use crate::picture::map::KeyspaceMap;
use crate::picture::page;
use crate::quantity;

/// What the process used and the engine did up to the last act that was entered.
pub struct Account {
    started_unix_s: u64,
    settings: Vec<Matched>,
    usage: Usage,
    counters: Counters,
    measurements: Vec<Measurement>,
}

impl Account {
    /// An account of what happens to `db` from now on.
    pub fn open(stage: &Stage, db: &Db) -> Account {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let pairs = stage.shared.settings.iter();
        let settings = pairs.filter_map(|pair| pair.split_once('='));
        Account {
            started_unix_s: since.map_or(0, |since| since.as_secs()),
            settings: settings
                .map(|(name, text)| Matched {
                    wish: name.into(),
                    wished: text.into(),
                    given: text.into(),
                    note: String::new(),
                })
                .collect(),
            usage: Usage::now(),
            counters: counters(&db.stats()),
            measurements: Vec::new(),
        }
    }

    /// Enters an act that has just ended.
    pub fn enter(&mut self, db: &Db, act: &Act) {
        let (usage, after) = (Usage::now(), counters(&db.stats()));
        let wall_s = act.timings.total().as_secs_f64();
        let count = act.timings.count();
        self.measurements.push(Measurement {
            name: act.name.into(),
            engine: Esker.name().into(),
            engine_version: Esker.version(),
            settings: self.settings.clone(),
            threads: 1,
            ops: count,
            wall_s,
            lane_s: wall_s,
            ops_per_s: count as f64 / wall_s.max(1e-9),
            latencies: vec![LatencyRecord::of(act.unit, act.timings.latencies())],
            usage: usage.since(&self.usage),
            engine_work: EngineWork::between(&self.counters, &after),
            message: act.proved.clone(),
            is_verified: true,
            ..Measurement::default()
        });
        (self.usage, self.counters) = (usage, after);
    }

    /// The record of the whole.
    pub fn close(self, stage: &Stage) -> Record {
        Record {
            format: FORMAT.into(),
            version: VERSION,
            tool: "esker".into(),
            command: std::env::args().skip(1).collect(),
            commit: commit(),
            is_optimised: !cfg!(debug_assertions),
            started_unix_s: self.started_unix_s,
            machine: Machine::look(&stage.dir),
            measurements: self.measurements,
            verdicts: Vec::new(),
            history: Vec::new(),
        }
    }
}

/// Writes the record and its page into `dir`; where the page is.
///
/// `numbers` are those that matter, each with what it says, the first of all before the others;
/// `rounds` are the kills, `maps` the tree in the end.
pub fn write(
    dir: &Path,
    record: &Record,
    numbers: &[(String, String)],
    rounds: &[Round],
    maps: &[KeyspaceMap],
) -> Outcome<PathBuf> {
    let study = Study::of(record);
    let mut lead = report::conditions_line(&study);
    if let Some(((number, told), others)) = numbers.split_first() {
        lead += &(headline(number, told) + &facts(others));
    }
    let mut sections = report::sections(&study);
    // Behind the speed, which comes first.
    let place = sections.len().min(1);
    sections.insert(place, kills(rounds));
    sections.insert(place + 1, page::section("The tree after the demo", maps));
    let title = format!("Esker {} at work", Esker.version());
    let html = shell::page(&title, &lead, page::STYLE, &sections);
    let path = dir.join("report.html");
    let failed = |failure: esker_bench::fail::Failure| Failure::failed(failure.message);
    json::write(&dir.join("run.json"), record).map_err(failed)?;
    file::write(&path, html.as_bytes()).map_err(failed)?;
    Ok(path)
}

fn kills(rounds: &[Round]) -> Section {
    let mut table = Table::new(["round", "killed after", "acknowledged", "reopened in"]);
    for (index, round) in rounds.iter().enumerate() {
        table.row([
            (index + 1).to_string(),
            quantity::duration(round.lived),
            quantity::count(round.acknowledged),
            quantity::duration(round.reopened_in),
        ]);
    }
    if table.is_empty() {
        return Section::new("", String::new());
    }
    let compared = rounds.iter().map(|round| round.compared).sum();
    let told = format!(
        "A writer was killed with SIGKILL in the middle of its work. After each kill every batch \
         that it had been told was written is there, none is torn, and none is there that nobody \
         wrote: {} entries were compared.",
        quantity::count(compared)
    );
    Section::new("Killed while writing", note(&told) + &table.html())
}
