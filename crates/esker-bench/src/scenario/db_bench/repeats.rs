//! `name[W2-X5]`: warm-ups and repeats of RocksDB's dialect, and what they come to.

use crate::scenario::db_bench::lines::ResultLine;

/// The distance from the middle that holds 95 % of a bell, in deviations.
const BELL_95: f64 = 1.959_964;

/// A benchmark with its repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated<'a> {
    /// The name.
    pub name: &'a str,
    /// Runs that do not count.
    pub warm_ups: u32,
    /// Runs that count.
    pub runs: u32,
}

/// Reads `name`, `name[X5]`, `name[W2]` or `name[W2-X5]`; `None` for anything else in brackets.
pub fn parse(text: &str) -> Option<Repeated<'_>> {
    let Some((name, rest)) = text.split_once('[') else {
        return Some(Repeated {
            name: text,
            warm_ups: 0,
            runs: 1,
        });
    };
    let inner = rest.strip_suffix(']')?;
    let (mut warm_ups, mut runs) = (0, 1);
    for part in inner.split('-') {
        let mut letters = part.chars();
        let letter = letters.next()?;
        let count: u32 = letters.as_str().parse().ok()?;
        match letter {
            'W' | 'w' => warm_ups = count,
            'X' | 'x' if count > 0 => runs = count,
            _ => return None,
        }
    }
    Some(Repeated {
        name,
        warm_ups,
        runs,
    })
}

/// What several runs of one benchmark came to.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    ops: Vec<f64>,
    mebibytes: Vec<f64>,
}

impl Repeats {
    /// Adds a run, and gives the line after it; none after the first.
    pub fn add(&mut self, line: &ResultLine, is_interval_only: bool) -> Option<String> {
        self.ops.push(line.ops_per_s());
        self.mebibytes.push(line.mib_per_s());
        if self.ops.len() < 2 {
            return None;
        }
        let (name, runs) = (&line.name, self.ops.len());
        let (ops, ops_wide) = (mean(&self.ops), width(&self.ops));
        let (megs, megs_wide) = (mean(&self.mebibytes), width(&self.mebibytes));
        Some(match is_interval_only {
            true => format!(
                "{name} [CI95 {runs} runs] : ({:.0}, {:.0}) ops/sec; ({:.1}, {:.1}) MB/sec\n",
                ops - ops_wide,
                ops + ops_wide,
                megs - megs_wide,
                megs + megs_wide
            ),
            false => format!(
                "{name} [AVG {runs} runs] : {ops:.0} (± {ops_wide:.0}) ops/sec; {megs:6.1} \
                 (± {megs_wide:.1}) MB/sec\n"
            ),
        })
    }

    /// The last lines.
    pub fn end(&self, name: &str, is_interval_only: bool) -> String {
        let runs = self.ops.len();
        if runs < 2 {
            return String::new();
        }
        let (ops, ops_wide) = (mean(&self.ops), width(&self.ops));
        let (megs, megs_wide) = (mean(&self.mebibytes), width(&self.mebibytes));
        if is_interval_only {
            return String::new();
        }
        format!(
            "\n{name} [AVG    {runs} runs] : {ops:.0} (± {ops_wide:.0}) ops/sec; {:.3} ms/op; \
             {megs:6.1} (± {megs_wide:.1}) MB/sec\n\
             {name} [MEDIAN {runs} runs] : {:.0} ops/sec; {:6.1} MB/sec\n",
            1000.0 / ops.max(1e-9),
            median(&self.ops),
            median(&self.mebibytes)
        )
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half the width of the interval that holds the true mean with 95 %.
fn width(values: &[f64]) -> f64 {
    let (middle, count) = (mean(values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    BELL_95 * (squares / (count - 1.0)).sqrt() / count.sqrt()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[half - 1] + sorted[half]) / 2.0,
        _ => sorted[half],
    }
}

#[cfg(test)]
mod tests;
