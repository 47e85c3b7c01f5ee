//! Two runs held against each other, as lines of text and as JSON.

use serde_json::{Value, json};

use crate::quantity;
use crate::report::record::Record;
use crate::report::study::contrast::{
    CHANCE_MAX, Contrast, ROUNDS_MIN, UNKNOWN_NOISE, least_chance,
};
use crate::table::Table;

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
    /// Lines for a terminal.
    pub fn text(&self) -> String {
        let heads = [
            "workload", "engine", "before", "after", "ratio", "call", "p99", "call",
        ];
        let mut table = Table::new(&heads).with_sides("<<");
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
        let missing = [
            (self.before.0, &self.contrast.only_before),
            (self.after.0, &self.contrast.only_after),
        ];
        for (name, all) in missing.into_iter().filter(|(_, all)| !all.is_empty()) {
            let all = all.iter();
            let all = all.map(|(label, engine)| format!("{label} ({engine})"));
            text += &format!("only in {name}: {}\n", all.collect::<Vec<_>>().join(", "));
        }
        for warning in self.warnings() {
            text += &format!("note: {warning}\n");
        }
        text + &format!("{}\n", self.method())
    }

    /// The same for scripts.
    pub fn json(&self) -> Value {
        let missing = |all: &[(String, String)]| -> Vec<Value> {
            let all = all.iter();
            all.map(|(label, engine)| json!({"workload": label, "engine": engine}))
                .collect()
        };
        json!({
            "format": "esker-bench-comparison",
            "version": 1,
            "before": self.before.0,
            "after": self.after.0,
            "rows": self.contrast.rows,
            "only_before": missing(&self.contrast.only_before),
            "only_after": missing(&self.contrast.only_after),
            "warnings": self.warnings(),
            "method": self.method(),
        })
    }

    /// How noise was judged, in words that hold for these runs.
    fn method(&self) -> String {
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
    fn warnings(&self) -> Vec<String> {
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
}

#[cfg(test)]
mod tests;
