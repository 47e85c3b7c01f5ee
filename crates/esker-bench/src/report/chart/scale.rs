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
    let mut step = 1.0;
    while (high - low) / step > MARKS {
        step *= 2.0;
    }
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let last = if last > first { last } else { first + 1.0 };
    marks(first, last)
        .map(|mark| (mark * step).exp2())
        .collect()
}

/// Powers of ten around `from` to `to`; the outer ones enclose both.
pub fn decades(from: f64, to: f64) -> Vec<f64> {
    const MARKS: f64 = 8.0;
    let (low, high) = (from.log10(), to.log10());
    let mut step = 1.0;
    while (high - low) / step > MARKS {
        step += 1.0;
    }
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let last = if last > first { last } else { first + 1.0 };
    marks(first, last)
        .map(|mark| 10_f64.powf(mark * step))
        .collect()
}

fn marks(first: f64, last: f64) -> impl Iterator<Item = f64> {
    // Steps are chosen so that there are few; the bound is for values that are no numbers.
    const MARKS_MAX: usize = 64;
    let next = move |mark: &f64| (mark + 1.0 <= last + 1e-9).then_some(mark + 1.0);
    std::iter::successors(Some(first), next).take(MARKS_MAX)
}

#[cfg(test)]
mod tests;
