//! From values to places: scales that go by factors, and their marks.

/// A scale from values to places along an axis, by factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    from: f64,
    to: f64,
    first: f64,
    last: f64,
}

impl Scale {
    /// Values `from` to `to` on places `first` to `last` by factors; values at or below 0 stand at
    /// the beginning.
    pub fn log(from: f64, to: f64, first: f64, last: f64) -> Scale {
        let from = if from > 0.0 { from } else { f64::MIN_POSITIVE };
        // A scale without any width would divide by nothing.
        let to = if to > from { to } else { from * 10.0 };
        Scale {
            from: from.log10(),
            to: to.log10(),
            first,
            last,
        }
    }

    /// The place of a value; values outside stand at the nearer end.
    pub fn at(&self, value: f64) -> f64 {
        let value = match value > 0.0 {
            true => value.log10(),
            false => self.from,
        };
        let share = (value - self.from) / (self.to - self.from);
        match share.is_finite() {
            true => self.first + share.clamp(0.0, 1.0) * (self.last - self.first),
            false => self.first,
        }
    }

    /// The place where the scale begins.
    pub fn first(&self) -> f64 {
        self.first
    }

    /// The place where the scale ends.
    pub fn last(&self) -> f64 {
        self.last
    }
}

/// Powers of two, far enough apart, around `from` to `to`, 1 among them; the outer ones enclose
/// both values.
pub fn doublings(from: f64, to: f64) -> Vec<f64> {
    // More marks than this crowd the narrowest drawing.
    const MARKS: f64 = 6.0;
    let (low, high) = (from.min(1.0).log2(), to.max(1.0).log2());
    marks(low, high, MARKS, |step| step * 2.0, f64::exp2)
}

/// Powers of ten around `from` to `to`; the outer ones enclose both.
pub fn decades(from: f64, to: f64) -> Vec<f64> {
    const MARKS: f64 = 8.0;
    let (low, high) = (from.log10(), to.log10());
    marks(
        low,
        high,
        MARKS,
        |step| step + 1.0,
        |mark| 10_f64.powf(mark),
    )
}

/// Marks around `low` to `high`, in steps that are made wider until there are `most` at the most.
fn marks(low: f64, high: f64, most: f64, wider: fn(f64) -> f64, value: fn(f64) -> f64) -> Vec<f64> {
    // Steps are chosen so that there are few; the bound is for values that are no numbers.
    const MARKS_MAX: usize = 64;
    let mut step = 1.0;
    while (high - low) / step > most {
        step = wider(step);
    }
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil().max(first + 1.0);
    let next = |mark: &f64| (mark + 1.0 <= last + 1e-9).then_some(mark + 1.0);
    let all = std::iter::successors(Some(first), next).take(MARKS_MAX);
    all.map(|mark| value(mark * step)).collect()
}

#[cfg(test)]
mod tests;
