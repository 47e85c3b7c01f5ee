//! How fast engines read with less and less memory: one choice of keys at several limits.

use crate::report::record::Measurement;
use crate::report::study::line::Line;
use crate::report::study::rounds::Study;

/// Where no limit stands on the scale of shares: such an engine has room for everything twice.
pub const UNLIMITED: f64 = 2.0;

/// One choice of keys at several limits.
#[derive(Clone, Debug, PartialEq)]
pub struct OverMemory {
    /// How keys were chosen.
    pub choice: String,
    /// One line for each engine: memory as a share of the raw bytes, and operations a second
    /// (median).
    pub lines: Vec<Line>,
}

/// Every choice of keys that was read at several limits.
pub fn over_memory(study: &Study<'_>) -> Vec<OverMemory> {
    let mut all: Vec<OverMemory> = Vec::new();
    for workload in &study.workloads {
        for cell in &workload.cells {
            let Some((choice, share)) = cell.rounds.first().and_then(|one| told(one)) else {
                continue;
            };
            let Some(rate) = cell.rate() else { continue };
            let found = all.iter().position(|one| one.choice == choice);
            let at = found.unwrap_or_else(|| {
                all.push(OverMemory {
                    choice: choice.to_owned(),
                    lines: Vec::new(),
                });
                all.len() - 1
            });
            let lines = &mut all[at].lines;
            match lines.iter_mut().find(|line| line.place == cell.place) {
                Some(line) => line.points.push((share, rate.median)),
                None => lines.push(Line {
                    place: cell.place,
                    points: vec![(share, rate.median)],
                }),
            }
        }
    }
    for one in &mut all {
        for line in &mut one.lines {
            line.points
                .sort_by(|left, right| left.0.total_cmp(&right.0));
        }
        one.lines.retain(|line| line.points.len() > 1);
        one.lines.sort_by_key(|line| line.place);
    }
    all.retain(|one| !one.lines.is_empty());
    all
}

/// How keys were chosen and at which share of the raw bytes, where a measurement says both.
fn told(one: &Measurement) -> Option<(&str, f64)> {
    let field = |name: &str| {
        let found = one.workload.iter().find(|(other, _)| other == name);
        found.map(|(_, text)| text.as_str())
    };
    let share = match field("memory")? {
        "unlimited" => UNLIMITED,
        text => text.strip_suffix(" of raw")?.parse().ok()?,
    };
    (share > 0.0).then_some((field("distribution")?, share))
}

#[cfg(test)]
mod tests;
