//! Throughput over time, and where it stalled.

use crate::report::record::Measurement;

/// A rate below this share of the mean is marked.
pub const SLOW_SHARE: f64 = 0.5;

/// Fewer intervals than this show nothing over time.
const INTERVALS_MIN: usize = 3;

/// One interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Seconds at its beginning.
    pub from_s: f64,
    /// Seconds at its end.
    pub to_s: f64,
    /// Operations a second within it.
    pub rate: f64,
}

/// One run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its intervals, in order.
    pub steps: Vec<Step>,
    /// Operations a second over the whole.
    pub mean: f64,
    /// Places in `steps` where the rate is below [`SLOW_SHARE`] of the mean.
    pub slow: Vec<usize>,
    /// Seconds for which writers were held back, all together, as the engine tells.
    pub stall_s: f64,
}

impl Flow {
    /// The slowest interval as a share of the mean.
    pub fn lowest_share(&self) -> f64 {
        let rates = self.steps.iter().map(|step| step.rate);
        rates.fold(f64::INFINITY, f64::min) / self.mean
    }
}

/// The run over time; `None` if it was too short to have any course, or has none recorded.
pub fn flow(one: &Measurement) -> Option<Flow> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut from_s, mut ops) = (0.0, 0);
    let mut stall_s = 0.0;
    for (sample, rate) in one.series.samples.iter().zip(one.series.rates()) {
        if !sample.at_s.is_finite() || !rate.is_finite() || sample.at_s <= from_s {
            continue;
        }
        steps.push(Step {
            from_s,
            to_s: sample.at_s,
            rate,
        });
        from_s = sample.at_s;
        ops += sample.ops;
        stall_s += sample.stall_s;
    }
    drop_stump(&mut steps);
    let mean = ops as f64 / from_s;
    if steps.len() < INTERVALS_MIN || !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    let is_slow = |step: &Step| step.rate < mean * SLOW_SHARE;
    let slow = (0..steps.len()).filter(|index| is_slow(&steps[*index]));
    Some(Flow {
        slow: slow.collect(),
        mean,
        stall_s,
        steps,
    })
}

/// The last interval ends with the run, not with the second: a stump of one is no rate.
fn drop_stump(steps: &mut Vec<Step>) {
    let [.., before, last] = &steps[..] else {
        return;
    };
    if last.to_s - last.from_s < (before.to_s - before.from_s) / 2.0 {
        steps.pop();
    }
}

#[cfg(test)]
mod tests;
