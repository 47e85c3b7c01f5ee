//! The page of two runs held against each other, and the same as lines of text.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::chart::main_chart::Panel;
use crate::report::chart::paint::escape;
use crate::report::chart::rows::{Kind, Row, Rows};
use crate::report::date;
use crate::report::page::markup::{Cell, Table, accent, headline, note, quiet, terms};
use crate::report::page::shell::{Section, page};
use crate::report::page::speed::drawn;
use crate::report::record::Record;
use crate::report::study::contrast::{
    CHANCE_MAX, Call, Change, Contrast, ROUNDS_MIN, UNKNOWN_NOISE, least_chance,
};

/// Two runs and what they came to.
pub struct Pair<'a> {
    /// The name of the file of the earlier run, and the run.
    pub before: (&'a str, &'a Record),
    /// The same of the later one.
    pub after: (&'a str, &'a Record),
    /// What came of it.
    pub contrast: &'a Contrast,
}

impl Pair<'_> {
    /// How noise was judged, in words that hold for these runs.
    pub fn method(&self) -> String {
        let rounds = self.contrast.rows.iter().map(|row| row.rate.rounds);
        let few = rounds
            .clone()
            .any(|(before, after)| before.min(after) < ROUNDS_MIN);
        let mut text = String::new();
        if let Some((before, after)) = rounds.clone().find(|(a, b)| *a.min(b) >= ROUNDS_MIN) {
            let least = least_chance(before, after);
            text += &format!(
                "Noise: a difference counts if chance alone would part the rounds as far in at \
                 most {:.0} % of cases (rank-sum test, exact)",
                CHANCE_MAX.max(least) * 100.0
            );
            if least > CHANCE_MAX {
                text += &format!(
                    "; {before} against {after} rounds can show no less, so there every round of \
                     one run must lie beyond every round of the other"
                );
            }
            text += ". The runs did not take turns: what slowed the machine for the whole of one \
                     looks like a difference.";
        }
        if few {
            if !text.is_empty() {
                text.push(' ');
            }
            text += &format!(
                "With fewer than {ROUNDS_MIN} rounds noise is unknown; then only differences \
                 beyond {:.0} % are called.",
                UNKNOWN_NOISE * 100.0
            );
        }
        text
    }

    /// What makes the two hard to compare: other machines, builds, tools.
    pub fn warnings(&self) -> Vec<String> {
        let (before, after) = (self.before.1, self.after.1);
        let mut warnings = Vec::new();
        if before.machine.cpu != after.machine.cpu || before.machine.host != after.machine.host {
            warnings.push("the runs were made on different machines".to_owned());
        }
        if before.tool != after.tool {
            warnings.push(format!(
                "the runs were made by different tools: {} and {}",
                before.tool, after.tool
            ));
        }
        for (name, record) in [self.before, self.after] {
            if !record.is_optimised {
                warnings.push(format!("{name} was built without optimisation"));
            }
        }
        warnings
    }

    /// Lines for a terminal.
    pub fn text(&self) -> String {
        let heads = [
            "workload", "engine", "before", "after", "ratio", "call", "p99", "call",
        ];
        let mut table = crate::table::Table::new(&heads).with_sides("<<");
        for row in &self.contrast.rows {
            let p99 = row.p99.as_ref();
            table.add(vec![
                row.label.clone(),
                row.engine.clone(),
                row.rate.before.text(quantity::count),
                row.rate.after.text(quantity::count),
                quantity::ratio(row.rate.ratio),
                row.rate.call.text().to_owned(),
                p99.map_or(String::new(), |it| quantity::ratio(it.ratio)),
                p99.map_or(String::new(), |it| it.call.text().to_owned()),
            ]);
        }
        let mut text = table.text();
        for (name, missing) in self.missing() {
            text += &format!("only in {name}: {missing}\n");
        }
        for warning in self.warnings() {
            text += &format!("note: {warning}\n");
        }
        text + &format!("{}\n", self.method())
    }

    /// What only one of the runs has, with the name of its file.
    fn missing(&self) -> Vec<(&str, String)> {
        let named = |all: &[(String, String)]| -> String {
            let all = all
                .iter()
                .map(|(label, engine)| format!("{label} ({engine})"));
            all.collect::<Vec<_>>().join(", ")
        };
        let both = [
            (self.before.0, named(&self.contrast.only_before)),
            (self.after.0, named(&self.contrast.only_after)),
        ];
        both.into_iter()
            .filter(|(_, all)| !all.is_empty())
            .collect()
    }

    /// One panel for each engine: later over earlier.
    pub fn panels(&self) -> Vec<Panel> {
        let panels = self.engines().into_iter().map(|engine| {
            let rows = self.contrast.rows.iter().filter(|row| row.engine == engine);
            let rows = rows.map(|row| Row {
                told: format!(
                    "{}: {} times the rate before, {}",
                    row.label,
                    quantity::ratio(row.rate.ratio),
                    row.rate.call.text()
                ),
                label: row.label.clone(),
                value: reach(&row.rate),
                is_noise: matches!(row.rate.call, Call::Noise | Call::Unknown),
            });
            Panel {
                title: format!("{engine}, after over before"),
                rows: Rows::new(Kind::Ratio, rows.collect(), None),
            }
        });
        panels.collect()
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut missing = String::new();
        for (name, all) in self.missing() {
            missing += &note(&format!("Only in {name}: {all}."));
        }
        let sections = [
            Section::new("Speed", drawn(&self.panels())),
            Section::new("Numbers", self.table().html() + &missing),
            Section::new("How noise was judged", note(&self.method())),
        ];
        page("Two runs compared", &self.lead(), "", &sections)
    }

    fn lead(&self) -> String {
        let run = |what: &'static str, (name, record): (&str, &Record)| {
            let facts = [
                name.to_owned(),
                record.tool.clone(),
                record.commit.clone(),
                date::utc(record.started_unix_s),
            ];
            let facts: Vec<String> = facts.into_iter().filter(|it| !it.is_empty()).collect();
            (what, facts.join(", "))
        };
        let mut lead = terms(&[run("before", self.before), run("after", self.after)]);
        for warning in self.warnings() {
            lead += &format!("<p class=\"warning\">{}</p>\n", escape(&warning));
        }
        lead + &self.headline()
    }

    /// How the middle workload of the first engine moved, and what that is made of.
    fn headline(&self) -> String {
        let engine = self.engines().first().copied().unwrap_or_default();
        let rows = self.contrast.rows.iter().filter(|row| row.engine == engine);
        let rows: Vec<&Change> = rows.map(|row| &row.rate).collect();
        let Some(middle) = Summary::of(rows.iter().map(|rate| rate.ratio)) else {
            return String::new();
        };
        let count = |calls: [Call; 2]| {
            let called = rows.iter().filter(|rate| calls.contains(&rate.call));
            called.count()
        };
        let told = format!(
            "the speed of {engine} before, in the middle workload; of {}: {} better, {} worse, {} \
             not to be told from noise",
            rows.len(),
            count([Call::Better, Call::PerhapsBetter]),
            count([Call::Worse, Call::PerhapsWorse]),
            count([Call::Noise, Call::Unknown]),
        );
        headline(&format!("{} ×", quantity::ratio(middle.median)), &told)
    }

    /// A row for each workload; the engine is named where there are several, the slowest operations
    /// where both runs timed any.
    fn table(&self) -> Table {
        let rows = &self.contrast.rows;
        let has_engines = self.engines().len() > 1;
        let has_p99 = rows.iter().any(|row| row.p99.is_some());
        let engine = ["engine"].into_iter().filter(|_| has_engines);
        let p99 = ["p99 ratio", "call"].into_iter().filter(|_| has_p99);
        let heads = ["workload"].into_iter().chain(engine);
        let mut table = Table::new(heads.chain(["before", "after", "ratio", "call"]).chain(p99));
        for row in rows {
            let mut cells = vec![Cell::from(row.label.clone())];
            cells.extend(has_engines.then(|| row.engine.clone().into()));
            cells.extend([
                row.rate.before.text(quantity::count).into(),
                row.rate.after.text(quantity::count).into(),
                quantity::ratio(row.rate.ratio).into(),
                called(row.rate.call),
            ]);
            if has_p99 {
                let p99 = row.p99.as_ref();
                cells.push(p99.map_or("".into(), |it| quantity::ratio(it.ratio).into()));
                cells.push(p99.map_or("".into(), |it| called(it.call)));
            }
            table.row(cells);
        }
        table
    }

    /// The engines that both runs have.
    fn engines(&self) -> Vec<&str> {
        let mut engines: Vec<&str> = Vec::new();
        for row in &self.contrast.rows {
            if !engines.contains(&row.engine.as_str()) {
                engines.push(&row.engine);
            }
        }
        engines
    }
}

fn called(call: Call) -> Cell {
    match call {
        Call::Better | Call::PerhapsBetter => accent(call.text()),
        Call::Worse | Call::PerhapsWorse => call.text().into(),
        Call::Noise | Call::Unknown => quiet(call.text()),
    }
}

/// The ratio with the widest reach that the rounds allow.
fn reach(change: &Change) -> Summary {
    Summary {
        median: change.ratio,
        min: change.after.min / change.before.max,
        max: change.after.max / change.before.min,
    }
}

#[cfg(test)]
mod tests;
