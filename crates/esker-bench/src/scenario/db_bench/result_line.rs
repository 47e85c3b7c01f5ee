//! The lines that scripts read: one for each benchmark.

use crate::flags::flag::Dialect;
use crate::run::course::Finished;

/// What a result line tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultLine {
    /// Name of the benchmark.
    pub name: String,
    /// Operations finished.
    pub ops: u64,
    /// Bytes counted.
    pub bytes: u64,
    /// From the first start to the last end.
    pub wall_s: f64,
    /// All threads' seconds together.
    pub lane_s: f64,
    /// What the benchmark says.
    pub message: String,
}

impl ResultLine {
    /// The line of a finished benchmark; the first thread that says something speaks for all.
    pub fn of(name: &str, finished: &Finished) -> ResultLine {
        let said = finished.lanes.iter().find(|lane| !lane.message.is_empty());
        ResultLine {
            name: name.into(),
            ops: finished.ops(),
            bytes: finished.bytes(),
            wall_s: finished.wall().as_secs_f64(),
            lane_s: finished.lane_time().as_secs_f64(),
            message: said.map_or_else(String::new, |lane| lane.message.clone()),
        }
    }

    /// Operations as they are reported: none is told as one, so that the time of `compact` shows.
    pub fn ops_told(&self) -> u64 {
        self.ops.max(1)
    }

    /// Operations a second by the wall's clock.
    pub fn ops_per_s(&self) -> f64 {
        self.ops_told() as f64 / self.wall_s.max(1e-9)
    }

    /// Mebibytes a second by the wall's clock.
    pub fn mib_per_s(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) / self.wall_s.max(1e-9)
    }

    /// The line, with its end.
    pub fn text(&self, dialect: Dialect) -> String {
        let ops = self.ops_told();
        let seconds = match dialect {
            Dialect::RocksDb2013 => self.wall_s,
            _ => self.lane_s,
        };
        let micros = seconds * 1e6 / ops as f64;
        // Truncated, as the original's cast does.
        let rate = self.ops_per_s() as u64;
        let head = format!("{:<12} : {micros:11.3} micros/op", self.name);
        let numbers = match dialect {
            Dialect::LevelDb => head,
            Dialect::RocksDb2013 => format!("{head} {rate} ops/sec"),
            Dialect::RocksDb => {
                format!(
                    "{head} {rate} ops/sec {:.3} seconds {ops} operations",
                    self.wall_s
                )
            }
        };
        let mut extra = Vec::new();
        if self.bytes > 0 {
            extra.push(format!("{:6.1} MB/s", self.mib_per_s()));
        }
        if !self.message.is_empty() {
            extra.push(self.message.clone());
        }
        let space = if extra.is_empty() { "" } else { " " };
        format!("{numbers};{space}{}\n", extra.join(" "))
    }
}

#[cfg(test)]
mod tests;
