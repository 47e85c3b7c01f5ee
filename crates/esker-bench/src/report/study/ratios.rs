//! Ours against each rival: the ratio of every workload, paired round by round.

use crate::measure::summary::Summary;
use crate::report::study::workloads::{Cell, Seat, Study};

/// One workload, ours against a rival.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The workload.
    pub label: String,
    /// How many times as fast ours is: median and spread over the rounds.
    pub times: Summary,
    /// Pairs of rounds behind it.
    pub rounds: usize,
}

/// Every workload, ours against one rival.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// The rival.
    pub rival: Seat,
    /// The workloads that both ran, in order.
    pub ratios: Vec<Ratio>,
}

/// Ours against each rival in turn; nothing if there is none.
pub fn duels(study: &Study<'_>) -> Vec<Duel> {
    let rivals = study.seats.iter().enumerate().skip(1);
    let duels = rivals.map(|(place, rival)| Duel {
        rival: rival.clone(),
        ratios: ratios(study, place),
    });
    duels.filter(|duel| !duel.ratios.is_empty()).collect()
}

fn ratios(study: &Study<'_>, place: usize) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for workload in &study.workloads {
        let (Some(ours), Some(theirs)) = (workload.cell(0), workload.cell(place)) else {
            continue;
        };
        let all = paired(ours, theirs);
        if let Some(times) = Summary::of(all.iter().copied()) {
            ratios.push(Ratio {
                label: workload.label.clone(),
                times,
                rounds: all.len(),
            });
        }
    }
    ratios
}

/// The ratio of each round that both have: a pair saw the same minutes of the machine.
fn paired(ours: &Cell<'_>, theirs: &Cell<'_>) -> Vec<f64> {
    let ratio = |one: &&crate::report::record::Measurement| {
        let other = theirs.rounds.iter().find(|it| it.round == one.round)?;
        let is_sound = one.ops_per_s > 0.0 && other.ops_per_s > 0.0;
        let ratio = one.ops_per_s / other.ops_per_s;
        (is_sound && ratio.is_finite()).then_some(ratio)
    };
    ours.rounds.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests;
