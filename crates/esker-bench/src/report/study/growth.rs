//! What an operation costs as the data grows: one workload at several numbers of keys.

use crate::report::study::line::Line;
use crate::report::study::rounds::Study;

/// One workload that ran at several numbers of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The workload.
    pub name: String,
    /// One line for each engine: keys, and nanoseconds for each operation (median).
    pub lines: Vec<Line>,
}

/// Every workload of that kind.
pub fn growths(study: &Study<'_>) -> Vec<Growth> {
    let mut names: Vec<&str> = Vec::new();
    for workload in &study.workloads {
        if !names.contains(&workload.name) {
            names.push(workload.name);
        }
    }
    let growths = names.into_iter().map(|name| Growth {
        name: name.to_owned(),
        lines: (0..study.seats.len())
            .filter_map(|place| line(study, name, place))
            .collect(),
    });
    growths.filter(|it| !it.lines.is_empty()).collect()
}

fn line(study: &Study<'_>, name: &str, place: usize) -> Option<Line> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for workload in study.workloads.iter().filter(|it| it.name == name) {
        let (Some(keys), Some(cell)) = (workload.keys, workload.cell(place)) else {
            continue;
        };
        let nanos = cell.summary(|one| (one.ops_per_s > 0.0).then(|| 1e9 / one.ops_per_s));
        // Of several runs at one number of keys the first stands for all: the store was as full.
        if let Some(nanos) = nanos
            && !points.iter().any(|(other, _)| *other == keys as f64)
        {
            points.push((keys as f64, nanos.median));
        }
    }
    points.sort_by(|left, right| left.0.total_cmp(&right.0));
    (points.len() > 1).then_some(Line { place, points })
}

#[cfg(test)]
mod tests;
