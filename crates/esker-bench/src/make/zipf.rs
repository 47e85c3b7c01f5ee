//! Zipfian ranks of any exponent, by rejection-inversion.

use crate::make::random::Random;

/// Draws ranks `0..count`, rank `r` with a probability proportional to `1 / (r + 1)^theta`.
///
/// Setting up costs a few powers whatever `count` is, so that a growing set of items is no
/// hindrance; a draw rejects less than 1 in 5 tries for every exponent.
///
/// Source: Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", 1996.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: u64,
    theta: f64,
    area_first: f64,
    area_all: f64,
    shift: f64,
}

impl Zipf {
    /// Ranks below `count`, which is not 0, with exponent `theta`, which is positive.
    pub fn new(count: u64, theta: f64) -> Zipf {
        assert!(count > 0, "no items, no ranks");
        assert!(theta > 0.0, "without skew, draw uniformly");
        let mut zipf = Zipf {
            count,
            theta,
            area_first: 0.0,
            area_all: 0.0,
            shift: 0.0,
        };
        zipf.area_first = zipf.area(1.5) - 1.0;
        zipf.area_all = zipf.area(count as f64 + 0.5);
        zipf.shift = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.density(2.0));
        zipf
    }

    /// How many items there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Draws a rank.
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.area_all + random.unit() * (self.area_first - self.area_all);
            let at = self.area_inverse(area);
            // A cast of a float keeps to the range of the integer.
            let rank = ((at + 0.5) as u64).clamp(1, self.count);
            let near = rank as f64;
            let is_inside =
                near - at <= self.shift || area >= self.area(near + 0.5) - self.density(near);
            if is_inside {
                return rank - 1;
            }
        }
    }

    /// Area under the density from 1 to `at`.
    fn area(&self, at: f64) -> f64 {
        let log = at.ln();
        exp_m1_over((1.0 - self.theta) * log) * log
    }

    fn density(&self, at: f64) -> f64 {
        (-self.theta * at.ln()).exp()
    }

    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding may push the term over the edge at which the logarithm ends.
        let term = (area * (1.0 - self.theta)).max(-1.0);
        (ln_1p_over(term) * area).exp()
    }
}

/// Below this, the first terms of the series are exact to the last bit.
const TINY: f64 = 1e-8;

/// `ln(1 + x) / x`, also near 0.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > TINY {
        x.ln_1p() / x
    } else {
        1.0 - x * (0.5 - x / 3.0)
    }
}

/// `(e^x - 1) / x`, also near 0.
fn exp_m1_over(x: f64) -> f64 {
    if x.abs() > TINY {
        x.exp_m1() / x
    } else {
        1.0 + x * 0.5 * (1.0 + x / 3.0)
    }
}

#[cfg(test)]
mod tests;
