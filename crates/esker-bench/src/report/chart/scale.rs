//! From values to places: linear and logarithmic scales, their marks, and labels kept apart.

/// A scale from values to places along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    from: f64,
    to: f64,
    first: f64,
    last: f64,
    is_log: bool,
}

impl Scale {
    /// Values `from` to `to` on places `first` to `last`, evenly.
    pub fn linear(from: f64, to: f64, first: f64, last: f64) -> Scale {
        Scale {
            from,
            // A scale without any width would divide by nothing.
            to: if to > from { to } else { from + 1.0 },
            first,
            last,
            is_log: false,
        }
    }

    /// The same by factors; values at or below 0 stand at the beginning.
    pub fn log(from: f64, to: f64, first: f64, last: f64) -> Scale {
        let from = if from > 0.0 { from } else { f64::MIN_POSITIVE };
        Scale {
            from: from.log10(),
            to: if to > from {
                to.log10()
            } else {
                from.log10() + 1.0
            },
            first,
            last,
            is_log: true,
        }
    }

    /// The place of a value; values outside stand at the nearer end.
    pub fn at(&self, value: f64) -> f64 {
        let value = match self.is_log {
            true if value > 0.0 => value.log10(),
            true => self.from,
            false => value,
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

/// Round numbers from 0 to at least `to`: about four of them.
pub fn round_marks(to: f64) -> Vec<f64> {
    const MARKS: f64 = 4.0;
    if !(to > 0.0 && to.is_finite()) {
        return vec![0.0, 1.0];
    }
    let rough = to / MARKS;
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let fits = |factor: &f64| factor * power >= rough * (1.0 - 1e-9);
    let step = factors.into_iter().find(fits).unwrap_or(10.0) * power;
    let last = (to / step - 1e-9).ceil();
    marks(0.0, last).map(|mark| mark * step).collect()
}

fn marks(first: f64, last: f64) -> impl Iterator<Item = f64> {
    // Steps are chosen so that there are few; the bound is for values that are no numbers.
    const MARKS_MAX: usize = 64;
    let next = move |mark: &f64| (mark + 1.0 <= last + 1e-9).then_some(mark + 1.0);
    std::iter::successors(Some(first), next).take(MARKS_MAX)
}

/// Moves labels that stand closer than `gap` apart, as little as it takes, within `low` to `high`.
/// The order of places is kept; places are given and returned in any order.
pub fn apart(places: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|left, right| places[*left].total_cmp(&places[*right]));
    let mut moved = places.to_vec();
    let mut at_least = low;
    for index in &order {
        moved[*index] = places[*index].max(at_least);
        at_least = moved[*index] + gap;
    }
    let mut at_most = high;
    for index in order.iter().rev() {
        moved[*index] = moved[*index].min(at_most);
        at_most = moved[*index] - gap;
    }
    moved
}

#[cfg(test)]
mod tests;
