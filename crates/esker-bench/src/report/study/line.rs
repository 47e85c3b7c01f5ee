//! One engine's numbers over something that varies: keys, memory.

/// One engine at several places.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The place of the engine.
    pub place: usize,
    /// What varies and what was measured there, ascending; two at least.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// How many times as much was measured at the last point as at the first.
    pub fn factor(&self) -> f64 {
        match (self.points.first(), self.points.last()) {
            (Some(first), Some(last)) => last.1 / first.1,
            _ => 1.0,
        }
    }
}
