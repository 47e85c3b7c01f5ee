//! A record sorted by workload and engine, the rounds of each put together.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::record::{Measurement, Record};

/// The engine whose numbers are held against the others, where it took part.
const OURS: &str = "Esker";

/// Under this name the raw limits of the machine stand among the engines of a record.
const LIMIT: &str = "limit";

/// One engine of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Seat {
    /// Name and version.
    pub fn full(&self) -> String {
        format!("{} {}", self.name, self.version).trim().to_owned()
    }
}

/// One workload on one engine, round after round.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The place of the engine in [`Study::seats`].
    pub place: usize,
    /// Its rounds, in the order of the record; at least one.
    pub rounds: Vec<&'a Measurement>,
}

impl Cell<'_> {
    /// A number of each round, those that are no numbers left out.
    pub fn each(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Vec<f64> {
        let numbers = self.rounds.iter().filter_map(|one| of(one));
        numbers.filter(|number| number.is_finite()).collect()
    }

    /// Median and spread of a number of each round.
    pub fn summary(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Option<Summary> {
        Summary::of(self.each(of))
    }

    /// Operations a second.
    pub fn rate(&self) -> Option<Summary> {
        self.summary(|one| Some(one.ops_per_s))
    }

    /// Whether it is one long operation, which is told in seconds.
    pub fn is_one_piece(&self) -> bool {
        self.rounds.iter().all(|one| one.ops <= 1)
    }

    /// Its speed as text: operations a second, or seconds.
    pub fn speed_text(&self) -> String {
        let (summary, text): (_, fn(f64) -> String) = match self.is_one_piece() {
            true => (self.summary(|one| Some(one.wall_s)), quantity::seconds),
            false => (self.rate(), quantity::count),
        };
        summary.map_or(quantity::NONE.into(), |all| all.text(text))
    }
}

/// One workload on every engine that ran it.
#[derive(Clone, Debug)]
pub struct Workload<'a> {
    /// What sets it apart from every other workload of the record, for people.
    pub label: String,
    /// Its name in the record.
    pub name: &'a str,
    /// Keys that it works on, where it says.
    pub keys: Option<u64>,
    /// By engine, ours first.
    pub cells: Vec<Cell<'a>>,
    /// How many of the same name, number of keys and round came before it on an engine.
    turn: usize,
}

impl<'a> Workload<'a> {
    /// The rounds of an engine.
    pub fn cell(&self, place: usize) -> Option<&Cell<'a>> {
        self.cells.iter().find(|cell| cell.place == place)
    }

    /// Its first measurement.
    pub fn first(&self) -> Option<&'a Measurement> {
        self.cells.first()?.rounds.first().copied()
    }
}

/// A record, sorted.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    /// The record.
    pub record: &'a Record,
    /// Its engines, ours first.
    pub seats: Vec<Seat>,
    /// Its workloads, in the order in which they first ran.
    pub workloads: Vec<Workload<'a>>,
    /// The limits of the machine that were measured beside them: name and rounds.
    pub limits: Vec<(&'a str, Cell<'a>)>,
}

impl<'a> Study<'a> {
    /// Sorts `record`.
    pub fn of(record: &'a Record) -> Study<'a> {
        let mut study = Study {
            record,
            seats: seats(record),
            workloads: Vec::new(),
            limits: Vec::new(),
        };
        for (index, one) in record.measurements.iter().enumerate() {
            match one.engine == LIMIT {
                true => study.add_limit(one),
                false => study.add(one, turn(&record.measurements[..index], one)),
            }
        }
        for workload in &mut study.workloads {
            workload.cells.sort_by_key(|cell| cell.place);
        }
        let labels: Vec<String> = study.workloads.iter().map(|it| study.label(it)).collect();
        for (workload, label) in study.workloads.iter_mut().zip(labels) {
            workload.label = label;
        }
        study
    }

    /// The most rounds that any workload had.
    pub fn round_count(&self) -> usize {
        let cells = self.workloads.iter().flat_map(|workload| &workload.cells);
        cells.map(|cell| cell.rounds.len()).max().unwrap_or(0)
    }

    fn add_limit(&mut self, one: &'a Measurement) {
        match self.limits.iter_mut().find(|(name, _)| *name == one.name) {
            Some((_, cell)) => cell.rounds.push(one),
            None => self.limits.push((&one.name, cell_of(0, one))),
        }
    }

    fn add(&mut self, one: &'a Measurement, turn: usize) {
        let keys = keys(one);
        let place = self.seats.iter().position(|seat| seat.name == one.engine);
        let place = place.expect("every engine of the record has a seat");
        let is_same =
            |it: &&mut Workload<'_>| it.name == one.name && it.keys == keys && it.turn == turn;
        let Some(workload) = self.workloads.iter_mut().find(is_same) else {
            self.workloads.push(Workload {
                label: one.name.clone(),
                name: &one.name,
                keys,
                cells: vec![cell_of(place, one)],
                turn,
            });
            return;
        };
        match workload.cells.iter_mut().find(|cell| cell.place == place) {
            Some(cell) => cell.rounds.push(one),
            None => workload.cells.push(cell_of(place, one)),
        }
    }

    /// The name, with the number of keys and whatever else differs among those of that name.
    fn label(&self, workload: &Workload<'_>) -> String {
        let namesakes = self.workloads.iter().filter(|it| it.name == workload.name);
        let namesakes: Vec<&Workload<'_>> = namesakes.collect();
        let mut label = workload.name.to_owned();
        if namesakes.iter().any(|it| it.keys != workload.keys)
            && let Some(keys) = workload.keys
        {
            let keys = quantity::on_scale(&quantity::count(keys as f64));
            label += &format!(", {keys} keys");
        }
        let twins = namesakes.iter().filter(|it| it.keys == workload.keys);
        let twins: Vec<&Workload<'_>> = twins.copied().collect();
        if twins.len() > 1 {
            label += &differing(&twins, workload);
        }
        label
    }
}

fn cell_of(place: usize, one: &Measurement) -> Cell<'_> {
    Cell {
        place,
        rounds: vec![one],
    }
}

/// How many measurements before `one` have its name, engine, number of keys and round.
fn turn(before: &[Measurement], one: &Measurement) -> usize {
    let is_same = |other: &&Measurement| {
        other.name == one.name
            && other.engine == one.engine
            && other.round == one.round
            && keys(other) == keys(one)
    };
    before.iter().filter(is_same).count()
}

/// The fields in which `workload` differs from its twins; its number among them if there is none.
fn differing(twins: &[&Workload<'_>], workload: &Workload<'_>) -> String {
    let differs = |(name, text): &&(String, String)| {
        let of = |it: &&Workload<'_>| it.first()?.field(name).map(str::to_owned);
        twins.iter().any(|it| of(it).as_ref() != Some(text))
    };
    let fields = workload.first().map_or(&[][..], |one| &one.workload);
    let told = fields.iter().filter(differs);
    let told: Vec<String> = told
        .map(|(name, text)| format!("{} {text}", name.replace('_', " ")))
        .collect();
    match told.is_empty() {
        true => format!(" #{}", workload.turn + 1),
        false => format!(", {}", told.join(", ")),
    }
}

/// The number of keys that a measurement names.
fn keys(one: &Measurement) -> Option<u64> {
    const NAMES: [&str; 3] = ["keys", "records", "recordcount"];
    NAMES.iter().find_map(|name| one.field(name))?.parse().ok()
}

/// Engines in the order of the record, ours first.
fn seats(record: &Record) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Vec::new();
    let engines = record.measurements.iter().filter(|it| it.engine != LIMIT);
    for one in engines {
        if !seats.iter().any(|seat| seat.name == one.engine) {
            seats.push(Seat {
                name: one.engine.clone(),
                version: one.engine_version.clone(),
            });
        }
    }
    seats.sort_by_key(|seat| seat.name != OURS);
    seats
}

#[cfg(test)]
mod tests;
